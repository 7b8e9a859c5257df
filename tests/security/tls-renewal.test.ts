// A renewed certificate is used for new connections without a restart, and broken files change nothing. The server is
// the server process of `task start`, with its permissions. docs/reliability.md S-32.
import { chmod, mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { type Identity, newAuthority, selfSigned } from "./certificate.ts";

const authority = newAuthority();
const [first, second, third] = [1, 2, 3].map(() => authority.issue("localhost")) as [Identity, Identity, Identity];

let database: FreshDatabase;
let folder: TemporaryFolder;
let paths: { cert: string; key: string };

beforeAll(async () => {
  database = await freshDatabase();
  folder = await temporaryFolder("tls-renewal");
  paths = { cert: join(folder.path, "cert.pem"), key: join(folder.path, "key.pem") };
});

afterAll(async () => {
  await database?.drop();
  await folder?.remove();
});

async function write(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await chmod(`${path}.new`, 0o640);
  await rename(`${path}.new`, path);
}

/** Returns the certificate of a new handshake, as PEM. */
function shown(port: number): Promise<string> {
  return new Promise((settle, fail) => {
    const client = connectTls({ host: "127.0.0.1", port, servername: "localhost", ca: authority.cert }, () => {
      const { raw } = client.getPeerCertificate();
      const lines = Buffer.from(raw).toString("base64").match(/.{1,64}/g) ?? [];
      settle(`-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`);
      client.destroy();
    });
    client.on("error", fail);
  });
}

async function eventually(met: () => Promise<boolean> | boolean, what: () => string): Promise<void> {
  for (const end = Date.now() + 30_000; !await met();) {
    if (Date.now() > end) throw new Error(`not in time: ${what()}`);
    await new Promise((wait) => setTimeout(wait, 200));
  }
}

const warnings = (server: ServerProcess) => server.log().split("was not read again").length - 1;

test.each(["0", "1"])("S-32: a renewed certificate needs no restart, BERTH_BEHIND_PROXY=%s", async (behindProxy) => {
  await write(paths.cert, first.cert);
  await write(paths.key, first.key);
  const env = {
    DATABASE_URL: database.url,
    BERTH_TLS_CERT: paths.cert,
    BERTH_TLS_KEY: paths.key,
    BERTH_BEHIND_PROXY: behindProxy,
    BERTH_ROOT_KEY: ROOT_KEY,
  };
  const server = await startServer({ env, as_task: true });
  try {
    expect(await shown(server.port)).toBe(first.cert);

    // Writes only the certificate, which does not fit the key: the old pair stays in use, and the reason is logged
    // once.
    await write(paths.cert, second.cert);
    await eventually(() => warnings(server) === 1, server.log);
    expect(server.log()).toContain("is not the key of the certificate");
    expect(await shown(server.port)).toBe(first.cert);
    await write(paths.key, second.key);
    await eventually(async () => await shown(server.port) === second.cert, server.log);

    // The same happens with an invalid certificate and with a certificate of another key.
    await write(paths.cert, "not a certificate");
    await eventually(() => warnings(server) === 2, server.log);
    expect(await shown(server.port)).toBe(second.cert);
    await write(paths.cert, selfSigned("localhost").cert);
    await eventually(() => warnings(server) === 3, server.log);
    expect(await shown(server.port)).toBe(second.cert);

    await write(paths.cert, third.cert);
    await write(paths.key, third.key);
    await eventually(async () => await shown(server.port) === third.cert, server.log);
    expect(server.log()).not.toContain("PRIVATE KEY");
  } finally {
    await server.stop();
  }
}, 180_000);

test("S-32: a changed symbolic link is followed", async () => {
  const [now, later, live] = ["a", "b", "live"].map((name) => join(folder.path, name)) as [string, string, string];
  for (const [path, { cert, key }] of [[now, first], [later, second]] as const) {
    await mkdir(path);
    await write(join(path, "cert.pem"), cert);
    await write(join(path, "key.pem"), key);
  }
  await symlink(now, live);
  const env = {
    DATABASE_URL: database.url,
    BERTH_TLS_CERT: join(live, "cert.pem"),
    BERTH_TLS_KEY: join(live, "key.pem"),
  };
  const server = await startServer({ env, as_task: true });
  try {
    expect(await shown(server.port)).toBe(first.cert);
    await symlink(later, `${live}.new`);
    await rename(`${live}.new`, live);
    await eventually(async () => await shown(server.port) === second.cert, server.log);
  } finally {
    await server.stop();
  }
}, 120_000);
