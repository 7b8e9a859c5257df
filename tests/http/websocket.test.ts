// Tests WebSockets of both servers: node:http with the package ws, and Deno.serve.
import { afterEach, describe, expect, test } from "vitest";
import { CONSOLE_FRAME_BYTES_MAX } from "../../src/contract/limits.ts";
import type { Peer } from "../../src/http/env.ts";
import { serveNode } from "../../src/http/node-server.ts";
import { answerDeno } from "../../src/http/websocket-deno.ts";
import { ACCEPTED_SOCKET_STATUS, type ServerSocket, SOCKET_CLOSE } from "../../src/http/websocket.ts";
import { type ClientSocket, dialSocket } from "../../cli/internal/websocket.ts";
import { rawClient } from "./raw-client.ts";

const PATIENT = { timeout: 20_000 };
const sockets: ServerSocket[] = [];
let failures = 0;
let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
  sockets.length = 0;
  failures = 0;
});

/** Accepts WebSockets at /echo, and sends each received message back. Refuses other paths. */
function handler(request: Request, { upgrade }: Pick<Peer, "upgrade">): Response {
  const { pathname } = new URL(request.url);
  if (pathname !== "/echo" || upgrade === undefined) {
    return Response.json({ message: `plain ${request.method}` }, { status: pathname === "/echo" ? 200 : 403 });
  }
  upgrade({
    protocol: "one.v1",
    failed: () => void failures++,
    opened: (socket) => {
      sockets.push(socket);
      socket.listen({
        onData: (bytes) => socket.send(new Uint8Array(bytes)),
        onText: (text) => text === "end" ? socket.close(SOCKET_CLOSE.ended, "as asked") : socket.send(text),
        onClose: () => sockets.splice(sockets.indexOf(socket), 1),
      });
    },
  });
  return new Response(null, { status: ACCEPTED_SOCKET_STATUS });
}

async function nodeServer() {
  const server = await serveNode({ fetch: handler, hostname: "127.0.0.1", port: 0, shares: true });
  closing.push(() => server.close(0));
  return server;
}

function denoServer(): Promise<{ port: number }> {
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  const server = Deno.serve(options, (request) => answerDeno(request, (upgrade) => handler(request, { upgrade })));
  closing.push(() => server.shutdown());
  return Promise.resolve({ port: server.addr.port });
}

async function dial(port: number, path = "/echo") {
  const options = { protocols: ["one.v1", "secret.ticket"], headers: {}, signal: new AbortController().signal };
  const socket = await dialSocket(`http://127.0.0.1:${port}${path}`, options);
  const got: (string | Uint8Array)[] = [];
  const closed = Promise.withResolvers<string>();
  socket.listen({
    onData: (bytes) => got.push(bytes),
    onText: (text) => got.push(text),
    onClose: closed.resolve,
  });
  return { socket, got, closed: closed.promise };
}

describe.each([["node:http", nodeServer], ["Deno.serve", denoServer]])("%s", (_name, serve) => {
  test("passes text frames, binary frames, and the reason of the close", async () => {
    const { socket, got, closed } = await dial((await serve()).port);
    socket.send("text");
    socket.send(Uint8Array.of(1, 2, 3));
    await expect.poll(() => got, PATIENT).toEqual(["text", Uint8Array.of(1, 2, 3)]);
    socket.send("end");
    expect(await closed).toBe("as asked");
    await expect.poll(() => sockets.length, PATIENT).toBe(0);
  });

  test("does not open a WebSocket that the handler refuses", async () => {
    await expect(dial((await serve()).port, "/other")).rejects.toThrow(/WebSocket/);
    expect(sockets).toEqual([]);
  });

  test("reports a malformed handshake that the handler accepted", async () => {
    const client = await rawClient((await serve()).port);
    client.send("GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    await client.until("\r\n\r\n");
    expect([failures, sockets]).toEqual([1, []]);
    client.drop();
  });

  test("calls onClose when the client closes the connection", async () => {
    const { socket } = await dial((await serve()).port);
    await expect.poll(() => sockets.length, PATIENT).toBe(1);
    (socket as ClientSocket).close();
    await expect.poll(() => sockets.length, PATIENT).toBe(0);
  });
});

describe("node:http", () => {
  const HANDSHAKE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

  test("answers the example of RFC 6455, 1.3, with the accept key of the RFC, and names only the accepted subprotocol", async () => {
    const client = await rawClient((await nodeServer()).port);
    client.send(`GET /echo HTTP/1.1\r\nHost: x\r\nSec-WebSocket-Protocol: one.v1, secret.ticket\r\n${HANDSHAKE}`);
    const answer = await client.until("\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 101 /);
    expect(answer).toContain("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    expect(answer).toMatch(/Sec-WebSocket-Protocol: one\.v1\r\n/);
    expect(answer).not.toContain("secret");
    client.drop();
  });

  test("sends a refusal as JSON and closes the connection", async () => {
    const client = await rawClient((await nodeServer()).port);
    client.send(`GET /other HTTP/1.1\r\nHost: x\r\n${HANDSHAKE}`);
    const { text } = await client.closed();
    expect(text).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(text).toMatch(/connection: close\r\n/);
    expect(text).toMatch(/\{"message":"plain GET"\}$/);
  });

  test.each([
    ["no key", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n"],
    ["an unknown version", HANDSHAKE.replace("Version: 13", "Version: 99")],
  ])("refuses a handshake with %s", async (_case, headers) => {
    const client = await rawClient((await nodeServer()).port);
    client.send(`GET /echo HTTP/1.1\r\nHost: x\r\n${headers}`);
    expect((await client.closed()).text).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(sockets).toEqual([]);
  });

  test("handles a request to upgrade to another protocol as a plain HTTP request", async () => {
    const client = await rawClient((await nodeServer()).port);
    client.send("POST /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}");
    expect(await client.until('{"message":"plain POST"}')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    client.drop();
  });

  test("closes a socket that sends a frame above the limit", async () => {
    const { socket, closed } = await dial((await nodeServer()).port);
    socket.send(new Uint8Array(CONSOLE_FRAME_BYTES_MAX + 1));
    await closed;
    await expect.poll(() => sockets.length, PATIENT).toBe(0);
  });

  test("close() ends after its grace period although a client does not close its WebSocket", async () => {
    const server = await nodeServer();
    const client = await rawClient(server.port);
    client.send(`GET /echo HTTP/1.1\r\nHost: x\r\n${HANDSHAKE}`);
    await client.until("\r\n\r\n");
    const start = performance.now();
    await server.close(100);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect((await client.closed()).text).toContain("101");
  });
});
