// Tests the connector, which sends one GET to the checked address with the requested host name. docs/reliability.md
// S-25.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer as createHttpServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import type { TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { fetchOutbound, FetchRefused, namedOrigins, type Outbound } from "../../src/outbound/connector.ts";
import { readRanges } from "../../src/lib/net/public-address.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { newAuthority } from "../security/certificate.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const LOOPBACK = { allowed: readRanges(["127.0.0.0/8"]) };
const NOWHERE = { allowed: [] };
const open: Server[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

async function listen(server: Server): Promise<number> {
  open.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const serve = (answer: RequestListener) => listen(createHttpServer(answer));
const get = (url: string, outbound: Partial<Outbound> = {}) =>
  fetchOutbound(url, { reach: LOOPBACK, signal: AbortSignal.timeout(10_000), ...outbound });

test("the request has the URL's host name in Host, no credential and no cookie, and the response is returned unchanged", async () => {
  const seen: IncomingMessage[] = [];
  const port = await serve((request, response) => {
    seen.push(request);
    response.writeHead(302, { location: "http://elsewhere.example/", "set-cookie": ["a=1", "b=2"] }).end("moved");
  });
  const response = await get(`http://images.example:${port}/a%20b?c=d`, {
    resolve: () => Promise.resolve(["127.0.0.1"]),
    headers: { range: "bytes=5-" },
  });
  expect([response.status, response.headers.get("location"), await response.text()]).toEqual([
    302,
    "http://elsewhere.example/",
    "moved",
  ]);
  expect(seen.map(({ url }) => url)).toEqual(["/a%20b?c=d"]);
  expect(seen[0]!.headers).toEqual({
    "accept-encoding": "identity",
    connection: "close",
    host: `images.example:${port}`,
    range: "bytes=5-",
  });
});

test("a name is resolved once, all its addresses are checked, and if an address does not answer, the next address is used", async () => {
  const port = await serve((_request, response) => void response.end("here"));
  let resolved = 0;
  const resolve = (addresses: string[]) => () => Promise.resolve((resolved += 1, addresses));
  const url = `http://images.example:${port}/`;
  const response = await get(url, { resolve: resolve(["127.0.0.77", "127.0.0.1"]) });
  expect([await response.text(), resolved]).toEqual(["here", 1]);
  for (const addresses of [["127.0.0.1", "10.0.0.1"], ["10.0.0.1", "127.0.0.1"], ["fe80::1%eth0"], ["x"]]) {
    await expect(get(url, { resolve: resolve(addresses) })).rejects.toThrow(FetchRefused);
  }
  await expect(get(url, { resolve: resolve([]) })).rejects.toThrow("has no address");
});

test.each(["ftp://127.0.0.1/", "file:///etc/passwd", "nonsense", "http://user@127.0.0.1/", "http://:pw@127.0.0.1/"])(
  "%s is rejected",
  async (url) => {
    const error = await get(url).catch((error) => error);
    expect(error).toBeInstanceOf(FetchRefused);
    expect(error.message).not.toContain("pw");
  },
);

test("an origin that the user named is fetched only from the addresses to which its name first resolved", async () => {
  const port = await serve((_request, response) => void response.end("index"));
  const url = `http://mirror.example:${port}/`;
  const reach = { ...NOWHERE, named: namedOrigins([url]) };
  const at = (address: string) => ({ reach, resolve: () => Promise.resolve([address]) });
  expect(await (await get(url, at("127.0.0.1"))).text()).toBe("index");
  await expect(get(url, at("127.0.0.2"))).rejects.toThrow(FetchRefused);
  await expect(get(`http://mirror.example:${port + 1}/`, at("127.0.0.1"))).rejects.toThrow(FetchRefused);
  await expect(get(`http://other.example:${port}/`, at("127.0.0.1"))).rejects.toThrow(FetchRefused);
});

describe("a response", () => {
  test("that is cut off is an error", async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("part", () => response.destroy());
    });
    await expect(get(`http://127.0.0.1:${port}/`).then((response) => response.text())).rejects.toThrow();
  });

  test("that stalls, before the headers or in the body, fails when the signal is aborted", async () => {
    const silent = await serve(() => {});
    const stalled = await serve((_request, response) => void response.writeHead(200).write("part"));
    const soon = () => ({ signal: AbortSignal.timeout(200) });
    await expect(get(`http://127.0.0.1:${silent}/`, soon())).rejects.toThrow(/time/i);
    await expect(get(`http://127.0.0.1:${stalled}/`, soon()).then((each) => each.text())).rejects.toThrow(/time/i);
    await expect(get(`http://127.0.0.1:${silent}/`, { signal: AbortSignal.abort(new Error("over")) })).rejects.toThrow(
      "over",
    );
    const never = { ...soon(), resolve: () => new Promise<string[]>(() => {}) };
    await expect(get("http://images.example/", never)).rejects.toThrow(/time/i);
  });

  test.each([204, 304])("with status %i has no body", async (status) => {
    const port = await serve((_request, response) => void response.writeHead(status).end());
    expect((await get(`http://127.0.0.1:${port}/`)).status).toBe(status);
  });
});

test("S-25: the TLS certificate is verified for the host name, not the address, and SNI contains the name", async () => {
  const folder = await temporaryFolder("connector");
  try {
    const authority = newAuthority();
    const ca = join(folder.path, "ca.pem");
    await writeFile(ca, authority.cert);
    const names: unknown[] = [];
    const port = await listen(
      // An https server has the methods of an http server that this test uses, but Deno's types declare two unrelated
      // classes.
      createTlsServer(authority.issue("good.example"), (request, response) => {
        names.push((request.socket as TLSSocket & { servername?: unknown }).servername);
        response.end("secret");
      }) as unknown as Server,
    );
    const urls = ["good.example", "good.example.", "bad.example", "127.0.0.1"].map((host) =>
      `https://${host}:${port}/`
    );
    const { PATH, HOME = "" } = process.env;
    const program = "tests/support/programs/fetch-by-name.ts";
    const argv = ["run", "-A", program, "127.0.0.1", ...urls];
    const { stdout } = await promisify(execFile)(process.execPath, argv, {
      cwd: ROOT,
      env: { PATH, HOME, DENO_CERT: ca },
    });
    expect(JSON.parse(stdout)).toEqual([
      "200 secret",
      "200 secret",
      expect.stringMatching(/bad\.example|altname|certificate/i),
      expect.stringMatching(/altname|certificate/i),
    ]);
    expect(names).toEqual(["good.example", "good.example"]);
  } finally {
    await folder.remove();
  }
});
