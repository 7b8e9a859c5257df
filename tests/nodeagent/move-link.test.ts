// Tests the connection of a migration's source to its target. See docs/reliability.md, "Migration of instances".
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createServer } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import { linkTo } from "../../nodeagent/migration/link.ts";
import { createListener, sha256Hex } from "../../nodeagent/migration/listener.ts";
import { type Identity, NODE_NAME, saveIdentity } from "../../nodeagent/migration/identity.ts";
import type { Migrations } from "../../nodeagent/migration/migrations.ts";
import { needs, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const TICKET = "ticket";
const MOVING = { instance_id: "instance", migration_id: "migration", live: false };

let folder: TemporaryFolder;
let stop: AbortController;
beforeEach(async (context) => {
  needs(context, "openssl");
  folder = await temporaryFolder("move-link");
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await folder.remove();
});

/** Creates a key and its self-signed certificate, which is valid only in 2099. */
async function futureIdentity(): Promise<Identity> {
  const at = (name: string) => join(folder.path, name);
  const config = [
    "[ca]\ndefault_ca = own\n[own]\nrand_serial = yes\ndefault_md = sha256\npolicy = subject\nx509_extensions = names",
    `database = ${at("database")}\nnew_certs_dir = ${folder.path}`,
    `[subject]\ncommonName = supplied\n[names]\nsubjectAltName = DNS:${NODE_NAME}\n`,
  ];
  await writeFile(at("config"), config.join("\n"));
  await writeFile(at("database"), "");
  const openssl = (...args: readonly string[]) => execFileSync(present("openssl"), args, { stdio: "pipe" });
  openssl(
    ...["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
    ...["-subj", `/CN=${NODE_NAME}`, "-keyout", at("key"), "-out", at("request")],
  );
  openssl(
    ...["ca", "-batch", "-notext", "-selfsign", "-config", at("config"), "-keyfile", at("key"), "-in", at("request")],
    ...["-startdate", "20990101000000Z", "-enddate", "20991231000000Z", "-out", at("certificate")],
  );
  const [key, certificate] = await Promise.all([readFile(at("key"), "utf8"), readFile(at("certificate"), "utf8")]);
  return { key, certificate, port: 0 };
}

test("a source connects to a target whose certificate is not valid yet, because the clocks of the nodes differ", async () => {
  await saveIdentity(folder.path, await futureIdentity());
  const migrations: Pick<Migrations, "ticketOf" | "serve"> = {
    ticketOf: () => sha256Hex(TICKET),
    serve: (_, { request }) => Promise.resolve({ answer: { request } }),
  };
  const listener = createListener({
    state_dir: folder.path,
    address: "127.0.0.1",
    port: 0,
    migrations: migrations as Migrations,
    signal: stop.signal,
    log: () => {},
  });
  const link = linkTo(await listener.start(), MOVING, TICKET);
  expect(await link.ask({ request: "prepare" })).toEqual({ request: "prepare" });
});

test("a source sends nothing to a target with another certificate", async () => {
  const [{ certificate }, other] = [await futureIdentity(), await futureIdentity()];
  const server = createServer({ key: other.key, cert: other.certificate, minVersion: "TLSv1.3" });
  stop.signal.addEventListener("abort", () => server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const received = new Promise<string>((resolve) =>
    server.once("secureConnection", (socket) => {
      let text = "";
      socket.on("error", () => {}); // The event "close" follows.
      socket.on("data", (bytes) => text += bytes);
      socket.once("close", () => resolve(text));
    })
  );
  const link = linkTo({ address: "127.0.0.1", port, certificate }, MOVING, TICKET);
  await expect(link.ask({ request: "prepare" })).rejects.toThrow(
    "its certificate is not the one that the control plane named",
  );
  expect(await received).toBe("");
});
