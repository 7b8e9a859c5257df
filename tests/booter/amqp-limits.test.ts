// Tests the AMQP broker's limits on bindings, consumers, messages and unsent bytes.
import type { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type AmqpBroker, openAmqp } from "../../booter/amqp/listener.ts";
import { amqpLogin, macOfLogin } from "../../booter/amqp/rights.ts";
import { newCounters } from "../../booter/counters.ts";
import { AMQP_BINDINGS_MAX, AMQP_CONSUMERS_MAX, AMQP_HELD_BYTES_MAX, AMQP_UNACKED_MAX } from "../../booter/limits.ts";
import {
  type AmqpClient,
  bind,
  consume,
  declare,
  login,
  openChannel,
  openClient,
} from "../../cli/internal/amqp/client.ts";
import { readerOf, shortText, u16, u32, u64, u8 } from "../../cli/internal/amqp/wire.ts";

const SECRET = new Uint8Array(32).fill(7);
const RESOURCE_ERROR = 506;
const RESOURCE_LOCKED = 405;
/** The broker's address on a second segment. */
const OTHER_SEGMENT = "127.0.0.2";
/** The lengths of the messages to the booter, by their keys. */
const published = new Map<string, number>();
const logged: Record<string, unknown>[] = [];
let broker: AmqpBroker;
beforeAll(async () => {
  broker = await openAmqp({
    addresses: ["127.0.0.1", OTHER_SEGMENT],
    port: 0,
    login: (user, password) => macOfLogin(SECRET, user, password),
    listener: { ready: () => {}, gone: () => {}, published: (key, body) => void published.set(key, body.length) },
    counters: newCounters(),
    log: (event, fields) => void logged.push({ event, ...fields }),
  });
});
afterAll(() => broker.close());

const clients: AmqpClient[] = [];
afterEach(async () => {
  for (const each of clients.splice(0)) each.close();
  await expect.poll(() => broker.connections()).toBe(0);
});
/** A login closes the older connection from the same address, so each connection has an address of its own. */
let addresses = 10;
async function machine(host = "127.0.0.1") {
  const made = await openClient(broker.port, `127.0.0.${++addresses}`, host);
  clients.push(made);
  await login(made, amqpLogin(SECRET, "52:54:00:aa:00:01"));
  await openChannel(made, 1);
  return { made, queue: await declare(made, 1, "") };
}
/** Waits until the broker closes a channel. Confirms the close, and returns the code that the broker sent. */
async function closedBy(made: AmqpClient): Promise<number> {
  const { channel, args } = await made.expect("20.40");
  made.send(channel, 20, 41);
  return readerOf(args).u16();
}
/** Returns the number of messages that wait in the queue. */
async function waiting(made: AmqpClient, channel: number, queue: string): Promise<number> {
  made.send(channel, 50, 10, u16(0), shortText(queue), u8(1), u32(0));
  const reader = readerOf((await made.expect("50.11")).args);
  reader.shortText();
  return reader.u32();
}

/** Gets a message from the queue and does not acknowledge it. */
async function get(made: AmqpClient, channel: number, queue: string): Promise<void> {
  made.send(channel, 60, 70, u16(0), shortText(queue), u8(0));
  await made.expect("60.71");
}
/** Acknowledges the message with this tag. With the flag 1, also acknowledges all earlier messages. */
const acknowledge = (made: AmqpClient, channel: number, tag: Buffer, flag: Buffer) =>
  made.send(channel, 60, 80, tag, flag);

test("the limit of bindings covers all queues and channels of a connection, and still applies after a refused binding", async () => {
  const { made, queue } = await machine();
  const server_uuid = randomUUID();
  const other = await declare(made, 1, `ur.ping.${server_uuid}`);
  const keyOf = (number: number) => `ur.execute.${server_uuid}-${String(number).padStart(12, "0")}.*`;
  for (let number = 0; number < AMQP_BINDINGS_MAX; number++) {
    await bind(made, 1, number % 2 === 0 ? queue : other, keyOf(number));
  }
  await bind(made, 1, queue, keyOf(0));
  for (const channel of [1, 2]) {
    if (channel === 2) await openChannel(made, 2);
    const key = shortText(keyOf(AMQP_BINDINGS_MAX + channel));
    made.send(channel, 50, 20, u16(0), shortText(queue), shortText("amq.topic"), key, u8(0), u32(0));
    expect(await closedBy(made)).toBe(RESOURCE_ERROR);
  }
});

/** Two of these bodies fit into AMQP_HELD_BYTES_PER_CLIENT_MAX, but three bodies do not. */
const LARGE = "x".repeat(8_000_000);
const FITTING = 2;
/** Connects a machine and fills its queue with as many messages as the machine may have. */
async function full(host?: string): Promise<void> {
  const { made, queue } = await machine(host);
  for (let number = 0; number < FITTING; number++) made.publish(1, queue, LARGE, "");
  await expect.poll(() => waiting(made, 1, queue), { timeout: 20_000 }).toBe(FITTING);
}

