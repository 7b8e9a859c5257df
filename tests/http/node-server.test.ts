// Tests the HTTP server over raw connections: its limits, malformed requests, and the end of connections.
import { afterEach, expect, test } from "vitest";
import { BODY_BYTES_MAX, HEADER_BYTES_MAX, HEADER_LINES_MAX } from "../../src/contract/limits.ts";
import { type EdgeLimits, type FetchHandler, type NodeServer, serveNode } from "../../src/http/node-server.ts";
import { newApp } from "../../src/http/shell.ts";
import { rawClient } from "./raw-client.ts";

/** Short limits, for the tests of these limits. The other tests use LONG, which is enough on a slow machine. */
const SHORT = { headers_ms: 400, body_ms: 600, idle_ms: 700 };
const LONG: Partial<EdgeLimits> = { headers_ms: 20_000, body_ms: 20_000, idle_ms: 20_000 };
const HOST = "Host: test\r\n";

/** The grace period of close(), long enough for an answer on a slow machine. */
const CLOSE_GRACE_MS = 2_000;
const PATIENT = { timeout: 20_000 };

let open: NodeServer[] = [];
afterEach(async () => {
  for (const server of open) await server.close(0);
  open = [];
});

async function serve(fetch: FetchHandler, limits = LONG): Promise<NodeServer> {
  const server = await serveNode({ fetch, hostname: "127.0.0.1", port: 0, limits });
  open.push(server);
  return server;
}

const echo: FetchHandler = (request, { remoteAddress, body }) =>
  Response.json({
    method: request.method,
    url: request.url,
    bytes: body.length,
    x: request.headers.get("x"),
    remoteAddress,
  });

/** Sends one request on a new connection. Returns the beginning of the answer, with at least its whole header. */
async function ask(port: number, bytes: string): Promise<string> {
  const client = await rawClient(port);
  client.send(bytes);
  const answer = await client.until(/\r\n\r\n/).catch((error) => String(error));
  client.drop();
  return answer;
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);

test("a request reaches the handler with its body and the client's address", async () => {
  const { port } = await serve(echo);
  const answer = await fetch(`http://127.0.0.1:${port}/a/b?c=d`, {
    method: "POST",
    body: "hello",
    headers: { x: "y" },
  });
  expect(await answer.json()).toEqual({
    method: "POST",
    url: "http://localhost/a/b?c=d",
    bytes: 5,
    x: "y",
    remoteAddress: "127.0.0.1",
  });
});

test("S-36: an incomplete header gets 408 with an error body, and the connection is closed", async () => {
  const { port } = await serve(echo, SHORT);
  const client = await rawClient(port);
  client.send(`GET / HTTP/1.1\r\n${HOST}`);
  const { text, after_ms } = await client.closed();
  expect(statusOf(text)).toBe(408);
  const { message, request_id } = JSON.parse(text.slice(text.indexOf("\r\n\r\n")));
  expect(message).toContain("in time");
  expect(text).toContain(`x-request-id: ${request_id}`);
  expect(after_ms).toBeGreaterThanOrEqual(SHORT.headers_ms * 0.9);
});

test("the time limit for headers also closes connections that send header lines slowly or send nothing", async () => {
  const { port } = await serve(echo, SHORT);
  const drip = await rawClient(port);
  const silent = await rawClient(port);
  drip.send("GET / HTTP/1.1\r\n");
  // If each byte restarted the time limit, the server would never close this connection.
  const timer = setInterval(() => drip.send("X: y\r\n"), 50);
  const [dripped, silence] = await Promise.all([drip.closed(), silent.closed()]);
  clearInterval(timer);
  expect([statusOf(dripped.text), statusOf(silence.text)]).toEqual([408, 408]);
});

test("S-36: a request with a slow body is refused, and the handler never runs", async () => {
  let ran = false;
  const { port } = await serve(() => {
    ran = true;
    return new Response();
  }, SHORT);
  const client = await rawClient(port);
  client.send(`POST / HTTP/1.1\r\n${HOST}Content-Length: 100\r\n\r\n`);
  const timer = setInterval(() => client.send("x"), 50);
  const { text } = await client.closed();
  clearInterval(timer);
  expect(statusOf(text)).toBe(408);
  expect(ran).toBe(false);
});

