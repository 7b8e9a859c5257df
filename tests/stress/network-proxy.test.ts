// Tests the faults that the network proxy causes.
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type NetworkProxy, openProxy } from "../support/network-proxy.ts";

const WAIT = { timeout: 20_000, interval: 5 };
let echo: Server;
/** The data that the server got on each connection. */
let got: string[];
let network: NetworkProxy;

beforeAll(async () => {
  echo = createServer({ allowHalfOpen: true }, (socket) => {
    const index = got.push("") - 1;
    socket.on("data", (bytes) => {
      got[index] += String(bytes);
      socket.write(bytes);
    });
    socket.on("error", () => {});
    socket.on("end", () => {
      got[index] += ".";
      socket.end();
    });
  });
  await new Promise<void>((listening) => echo.listen(0, "127.0.0.1", listening));
});
afterAll(() => new Promise((done) => echo.close(() => done(undefined))));
beforeEach(async () => {
  got = [];
  network = await openProxy({ target_port: (echo.address() as AddressInfo).port });
  return () => network.close();
});

type Client = { readonly socket: Socket; received(): string; isOver(): boolean };

async function client(): Promise<Client> {
  const socket = connect({ host: "127.0.0.1", port: network.port });
  let received = "";
  let over = false;
  socket.on("data", (bytes) => received += String(bytes));
  socket.on("error", () => {});
  socket.on("close", () => over = true);
  await new Promise<void>((connected) => socket.once("connect", () => connected()));
  return { socket, received: () => received, isOver: () => over };
}

test("data and the end of a connection pass without a fault", async () => {
  const one = await client();
  one.socket.write("abc");
  await expect.poll(one.received, WAIT).toBe("abc");
  one.socket.end();
  await expect.poll(() => got, WAIT).toEqual(["abc."]);
  await expect.poll(network.open, WAIT).toBe(0);
});

test("nothing passes during a silence; afterwards everything passes, including the data of a client that has disconnected", async () => {
  const [one, gone] = [await client(), await client()];
  await expect.poll(() => got.length, WAIT).toBe(2);
  network.silence();
  one.socket.write("one");
  gone.socket.write("gone");
  gone.socket.end();
  await expect.poll(() => network.counters.swallowed, WAIT).toBe(2);
  gone.socket.destroy();
  await expect.poll(network.abandoned, WAIT).toBe(1);
  expect([got, one.received()]).toEqual([["", ""], ""]);
  network.heal();
  await expect.poll(() => [...got].sort(), WAIT).toEqual(["gone.", "one"]);
  await expect.poll(one.received, WAIT).toBe("one");
  expect(network.counters.late).toBe(1);
});

test("a connection is cut after a given number of bytes, and these bytes arrive", async () => {
  const one = await client();
  await expect.poll(network.open, WAIT).toBe(1);
  network.cutAfter("to_server", 3);
  one.socket.write("abcdef");
  await expect.poll(one.isOver, WAIT).toBe(true);
  await expect.poll(() => got, WAIT).toEqual(["abc."]);
  expect(network.counters.cut).toBe(1);
});

test("a client is not notified when the server's side is dropped, and the client's data is lost", async () => {
  const one = await client();
  await expect.poll(() => got.length, WAIT).toBe(1);
  network.loseSide("server");
  one.socket.write("abc");
  await expect.poll(() => network.counters.unheard, WAIT).toBe(1);
  expect([one.isOver(), network.counters.half_open]).toEqual([false, 1]);
  one.socket.destroy();
  await expect.poll(network.open, WAIT).toBe(0);
});

test("a server is not notified when the client's side is dropped", async () => {
  const one = await client();
  one.socket.write("abc");
  await expect.poll(one.received, WAIT).toBe("abc");
  network.loseSide("client");
  await expect.poll(one.isOver, WAIT).toBe(true);
  expect([got, network.open()]).toEqual([["abc"], 1]);
});

test("delayed data does not arrive before the delay has passed", async () => {
  const one = await client();
  network.delay(50);
  const start_ms = performance.now();
  one.socket.write("abc");
  await expect.poll(one.received, WAIT).toBe("abc");
  expect(performance.now() - start_ms).toBeGreaterThanOrEqual(100);
  expect(network.counters.delayed).toBeGreaterThanOrEqual(2);
});