test.each(["waiting", "unacknowledged"])(
  "the broker refuses a message when the %s messages have reached the size limit, and accepts a message after their removal",
  async (kind) => {
    const { made, queue } = await machine();
    await openChannel(made, 2);
    for (let number = 0; number < FITTING; number++) made.publish(1, queue, LARGE, "");
    await expect.poll(() => waiting(made, 2, queue), { timeout: 20_000 }).toBe(FITTING);
    if (kind === "unacknowledged") { for (let number = 0; number < FITTING; number++) await get(made, 2, queue); }
    made.publish(1, queue, LARGE, "");
    expect(await closedBy(made)).toBe(RESOURCE_ERROR);
    if (kind === "waiting") made.send(2, 50, 30, u16(0), shortText(queue), u8(0));
    else acknowledge(made, 2, u64(FITTING), u8(1));
    await openChannel(made, 1);
    made.publish(1, queue, LARGE, "");
    await expect.poll(() => waiting(made, 1, queue), { timeout: 20_000 }).toBe(1);
  },
);

test("S-50: even if machines have reached their limits of messages, there is memory for the inventory of another machine", async () => {
  await full();
  await full(OTHER_SEGMENT);
  const { made, queue } = await machine();
  made.publish(1, queue, LARGE, "");
  expect(await closedBy(made)).toBe(RESOURCE_ERROR);

  const other = await machine();
  const server_uuid = randomUUID();
  await declare(other.made, 1, `ur.ping.${server_uuid}`);
  other.made.publish(1, `ur.sysinfo.${server_uuid}.a1`, "x".repeat(100_000));
  await expect.poll(() => published.get(`ur.sysinfo.${server_uuid}.a1`), { timeout: 20_000 }).toBe(100_000);
});

test("the size limit covers the messages of machines on all segments together", async () => {
  const small = "x".repeat(1_000_000);
  const fitting = Math.floor(AMQP_HELD_BYTES_MAX / 1_000_100);
  for (let number = 0; number < fitting; number++) {
    const { made, queue } = await machine(number % 2 === 0 ? OTHER_SEGMENT : undefined);
    made.publish(1, queue, small, "");
    await expect.poll(() => waiting(made, 1, queue), { timeout: 20_000 }).toBe(1);
  }
  const { made, queue } = await machine();
  made.publish(1, queue, small, "");
  expect(await closedBy(made)).toBe(RESOURCE_ERROR);
});

test("a machine on another segment cannot use the identity of a connected machine", async () => {
  const name = `ur.ping.${randomUUID()}`;
  const { made } = await machine();
  await declare(made, 1, name);
  const other = await machine(OTHER_SEGMENT);
  other.made.send(1, 50, 10, u16(0), shortText(name), u8(0), u32(0));
  expect(await closedBy(other.made)).toBe(RESOURCE_LOCKED);
});

test("the messages of a connection that ended do not count towards the size limit", async () => {
  for (let round = 0; round < 3; round++) {
    await full();
    await full();
    for (const each of clients.splice(0)) each.close();
    await expect.poll(() => broker.connections()).toBe(0);
  }
});

test.each([0, 65_535])(
  "with the prefetch limit %i, a channel gets a limited number of messages before it acknowledges a message",
  async (prefetch) => {
    const { made, queue } = await machine();
    await openChannel(made, 2);
    made.send(2, 60, 10, u32(0), u16(prefetch), u8(0));
    await made.expect("60.11");
    await consume(made, 2, queue);
    for (let number = 0; number <= AMQP_UNACKED_MAX; number++) made.publish(1, queue, `${number}`, "");
    for (let number = 0; number < AMQP_UNACKED_MAX; number++) await made.delivery();
    expect(await waiting(made, 1, queue)).toBe(1);
    acknowledge(made, 2, u64(1), u8(0));
    expect((await made.delivery()).body).toBe(`${AMQP_UNACKED_MAX}`);
  },
);

test("the limit of consumers covers all queues and channels of a connection", async () => {
  const { made, queue } = await machine();
  await openChannel(made, 2);
  for (let number = 0; number < AMQP_CONSUMERS_MAX; number++) {
    made.send(1 + number % 2, 60, 20, u16(0), shortText(queue), shortText(`tag-${number}`), u8(0), u32(0));
    await made.expect("60.21");
  }
  made.send(2, 60, 20, u16(0), shortText(queue), shortText("one more"), u8(0), u32(0));
  expect(await closedBy(made)).toBe(RESOURCE_ERROR);
});

test("messages that a channel did not acknowledge return to their queue when the broker closes the channel", async () => {
  const { made, queue } = await machine();
  await openChannel(made, 2);
  await consume(made, 2, queue);
  made.publish(1, queue, "a setup script", "");
  expect((await made.delivery()).body).toBe("a setup script");
  made.send(2, 60, 70, u16(0), shortText("no-such-queue"), u8(0));
  expect(await closedBy(made)).toBe(404);
  await consume(made, 1, queue);
  expect((await made.delivery()).body).toBe("a setup script");
});

test("the broker disconnects a machine that does not read its messages", async () => {
  const { made, queue } = await machine();
  made.send(1, 60, 20, u16(0), shortText(queue), shortText("t"), u8(2), u32(0));
  await made.expect("60.21");
  made.socket.pause();
  for (let number = 0; number < 2 * FITTING; number++) made.publish(1, queue, LARGE, "");
  await expect.poll(() => broker.connections(), { timeout: 20_000 }).toBe(0);
  expect(logged.map(({ event }) => event)).toContain("bus.too_slow");
});