test("a handler may take longer than the time limit for receiving a request", async () => {
  const limits = { headers_ms: 1_000, body_ms: 1_000, idle_ms: 1_000 };
  const { port } = await serve(async () => {
    await new Promise((resolve) => setTimeout(resolve, limits.headers_ms + limits.body_ms + limits.idle_ms + 500));
    return new Response("held");
  }, limits);
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("held");
});

test("pipelined requests are answered in order on one connection, which is closed when idle", async () => {
  const { port } = await serve(async (request) => {
    const { pathname } = new URL(request.url);
    await new Promise((resolve) => setTimeout(resolve, pathname === "/1" ? 100 : 0));
    return new Response(`<${pathname}>`);
  }, { ...LONG, idle_ms: 2_000 });
  const client = await rawClient(port);
  client.send(["/1", "/2", "/3"].map((path) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`).join(""));
  expect((await client.until("</3>")).match(/<\/\d>/g)).toEqual(["</1>", "</2>", "</3>"]);
  client.send(`GET /4 HTTP/1.1\r\n${HOST}\r\n`);
  await client.until("</4>");
  await client.closed();
});

test("the handler's signal is aborted when the client disconnects, and only then", async () => {
  const begun = Promise.withResolvers<void>();
  const left = Promise.withResolvers<boolean>();
  const { port } = await serve(async (request, { gone }) => {
    if (new URL(request.url).pathname === "/stay") return new Response(String(gone.aborted));
    gone.addEventListener("abort", () => left.resolve(true));
    begun.resolve();
    await left.promise;
    return new Response();
  });
  const client = await rawClient(port);
  client.send(`GET /hold HTTP/1.1\r\n${HOST}\r\n`);
  await begun.promise;
  client.drop();
  expect(await left.promise).toBe(true);
  expect(await (await fetch(`http://127.0.0.1:${port}/stay`)).text()).toBe("false");
});

test("the handler's signal is not aborted after the client has read the whole answer", async () => {
  let signal: AbortSignal | undefined;
  const { port } = await serve((_request, { gone }) => {
    signal = gone;
    return new Response("done");
  });
  const client = await rawClient(port);
  client.send(`GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
  await client.closed();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(signal?.aborted).toBe(false);
});

test("S-36: a body of the maximum size is read; one more byte gets 413, with a declared length or in chunks", async () => {
  const { port } = await serve(echo);
  const url = `http://127.0.0.1:${port}/`;
  const fits = await fetch(url, { method: "POST", body: new Uint8Array(BODY_BYTES_MAX) });
  expect((await fits.json()).bytes).toBe(BODY_BYTES_MAX);
  for (const extra of [1, BODY_BYTES_MAX]) {
    const body = new Uint8Array(BODY_BYTES_MAX + extra);
    const declared = await fetch(url, { method: "POST", body });
    expect([declared.status, (await declared.json()).message]).toEqual([413, expect.stringContaining("1048576")]);
    const stream = new Blob([body]).stream();
    const chunked = await fetch(url, { method: "POST", body: stream, duplex: "half" } as RequestInit);
    expect([chunked.status, (await chunked.json()).message]).toEqual([413, expect.stringContaining("1048576")]);
  }
});

test("the unfinished bodies of all connections share one limit, and a finished body frees its part", async () => {
  const server = await serveNode({
    fetch: echo,
    hostname: "127.0.0.1",
    port: 0,
    limits: { ...LONG, held_bytes_max: 1_000 },
  });
  open.push(server);
  const post = (length: number) => `POST / HTTP/1.1\r\n${HOST}Content-Length: ${length}\r\n\r\n`;
  const slow = await rawClient(server.port);
  slow.send(post(901) + "x".repeat(900));
  // Waits until the server has read the slow body.
  await expect.poll(async () => statusOf(await ask(server.port, post(101) + "y".repeat(101))), PATIENT).toBe(503);
  expect(statusOf(await ask(server.port, post(100) + "y".repeat(100)))).toBe(200);
  slow.send("x");
  expect(await slow.until('"bytes":901')).toContain("200 OK");
  slow.drop();
  expect(statusOf(await ask(server.port, post(1_000) + "y".repeat(1_000)))).toBe(200);
});

test("connections beyond the limit are closed at once, and closing a connection frees its slot", async () => {
  const { port } = await serve(echo, { ...LONG, connections_max: 3 });
  const request = `GET / HTTP/1.1\r\n${HOST}\r\n`;
  const kept = [];
  for (let n = 0; n < 3; n++) {
    const client = await rawClient(port);
    client.send(request);
    await client.until(/"remoteAddress"/);
    kept.push(client);
  }
  const beyond = await rawClient(port);
  beyond.send(request);
  expect((await beyond.closed()).text).toBe("");
  kept[0]!.drop();
  await expect.poll(async () => statusOf(await ask(port, request)), PATIENT).toBe(200);
  for (const client of kept) client.drop();
});

test("the HTTP shell gets the body and the client's address from the server, and answers bad requests with 400 or 405", async () => {
  const app = newApp();
  app.post("/v1/echo", async (c) => c.json({ body: await c.req.json(), address: c.get("clientAddress") }));
  const { port } = await serve(app.fetch);
  const url = `http://127.0.0.1:${port}/v1/echo`;
  const post = (body: string) => fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } });
  expect(await (await post('{"a":[1]}')).json()).toEqual({ body: { a: [1] }, address: "127.0.0.1" });
  expect((await post("{")).status).toBe(400);
  const read = await fetch(url);
  expect([read.status, read.headers.get("allow")]).toEqual([405, "POST"]);
  await read.body?.cancel();
});

