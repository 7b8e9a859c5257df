// The server of `task start` may be exposed without a proxy, so it must not wait for clients that never finish a
// request. This file uses the real limits (src/contract/limits.ts) and therefore takes long, so it is a part of `deno
// task trial`. tests/http/node-server.test.ts tests the same rules with short limits.
import { afterAll, beforeAll, expect, test } from "vitest";
import { HEADERS_READ_MS } from "../../src/contract/limits.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { rawClient } from "../http/raw-client.ts";
import { must } from "./client.ts";

/** The test accepts a timeout that comes too early by less than this time. */
const EARLY_MS = 3_000;
const DRIP_MS = 1_000;

let database: FreshDatabase;
let server: ServerProcess;

beforeAll(async () => {
  database = await freshDatabase();
  server = await startServer({ env: { DATABASE_URL: database.url } });
});

afterAll(async () => {
  await server?.kill();
  await database?.drop();
});

/**
 * Sends `start`, then one byte per second until the server closes the connection. A server that limited only the time
 * between bytes would never close the connection.
 */
async function drip(start: string) {
  const client = await rawClient(server.port);
  client.send(start);
  const dripping = setInterval(() => client.send("a"), DRIP_MS);
  const end = await client.closed();
  clearInterval(dripping);
  return end;
}

test.concurrent("a request whose header is sent byte by byte gets 408", async () => {
  const { text, after_ms } = await drip("GET /v1/health HTTP/1.1\r\nHost: berth\r\nX-Slow: ");
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
  expect(after_ms).toBeGreaterThan(HEADERS_READ_MS - EARLY_MS);
}, 90_000);

test.concurrent(
  "a request whose body is sent byte by byte gets 408, and other requests are served meanwhile",
  async () => {
    const slow = drip("POST /v1/agent/register HTTP/1.1\r\nHost: berth\r\nContent-Length: 1000\r\n\r\n");
    expect(await must(server.url, { method: "GET", path: "/v1/health", key: "" })).toMatchObject({ status: "ok" });
    expect((await slow).text).toMatch(/^HTTP\/1\.1 408 /);
  },
  90_000,
);
