// Tests which connections of machines the AMQP broker ends.
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type AmqpBroker, openAmqp } from "../../booter/amqp/listener.ts";
import { amqpLogin, macOfLogin } from "../../booter/amqp/rights.ts";
import { newCounters } from "../../booter/counters.ts";
import { AMQP_CONNECTIONS_PER_CLIENT_MAX } from "../../booter/limits.ts";
import { type AmqpClient, login, openChannel, openClient } from "../../cli/internal/amqp/client.ts";
import { HEARTBEAT_FRAME, PROTOCOL_HEADER } from "../../cli/internal/amqp/frame.ts";
import { AMQP_FRAME_BYTES_MAX } from "../../cli/internal/amqp/limits.ts";
import { longText, shortText, u16, u32, u8 } from "../../cli/internal/amqp/wire.ts";

const SECRET = new Uint8Array(32).fill(7);
const LOGIN = amqpLogin(SECRET, "52:54:00:aa:00:01");
const logged: Record<string, unknown>[] = [];
const counters = newCounters();
let broker: AmqpBroker;
beforeAll(async () => {
  broker = await openAmqp({
    addresses: ["127.0.0.1"],
    port: 0,
    login: (user, password) => macOfLogin(SECRET, user, password),
    listener: { ready: () => {}, gone: () => {}, published: () => {} },
    counters,
    log: (event, fields) => void logged.push({ event, ...fields }),
    heartbeat_s: 1,
  });
});
afterAll(() => broker.close());

const clients: AmqpClient[] = [];
afterEach(async () => {
  for (const each of clients.splice(0)) each.close();
  await expect.poll(() => broker.connections()).toBe(0);
});
async function client(from: string): Promise<AmqpClient> {
  const made = await openClient(broker.port, from);
  clients.push(made);
  return made;
}
/**
 * Logs in with this heartbeat interval in seconds. The client of the tests sends its own first heartbeat only after 15
 * seconds.
 */
async function loginWithHeartbeats(made: AmqpClient, heartbeat_s: number): Promise<void> {
  made.socket.write(PROTOCOL_HEADER);
  await made.expect("10.10");
  const response = longText(`\0${LOGIN.user}\0${LOGIN.password}`);
  made.send(0, 10, 11, u32(0), shortText("PLAIN"), response, shortText("en_US"));
  await made.expect("10.30");
  made.send(0, 10, 31, u16(0), u32(AMQP_FRAME_BYTES_MAX), u16(heartbeat_s));
  made.send(0, 10, 40, shortText("/"), shortText(""), u8(1));
  await made.expect("10.41");
}

test("the broker ends the connection of a peer that sends nothing for two heartbeat intervals, and of no other peer", async () => {
  const [silent, alive] = [await client("127.0.0.11"), await client("127.0.0.12")];
  await loginWithHeartbeats(alive, 1);
  const beat = setInterval(() => alive.socket.write(HEARTBEAT_FRAME), 300);
  try {
    await loginWithHeartbeats(silent, 1);
    const begun = performance.now();
    await silent.ended();
    expect(performance.now() - begun).toBeGreaterThan(1_900);
    await openChannel(alive, 1);
  } finally {
    clearInterval(beat);
  }
  expect(logged.filter(({ event }) => event === "bus.silent").map(({ address }) => address)).toEqual(["127.0.0.11"]);
});

test("a peer that asks for no heartbeats may be silent, and gets no heartbeats", async () => {
  const peer = await client("127.0.0.16");
  await loginWithHeartbeats(peer, 0);
  let bytes = 0;
  peer.socket.on("data", (more) => void (bytes += more.length));
  // With a heartbeat interval of 1 s, the broker would end the connection of a silent peer after 2.5 s.
  await delay(3_500);
  expect(bytes).toBe(0);
  await openChannel(peer, 1);
});

test("S-50: an address has at most one connection that is logged in, even if all connections were open before the first login", async () => {
  const [first, second] = [await client("127.0.0.13"), await client("127.0.0.13")];
  await login(first, LOGIN);
  await login(second, LOGIN);
  await first.ended();
  await openChannel(second, 1);
  expect(broker.connections()).toBe(1);
});

test("S-50: an address has a limited number of connections, and other addresses can still connect", async () => {
  const own: AmqpClient[] = [];
  for (let count = 0; count < AMQP_CONNECTIONS_PER_CLIENT_MAX; count++) own.push(await client("127.0.0.14"));
  await (await client("127.0.0.14")).ended();
  expect(broker.connections()).toBe(AMQP_CONNECTIONS_PER_CLIENT_MAX);
  expect(counters.valueOf("bus_too_many_total")).toBe(1);
  expect(logged).toContainEqual({ event: "bus.too_many", address: "127.0.0.14" });
  await login(await client("127.0.0.15"), LOGIN);

  own[0]!.close();
  await expect.poll(() => broker.connections()).toBe(AMQP_CONNECTIONS_PER_CLIENT_MAX);
  await login(await client("127.0.0.14"), LOGIN);
});
