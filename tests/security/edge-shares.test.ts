// Clients that are slow or numerous, from one address or from 200, occupy only a limited share of a server's
// connections, long polls and memory for bodies. A known agent keeps working. The server is the server process of
// `task start`, with its permissions. docs/reliability.md S-50.
import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { BODY_BYTES_MAX } from "../../src/contract/limits.ts";
import { freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";

const CONNECTIONS_MAX = 400;
/** The number of large slow bodies. Together they exceed the memory limit for all bodies. */
const SLOW_BODIES = 182;
const ADDRESSES = 200;
const CALLS = 25;
/**
 * The limit for an agent's slowest answer. A starved agent waits for about 37 s. A server on a busy machine answers
 * well below this limit.
 */
const STARVED_MS = 8_000;
const AGENT_ADDRESS = "127.77.0.1";

const base = { BERTH_ROOT_KEY: ROOT_KEY, BERTH_LAB: "1", BERTH_CONNECTIONS_MAX: String(CONNECTIONS_MAX) };

type Answer = { readonly status: number; readonly text: string };
type Given = {
  readonly key?: string;
  readonly body?: unknown;
  readonly address?: string;
  readonly headers?: Record<string, string>;
};

/** Sends a request on a new connection, by default from the agent's address. Status 0: no answer. */
function call(server: ServerProcess, method: string, path: string, given: Given = {}): Promise<Answer> {
  const { key, body, address = AGENT_ADDRESS, headers = {} } = given;
  return new Promise((settle) => {
    const sent = request({
      host: "127.0.0.1",
      port: server.port,
      localAddress: address,
      agent: false,
      method,
      path,
      timeout: 2 * STARVED_MS,
      headers: {
        ...(key && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
    }, (response) => {
      let text = "";
      response.on("data", (part) => text += part);
      response.on("end", () => settle({ status: response.statusCode ?? 0, text }));
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", (error) => settle({ status: 0, text: String(error) }));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function must(server: ServerProcess, method: string, path: string, given: Given = {}) {
  const { status, text } = await call(server, method, path, given);
  if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

const registration = () => ({ server_uuid: randomUUID(), hostname: "node-1", sysinfo: { cpu: "test" } });

async function newAgent(server: ServerProcess): Promise<{ server_uuid: string; key: string }> {
  const { server_uuid, claim_code, poll_token } = await must(server, "POST", "/v1/agent/register", {
    body: registration(),
  });
  await must(server, "POST", "/v1/cn-approvals", { key: ROOT_KEY, body: { code: claim_code } });
  const { api_key } = await must(server, "GET", `/v1/agent/register/status?poll_token=${poll_token}`);
  return { server_uuid, key: api_key };
}

/** A status report of the usual size for a node with some virtual machines. */
const STATUS = { payload: { vms: {}, filler: "x".repeat(8_000) } };

/**
 * Sends the agent's reports, each on a new connection. Returns the number of successful answers and the longest time.
 */
async function beat(server: ServerProcess, key: string): Promise<{ answered: number; slowest_ms: number }> {
  let [answered, slowest_ms] = [0, 0];
  for (let n = 0; n < CALLS; n += 1) {
    const began = performance.now();
    const { status } = await call(server, "POST", "/v1/agent/status", { key, body: STATUS });
    slowest_ms = Math.max(slowest_ms, performance.now() - began);
    if (status === 200) answered += 1;
  }
  return { answered, slowest_ms };
}

let sockets: Socket[] = [];
let servers: ServerProcess[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await Promise.all(servers.map((server) => server.kill()));
  servers = [];
});

let databaseUrl: string;
beforeAll(async () => {
  const database = await freshDatabase();
  databaseUrl = database.url;
  return () => database.drop();
});

async function start(env: Record<string, string> = {}): Promise<ServerProcess> {
  const all = { ...base, DATABASE_URL: databaseUrl, ...env };
  const server = await startServer({ env: all, as_task: true });
  servers.push(server);
  return server;
}

/** Opens a connection from the address, sends the bytes and keeps the connection open. */
async function hang(server: ServerProcess, address: string, bytes: string | Buffer): Promise<void> {
  const socket = connect({ host: "127.0.0.1", port: server.port, localAddress: address });
  sockets.push(socket);
  socket.on("error", () => {});
  socket.resume();
  await new Promise<void>((sent) => {
    socket.once("close", () => sent());
    socket.once("connect", () => socket.write(bytes, () => sent()));
  });
}

const one = () => "127.0.0.9";
const many = (n: number) => `127.1.${Math.floor((n % ADDRESSES) / 100)}.${1 + (n % 100)}`;

/** Returns a request whose body lacks its last byte. */
function slowBody(headers = "", bytes = BODY_BYTES_MAX): Buffer {
  const head = `POST /v1/agent/register HTTP/1.1\r\nHost: berth\r\n${headers}Content-Type: application/json\r\n` +
    `Content-Length: ${bytes}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.alloc(bytes - 1, " ")]);
}

/** Sends large slow bodies, and smaller bodies that fill the remaining memory. */
async function slowBodies(server: ServerProcess, addressOf: (n: number) => string, headers = ""): Promise<void> {
  await inParallel(SLOW_BODIES, (n) => hang(server, addressOf(n), slowBody(headers)));
  for (const bytes of [60_000, 2_000]) {
    await inParallel(80, (n) => hang(server, addressOf(n), slowBody(headers, bytes)));
  }
}

async function inParallel(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, n) => work(n)));
}

describe.each([["one address", one], [`${ADDRESSES} addresses`, many]] as const)("S-50: from %s", (_, addressOf) => {
  test.each(["bodies", "headers", "polls"])(
    "many open %s starve neither an agent nor a node that registers",
    async (kind) => {
      const server = await start();
      const agent = await newAgent(server);
      const idle = await beat(server, agent.key);
      expect(idle.answered).toBe(CALLS);
      const { poll_token } = await must(server, "POST", "/v1/agent/register", { body: registration() });
      const bytes = {
        headers: "GET /v1/health HTTP/1.1\r\nHost: ber",
        polls: `GET /v1/agent/register/status HTTP/1.1\r\nHost: berth\r\nX-Poll-Token: ${poll_token}\r\n\r\n`,
      }[kind];
      if (bytes === undefined) await slowBodies(server, addressOf);
      else await inParallel(CONNECTIONS_MAX + ADDRESSES, (n) => hang(server, addressOf(n), bytes));
      const [beside, registered] = await Promise.all([
        beat(server, agent.key),
        call(server, "POST", "/v1/agent/register", { body: registration() }),
      ]);
      expect({ ...beside, registered: registered.status }).toMatchObject({ answered: CALLS, registered: 200 });
      expect(beside.slowest_ms).toBeLessThan(STARVED_MS);
      // When the connections close, the share of their addresses is free again.
      for (const socket of sockets) socket.destroy();
      await expect.poll(
        async () => (await call(server, "POST", "/v1/agent/register", { address: one(), body: registration() })).status,
        { timeout: 20_000 },
      ).toBe(200);
    },
    120_000,
  );
});

test("S-50: slow bodies of a known caller use that caller's share, not the agents' share", async () => {
  const server = await start();
  const agent = await newAgent(server);
  const { secret } = await must(server, "POST", "/v1/auth/api-keys", { key: ROOT_KEY, body: { description: "slow" } });
  await slowBodies(server, many, `Authorization: Bearer ${secret}\r\n`);
  const beside = await beat(server, agent.key);
  expect(beside.answered).toBe(CALLS);
  expect(beside.slowest_ms).toBeLessThan(STARVED_MS);
}, 120_000);

test("S-50: a slow body with an invalid credential counts as anonymous and is cut sooner", async () => {
  const server = await start();
  const began = performance.now();
  const client = connect({ host: "127.0.0.1", port: server.port });
  sockets.push(client);
  let text = "";
  client.on("data", (part) => text += part);
  client.on("error", () => {});
  client.write(slowBody("Authorization: Bearer opsk_AAAAAAAAAAAA_0123456789ABCDEFGHIJKLMNOPQRSTUV\r\n"));
  await new Promise((closed) => client.once("close", closed));
  expect(text).toContain("HTTP/1.1 408");
  // Sooner than BODY_READ_MS, which is 30 s.
  expect(performance.now() - began).toBeLessThan(25_000);
}, 60_000);

describe.each(["0", "1"])("S-50: behind a proxy, BERTH_BEHIND_PROXY=%s", (behind) => {
  test("the share belongs to the forwarded address, not to the proxy", async () => {
    const server = await start({ BERTH_TRUSTED_PROXIES: "127.0.0.0/8", BERTH_BEHIND_PROXY: behind });
    const agent = await newAgent(server);
    const from = (address: string) => `X-Forwarded-For: ${address}\r\n`;
    await slowBodies(server, one, from("198.51.100.1"));
    const register = async (address: string, filler_bytes = 0) =>
      (await call(server, "POST", "/v1/agent/register", {
        address: one(),
        body: { ...registration(), sysinfo: { filler: "x".repeat(filler_bytes) } },
        headers: { "x-forwarded-for": address },
      })).status;
    // Other clients behind the same proxy.
    expect([await register("198.51.100.2"), await register("2001:db8::1")]).toEqual([200, 200]);
    expect(await register("198.51.100.1", BODY_BYTES_MAX - 1_000)).toBe(503);
    expect((await beat(server, agent.key)).answered).toBe(CALLS);
  }, 120_000);
});

test("S-10: a request with two credentials gets 401, even if it has a body", async () => {
  const server = await start();
  const body = JSON.stringify({ description: "d" });
  const good = `Authorization: Bearer ${ROOT_KEY}\r\n`;
  const ask = async (credentials: string) => {
    const client = connect({ host: "127.0.0.1", port: server.port });
    sockets.push(client);
    let text = "";
    client.on("data", (part) => text += part);
    client.write(
      `POST /v1/auth/api-keys HTTP/1.1\r\nHost: berth\r\nConnection: close\r\n${credentials}` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await new Promise((closed) => client.once("close", closed));
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
  };
  expect([await ask(good), await ask(good + good), await ask("")]).toEqual([201, 401, 401]);
}, 60_000);