test("a client with Expect: 100-continue gets 100, or 413 before it sends the body", async () => {
  const { port } = await serve(echo);
  const head = (bytes: number) => `POST / HTTP/1.1\r\n${HOST}Expect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n`;
  const welcome = await rawClient(port);
  welcome.send(head(2));
  expect(statusOf(await welcome.until("\r\n\r\n"))).toBe(100);
  welcome.send("ab");
  expect(await welcome.until('"bytes":2')).toContain("200 OK");
  welcome.drop();
  expect(statusOf(await ask(port, head(BODY_BYTES_MAX + 1)))).toBe(413);
});

test.each([
  ["two different lengths", `POST / HTTP/1.1\r\n${HOST}Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc`],
  ["the same length twice", `POST / HTTP/1.1\r\n${HOST}Content-Length: 2\r\nContent-Length: 2\r\n\r\nab`],
  ["a length and chunks", `POST / HTTP/1.1\r\n${HOST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["a signed length", `POST / HTTP/1.1\r\n${HOST}Content-Length: +5\r\n\r\nabcde`],
  ["a negative length", `POST / HTTP/1.1\r\n${HOST}Content-Length: -5\r\n\r\n`],
  ["a list of lengths", `POST / HTTP/1.1\r\n${HOST}Content-Length: 5, 5\r\n\r\nabcde`],
  ["an unknown coding", `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  ["a folded header line", `GET / HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`],
  ["a space before the colon", `GET / HTTP/1.1\r\n${HOST}X : a\r\n\r\n`],
  ["bare line feeds", "GET / HTTP/1.1\nHost: a\n\n"],
  ["no host", "GET / HTTP/1.1\r\n\r\n"],
  ["two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
  ["another server's target", `GET http://other/ HTTP/1.1\r\n${HOST}\r\n`],
  ["the target *", `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`],
  ["a TLS greeting", "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"],
])("S-36: a request with %s gets 400, since parsers could disagree about it", async (_case, bytes) => {
  const { port } = await serve(echo);
  expect(statusOf(await ask(port, bytes))).toBe(400);
});

test("S-36: too many or too large header lines get 431, a target that is too long gets 414, and an unknown method gets 501", async () => {
  const { port } = await serve(echo);
  const lines = (count: number) => `GET / HTTP/1.1\r\n${HOST}${"X: y\r\n".repeat(count - 1)}\r\n`;
  expect(statusOf(await ask(port, lines(HEADER_LINES_MAX)))).toBe(200);
  expect(statusOf(await ask(port, lines(HEADER_LINES_MAX + 1)))).toBe(431);
  expect(statusOf(await ask(port, `GET / HTTP/1.1\r\n${HOST}X: ${"y".repeat(HEADER_BYTES_MAX)}\r\n\r\n`))).toBe(431);
  expect(statusOf(await ask(port, `GET /${"y".repeat(8_192)} HTTP/1.1\r\n${HOST}\r\n`))).toBe(414);
  expect(statusOf(await ask(port, `TRACE / HTTP/1.1\r\n${HOST}\r\n`))).toBe(501);
});

test("malformed bytes that arrive while a request is handled close the connection without a 400 answer", async () => {
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const { port } = await serve(async () => {
    begun.resolve();
    await release.promise;
    return new Response("late");
  });
  const client = await rawClient(port);
  client.send(`GET / HTTP/1.1\r\n${HOST}\r\n`);
  await begun.promise;
  client.send("\x00\x01 broken\r\n\r\n");
  const { text } = await client.closed();
  release.resolve();
  expect(text).not.toContain("400");
});

test("answers keep their status, headers and empty bodies", async () => {
  const { port } = await serve((request) => {
    switch (new URL(request.url).pathname) {
      case "/none":
        return new Response(null, { status: 204 });
      case "/empty":
        return new Response(null, { status: 201, headers: { location: "/x" } });
      default:
        return new Response("a".repeat(300_000), { headers: { "x-a": "1" } });
    }
  });
  const url = `http://127.0.0.1:${port}`;
  expect((await fetch(`${url}/none`)).status).toBe(204);
  expect(await ask(port, `GET /none HTTP/1.1\r\n${HOST}\r\n`)).not.toMatch(/content-length|transfer-encoding/i);
  const empty = await fetch(`${url}/empty`);
  expect([empty.status, empty.headers.get("location"), empty.headers.get("content-length")]).toEqual([201, "/x", "0"]);
  const large = await fetch(`${url}/large`);
  expect([large.headers.get("x-a"), (await large.text()).length]).toEqual(["1", 300_000]);
  const head = await fetch(`${url}/large`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

test("a request whose handler throws gets 500 without details", async () => {
  const { port } = await serve(() => {
    throw new Error("canary");
  });
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  expect(answer.status).toBe(500);
  expect(JSON.stringify(await answer.json())).not.toContain("canary");
});

test("a client that stops reading is disconnected", async () => {
  const bytes = 64 * 2 ** 20;
  const begun = Promise.withResolvers<void>();
  const { port } = await serve(() => {
    begun.resolve();
    return new Response(new Uint8Array(bytes));
  }, { ...LONG, idle_ms: SHORT.idle_ms });
  const client = await rawClient(port);
  client.socket.pause();
  client.send(`GET / HTTP/1.1\r\n${HOST}\r\n`);
  await begun.promise;
  await new Promise((resolve) => setTimeout(resolve, SHORT.idle_ms * 3));
  client.socket.resume();
  expect((await client.closed()).text.length).toBeLessThan(bytes);
});

test("a closing server lets running requests finish, accepts no connection, and closes the remaining connections after the grace period", async () => {
  const begun = { "/": Promise.withResolvers<void>(), "/never": Promise.withResolvers<void>() };
  const release = Promise.withResolvers<void>();
  const server = await serve(async (request) => {
    const path = new URL(request.url).pathname as keyof typeof begun; // The test requests no other path.
    begun[path].resolve();
    if (path === "/never") await new Promise(() => {});
    await release.promise;
    return new Response("finished");
  });
  const idle = await rawClient(server.port);
  const running = await rawClient(server.port);
  const stuck = await rawClient(server.port);
  running.send(`GET / HTTP/1.1\r\n${HOST}\r\n`);
  stuck.send(`GET /never HTTP/1.1\r\n${HOST}\r\n`);
  await Promise.all([begun["/"].promise, begun["/never"].promise]);
  const closed = server.close(CLOSE_GRACE_MS);
  await expect(rawClient(server.port)).rejects.toThrow();
  release.resolve();
  const answer = await running.closed();
  expect(answer.text).toContain("finished");
  expect(answer.text.toLowerCase()).toContain("connection: close");
  // The stuck request never ends by itself, so only the forced close lets `closed` and `stuck.closed()` resolve.
  await closed;
  expect((await stuck.closed()).text).toBe("");
  await idle.closed();
});

test("a start on a port in use fails", async () => {
  const { port } = await serve(echo);
  await expect(serveNode({ fetch: echo, hostname: "127.0.0.1", port })).rejects.toThrow(/EADDRINUSE|in use/i);
});

test("an answer has one content-length, computed by the server; an answer to HEAD keeps the handler's content-length", async () => {
  const { port } = await serve((request) =>
    new Response(request.method === "HEAD" ? null : "hello", { headers: { "content-length": "5" } })
  );
  const lengths = (answer: string) => answer.match(/^content-length: .*$/gim);
  expect(lengths(await ask(port, `GET / HTTP/1.1\r\n${HOST}\r\n`))).toEqual(["content-length: 5"]);
  expect(lengths(await ask(port, `HEAD / HTTP/1.1\r\n${HOST}\r\n`))).toEqual(["content-length: 5"]);
});
