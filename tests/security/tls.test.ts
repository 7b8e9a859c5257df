// Tests TLS of the API, and the errors of a start with wrong certificate files. docs/reliability.md S-32 and S-36.
import { chmod, writeFile } from "node:fs/promises";
import { get } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { type NodeServer, serveNode } from "../../src/http/node-server.ts";
import { readTls } from "../../src/http/tls-files.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { rawClient } from "../http/raw-client.ts";
import { expired, newAuthority, selfSigned } from "./certificate.ts";

const SHORT = { headers_ms: 500, body_ms: 500, idle_ms: 500 };
const authority = newAuthority();
const good = authority.issue("localhost");

let folder: TemporaryFolder;
let server: NodeServer;

beforeAll(async () => {
  folder = await temporaryFolder("tls");
  server = await serve(good);
});

afterAll(async () => {
  await server.close(0);
  await folder.remove();
});

type Served = { readonly cert: string; readonly key: string };

function serve(tls: Served, limits = {}): Promise<NodeServer> {
  return serveNode({
    fetch: (request, { remoteAddress }) => Response.json({ path: new URL(request.url).pathname, remoteAddress }),
    hostname: "127.0.0.1",
    port: 0,
    tls,
    limits,
  });
}

/** Sends a request as a client that trusts the authority. Returns the body, or the error. */
function ask(port: number, path = "/a"): Promise<string> {
  return new Promise((answer) => {
    const request = get({ host: "localhost", port, path, ca: authority.cert, agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => text += chunk);
      response.on("end", () => answer(text));
    });
    request.on("error", (error) => answer(`refused: ${error.message}`));
  });
}

describe("S-32: the API over TLS", () => {
  test("passes on the caller's address", async () => {
    expect(JSON.parse(await ask(server.port, "/v1/health"))).toEqual({
      path: "/v1/health",
      remoteAddress: "127.0.0.1",
    });
  });

  test.each(["TLSv1.2", "TLSv1.3"] as const)("accepts %s", async (version) => {
    const spoken = await new Promise((settle, fail) => {
      const limits = { minVersion: version, maxVersion: version };
      const client = connectTls({ host: "localhost", port: server.port, ca: authority.cert, ...limits }, () => {
        settle(client.getProtocol());
        client.destroy();
      });
      client.on("error", fail);
    });
    expect(spoken).toBe(version);
  });

  test.each([["1.1", 2], ["1.0", 1], ["SSL 3", 0]])(
    "refuses a ClientHello of version %s with an alert",
    async (_, minor) => {
      const ciphers = Buffer.from("c014c013c00ac009002f0035", "hex");
      const hello = Buffer.concat([
        Buffer.from([3, minor]),
        Buffer.alloc(32, 7),
        Buffer.from([0, 0, ciphers.length]),
        ciphers,
        Buffer.from([1, 0]),
      ]);
      const message = Buffer.concat([Buffer.from([1, 0, 0, hello.length]), hello]);
      const record = Buffer.concat([Buffer.from([0x16, 3, Math.min(minor, 1), 0, message.length]), message]);
      const ALERT = 0x15;
      const answer = await new Promise<Buffer>((settle) => {
        const parts: Buffer[] = [];
        const socket = connect(server.port, "127.0.0.1", () => socket.write(record));
        socket.on("data", (part) => parts.push(Buffer.from(part)));
        socket.on("error", () => {}); // The event "close" follows.
        socket.on("close", () => settle(Buffer.concat(parts)));
      });
      expect(answer[0]).toBe(ALERT);
    },
  );

  test.each([
    ["is self-signed", () => selfSigned("localhost"), /self.?signed|unknown|issuer/i],
    ["is from another authority", () => newAuthority("another authority").issue("localhost"), /issuer|unknown|verify/i],
    ["names another host", () => authority.issue("elsewhere.example"), /altname|name/i],
    // Some builds report an expired certificate as a chain that cannot be verified.
    ["has expired", () => authority.issue("localhost", expired()), /expired|verify/i],
  ])("is refused by a client when its certificate %s", async (_, identity, why) => {
    const other = await serve(identity());
    try {
      const outcome = await ask(other.port);
      expect(outcome).toMatch(/^refused: /);
      expect(outcome).toMatch(why);
    } finally {
      await other.close(0);
    }
  });

  test("gives no answer to an unencrypted request", async () => {
    const client = await rawClient(server.port);
    client.send("GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect((await client.closed()).text).not.toContain("HTTP/1.1");
  });
});

describe("S-36: over TLS, too,", () => {
  test("a client without a ClientHello and a client with an unfinished header are disconnected", async () => {
    const hasty = await serve(good, SHORT);
    try {
      const silent = await rawClient(hasty.port);
      const slow = new Promise<string>((settle) => {
        let text = "";
        const client = connectTls({ host: "localhost", port: hasty.port, ca: authority.cert }, () => {
          client.write("GET / HTTP/1.1\r\nHost: localhost\r\n");
        });
        client.on("data", (part) => text += part);
        client.on("error", () => {}); // The event "close" follows.
        client.on("close", () => settle(text));
      });
      expect((await silent.closed()).text).toBe("");
      expect(await slow).toContain("HTTP/1.1 408");
    } finally {
      await hasty.close(0);
    }
  });
});

describe("S-32: a start with certificate files", () => {
  async function files({ cert, key }: { cert: string; key: string }, mode = 0o640) {
    const paths = { cert: join(folder.path, "cert.pem"), key: join(folder.path, "key.pem") };
    await writeFile(paths.cert, cert);
    await writeFile(paths.key, key);
    await chmod(paths.key, mode);
    return paths;
  }

  test("accepts a certificate and its key", async () => {
    expect(await readTls(await files(good))).toEqual(good);
  });

  test("fails if the key is world-readable, if a file is missing or invalid, or if the key is of another certificate", async () => {
    await expect(readTls(await files(good, 0o644))).rejects.toThrow(/may be read by everybody: chmod 640/);
    await expect(readTls(await files({ ...good, key: selfSigned("localhost").key }))).rejects.toThrow(/is not the key/);
    await expect(readTls(await files({ ...good, key: "canary" }))).rejects.toThrow(
      /BERTH_TLS_KEY: .* must contain a PEM private key/,
    );
    await expect(readTls(await files({ ...good, cert: "canary" }))).rejects.toThrow(
      /BERTH_TLS_CERT: .* does not contain a PEM certificate/,
    );
    const gone = { cert: join(folder.path, "gone"), key: join(folder.path, "gone") };
    await expect(readTls(gone)).rejects.toThrow(/BERTH_TLS_CERT: .*gone cannot be read \(ENOENT\)/);
  });

  test("needs both files or neither", () => {
    expect(readConfig({}).tls).toBeNull();
    expect(readConfig({ BERTH_TLS_CERT: "a", BERTH_TLS_KEY: "b" }).tls).toEqual({ cert: "a", key: "b" });
    for (const env of [{ BERTH_TLS_CERT: "a" }, { BERTH_TLS_KEY: "b" }]) {
      expect(() => readConfig(env)).toThrow("BERTH_TLS_CERT and BERTH_TLS_KEY must be set together");
    }
  });
});
