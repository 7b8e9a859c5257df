// Tests the AMQP broker: connections of the agent and of other clients, forbidden actions, and hostile frames.
import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { frame, METHOD, PROTOCOL_HEADER } from "../../cli/internal/amqp/frame.ts";
import { type AmqpBroker, type AmqpOptions, type AmqpPeer, openAmqp } from "../../booter/amqp/listener.ts";
import { amqpLogin, macOfLogin } from "../../booter/amqp/rights.ts";
import { longText, readerOf, shortText, u16, u32, u64, u8 } from "../../cli/internal/amqp/wire.ts";
import { newCounters } from "../../booter/counters.ts";
import {
  ack,
  type AmqpClient,
  bind,
  consume,
  declare,
  login,
  openChannel,
  openClient,
} from "../../cli/internal/amqp/client.ts";
import { actAsAgent } from "./amqp-agent.ts";

const SECRET = new Uint8Array(32).fill(7);
const MAC = "52:54:00:aa:00:01";
const LOGIN = amqpLogin(SECRET, MAC);
const events: string[] = [];
const counters = newCounters();
const logged: Record<string, unknown>[] = [];
const peers = new Map<string, AmqpPeer>();
let broker: AmqpBroker;
/** A broker with a time limit that is too short for any login. */
let hasty: AmqpBroker;
beforeAll(async () => {
  const options: AmqpOptions = {
    addresses: ["127.0.0.1"],
    port: 0,
    login: (user, password, address) => address === "127.0.0.8" ? null : macOfLogin(SECRET, user, password),
    listener: {
      ready: (uuid, peer) => {
        events.push(`ready ${uuid}`);
        peers.set(uuid, peer);
      },
      gone: (uuid) => void events.push(`gone ${uuid}`),
      published: (key, body) => void events.push(`${key} ${body.toString()}`),
    },
    counters,
    log: (event, fields) => void logged.push({ event, ...fields }),
  };
  [broker, hasty] = [await openAmqp(options), await openAmqp({ ...options, login_ms: 5 })];
});
afterAll(async () => {
  await broker.close();
  await hasty.close();
});

const clients: AmqpClient[] = [];
afterEach(() => {
  for (const each of clients.splice(0)) each.close();
});
/**
 * The last number of the latest client address. Each connection needs a new address, because a login closes the older
 * connection from the same address.
 */
let addresses = 10;
async function client(from = `127.0.0.${++addresses}`): Promise<AmqpClient> {
  const made = await openClient(broker.port, from);
  clients.push(made);
  return made;
}
async function agent(server_uuid = randomUUID()) {
  const made = await client();
  await login(made, LOGIN);
  await actAsAgent(made, { server_uuid, mac: MAC });
  return { made, server_uuid };
}
const codeOf = (args: Buffer) => readerOf(args).u16();

describe("the agent", () => {
  test("is reported as ready when its request queue has a consumer, and as gone when its connection ends", async () => {
    const { made, server_uuid } = await agent();
    expect(events).toContain(`ready ${server_uuid}`);
    made.close();
    await expect.poll(() => events, { timeout: 20_000 }).toContain(`gone ${server_uuid}`);
  });

  test("gets a message once, although each binding exists twice, and gets the next message after it acknowledged the first", async () => {
    const { made, server_uuid } = await agent();
    const peer = peers.get(server_uuid)!;
    expect(peer.deliver(`ur.execute.${server_uuid}.one`, '{"n":1}')).toBe(1);
    expect(peer.deliver("ur.broadcast.sysinfo.two", '{"n":2}')).toBe(1);
    expect(peer.deliver("ur.other", "{}")).toBe(0);
    const first = await made.delivery();
    expect(first).toMatchObject({ key: `ur.execute.${server_uuid}.one`, body: '{"n":1}' });
    ack(made, first);
    expect((await made.delivery()).body).toBe('{"n":2}');
  });

  test("gets and sends bodies of many frames", async () => {
    const { made, server_uuid } = await agent();
    const long = JSON.stringify({ script: "x".repeat(400_000) });
    peers.get(server_uuid)!.deliver(`ur.execute.${server_uuid}.long`, long);
    expect((await made.delivery()).body).toBe(long);
    made.publish(1, `ur.sysinfo.${server_uuid}.a1`, long);
    await expect.poll(() => events.includes(`ur.sysinfo.${server_uuid}.a1 ${long}`), { timeout: 20_000 }).toBe(true);
  });

  test("may send a body frame whose payload alone is as long as frame-max", async () => {
    const { made, server_uuid } = await agent();
    const body = "y".repeat(131_072);
    made.send(1, 60, 40, u16(0), shortText("amq.topic"), shortText(`ur.startup.${server_uuid}`), u8(0));
    made.socket.write(frame(2, 1, Buffer.concat([u16(60), u16(0), u64(body.length), u16(0)])));
    made.socket.write(frame(3, 1, Buffer.from(body)));
    await expect.poll(() => events.includes(`ur.startup.${server_uuid} ${body}`), { timeout: 20_000 }).toBe(true);
  });

  test("gets the error 'locked' for its queue if an agent with the same UUID is already connected", async () => {
    const { server_uuid } = await agent();
    const second = await client();
    await login(second, LOGIN);
    await openChannel(second, 2);
    second.send(2, 50, 10, u16(0), shortText(`ur.request.${server_uuid}.${MAC}`), u8(0b1100), u32(0));
    expect(codeOf((await second.expect("20.40")).args)).toBe(405);
  });

  test("that reconnects from the same address replaces its stale connection", async () => {
    const from = `127.0.0.${++addresses}`;
    const server_uuid = randomUUID();
    const stale = await client(from);
    await login(stale, LOGIN);
    await actAsAgent(stale, { server_uuid, mac: MAC });
    const again = await client(from);
    await login(again, LOGIN);
    await stale.ended();
    await actAsAgent(again, { server_uuid, mac: MAC });
    expect(events.filter((each) => each === `ready ${server_uuid}`)).toHaveLength(2);
  });
});

describe("a machine may not", () => {
  test.each([
    ["log in with another password", { ...LOGIN, password: "0".repeat(32) }, "127.0.0.7"],
    ["log in with another machine's name", { ...LOGIN, user: "525400aa0002" }, "127.0.0.7"],
    ["log in from an address that is not its own", LOGIN, "127.0.0.8"],
  ])("%s; the broker ends its connection", async (_name, with_login, from) => {
    const made = await client(from);
    await expect(login(made, with_login)).rejects.toThrow("ended");
  });

  test.each([
    ["#"],
    ["ur.#"],
    ["ur.execute.*.*"],
    ["ur.execute.00000000-0000-4000-8000-000000000001.*"],
    ["ur.sysinfo.*.*"],
    ["*.*.*"],
  ])("bind %s", async (key) => {
    const { made, server_uuid } = await agent();
    const queue = shortText(`ur.request.${server_uuid}.${MAC}`);
    made.send(2, 50, 20, u16(0), queue, shortText("amq.topic"), shortText(key), u8(0), u32(0));
    expect(codeOf((await made.expect("20.40")).args)).toBe(403);
  });

  test.each([
    ["a script for another machine", "ur.execute.00000000-0000-4000-8000-000000000001.x"],
    ["an inventory of another machine", "ur.sysinfo.00000000-0000-4000-8000-000000000001.x"],
    ["a reply of another machine", "ur.execute-reply.00000000-0000-4000-8000-000000000001.x"],
    ["a broadcast", "ur.broadcast.sysinfo.x"],
  ])("publish %s", async (_name, key) => {
    const { made } = await agent();
    const other = await agent();
    made.publish(1, key, "{}");
    expect(codeOf((await made.expect("20.40")).args)).toBe(403);
    expect(events.some((each) => each.startsWith(key))).toBe(false);
    other.made.close();
  });

  test.each(["ur.request.x.y", "own", "ur.request.00000000-0000-4000-8000-000000000001.52:54:00:aa:00:01"])(
    "declare %s in addition to its own queue",
    async (queue) => {
      const { made } = await agent();
      made.send(1, 50, 10, u16(0), shortText(queue), u8(0), u32(0));
      expect(codeOf((await made.expect("20.40")).args)).toBe(403);
    },
  );
});

test("a message that a machine publishes with its own UUID reaches only this machine", async () => {
  const [one, two] = [await agent(), await agent()];
  one.made.publish(1, `ur.execute.${one.server_uuid}.z`, "{}");
  expect((await one.made.delivery()).key).toBe(`ur.execute.${one.server_uuid}.z`);
  peers.get(two.server_uuid)!.deliver(`ur.execute.${two.server_uuid}.only`, "{}");
  expect((await two.made.delivery()).key).toBe(`ur.execute.${two.server_uuid}.only`);
});

describe("another client", () => {
  async function plain() {
    const made = await client();
    await login(made, { ...LOGIN, mechanism: "PLAIN" });
    await openChannel(made, 1);
    return { made, queue: await declare(made, 1, "") };
  }

  test("can send to a queue that the server named, and can get, acknowledge, reject and purge messages", async () => {
    const { made, queue } = await plain();
    for (const body of ["a", "b", "c"]) made.publish(1, queue, body, "");
    made.send(1, 60, 70, u16(0), shortText(queue), u8(0));
    const first = await made.expect("60.71");
    expect(readerOf(first.args).u64()).toBe(1);
    made.send(1, 60, 90, u64(1), u8(1));
    made.send(1, 60, 70, u16(0), shortText(queue), u8(0));
    const again = readerOf((await made.expect("60.71")).args);
    expect([again.u64(), again.u8()]).toEqual([2, 1]);
    made.send(1, 60, 80, u64(2), u8(0));
    made.send(1, 50, 30, u16(0), shortText(queue), u8(0));
    expect(readerOf((await made.expect("50.31")).args).u32()).toBe(2);
    made.send(1, 60, 70, u16(0), shortText(queue), u8(0));
    await made.expect("60.72");
  });

  test("gets publisher confirms, and gets back mandatory messages that reach no queue", async () => {
    const { made } = await plain();
    made.send(1, 85, 10, u8(0));
    await made.expect("85.11");
    made.send(1, 60, 40, u16(0), shortText(""), shortText("nowhere"), u8(1));
    made.socket.write(frame(2, 1, Buffer.concat([u16(60), u16(0), u64(0), u16(0)])));
    expect(codeOf((await made.expect("60.50")).args)).toBe(312);
    expect(readerOf((await made.expect("60.80")).args).u64()).toBe(1);
  });

  test("gets the unacknowledged messages of its closed channel again on another channel", async () => {
    const { made, queue } = await plain();
    await openChannel(made, 2);
    await consume(made, 2, queue);
    made.publish(1, queue, "held", "");
    expect((await made.delivery()).body).toBe("held");
    made.send(2, 20, 40, u16(200), shortText(""), u16(0), u16(0));
    await made.expect("20.41");
    await consume(made, 1, queue);
    expect((await made.delivery()).body).toBe("held");
  });

  test("can remove bindings and delete queues", async () => {
    const { made, queue } = await plain();
    await bind(made, 1, queue, "ur.broadcast.*.*");
    made.send(1, 50, 50, u16(0), shortText(queue), shortText("amq.topic"), shortText("ur.broadcast.*.*"), u32(0));
    await made.expect("50.51");
    made.send(1, 50, 40, u16(0), shortText(queue), u8(0));
    await made.expect("50.41");
    made.send(1, 60, 70, u16(0), shortText(queue), u8(0));
    expect(codeOf((await made.expect("20.40")).args)).toBe(404);
  });

  test("can close its connection", async () => {
    const { made } = await plain();
    made.send(0, 10, 50, u16(200), shortText("bye"), u16(0), u16(0));
    await made.expect("10.51");
    await made.ended();
  });
});

describe("a connection ends on", () => {
  const raw = async (bytes: Buffer) => {
    const made = await client();
    made.socket.write(bytes);
    return made;
  };
  test("a wrong protocol header, after the broker has sent the header that it accepts", async () => {
    const socket = connect({ host: "127.0.0.1", port: broker.port });
    const received: Buffer[] = [];
    socket.on("data", (bytes) => received.push(bytes as Buffer));
    socket.write("GET / HTTP/1.1\r\n\r\n");
    await new Promise((resolve) => socket.once("close", resolve));
    expect(Buffer.concat(received)).toEqual(PROTOCOL_HEADER);
  });
  test("a login that does not arrive within the time limit", async () => {
    const socket = connect({ host: "127.0.0.1", port: hasty.port });
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
  });
  test.each(
    [
      ["a frame that is longer than frame-max", Buffer.from([1, 0, 0, 0xff, 0xff, 0xff, 0xff]), 501],
      ["a frame without the end byte", frame(METHOD, 0, Buffer.from("x")).fill(0, 8), 501],
      ["an unknown method", frame(METHOD, 0, Buffer.from([0, 99, 0, 99])), 540],
      ["a method that ends too early", frame(METHOD, 0, Buffer.from([0, 10])), 502],
      ["a method before the login", frame(METHOD, 1, Buffer.from([0, 20, 0, 10, 0])), 504],
    ] as const,
  )("%s", async (_name, bytes, code) => {
    const made = await raw(Buffer.concat([PROTOCOL_HEADER, bytes]));
    expect(codeOf((await made.expect("10.50")).args)).toBe(code);
    await made.ended();
  });

  test("a login whose tables are nested a thousand deep", async () => {
    let nested = Buffer.alloc(0);
    for (let depth = 0; depth < 1_000; depth++) {
      nested = Buffer.concat([shortText("a"), Buffer.from("F"), u32(nested.length), nested]);
    }
    const start_ok = Buffer.concat([
      u16(10),
      u16(11),
      u32(nested.length),
      nested,
      shortText("PLAIN"),
      longText(""),
      shortText(""),
    ]);
    const made = await raw(Buffer.concat([PROTOCOL_HEADER, frame(METHOD, 0, start_ok)]));
    expect(codeOf((await made.expect("10.50")).args)).toBe(502);
  });

  test("a body that is longer than the size in its header", async () => {
    const { made, server_uuid } = await agent();
    made.send(1, 60, 40, u16(0), shortText("amq.topic"), shortText(`ur.startup.${server_uuid}`), u8(0));
    made.socket.write(frame(2, 1, Buffer.concat([u16(60), u16(0), u64(2), u16(0)])));
    made.socket.write(frame(3, 1, Buffer.from("three")));
    expect(codeOf((await made.expect("10.50")).args)).toBe(503);
  });
});

test("a content header with a size above the limit closes the channel", async () => {
  const { made, server_uuid } = await agent();
  made.send(1, 60, 40, u16(0), shortText("amq.topic"), shortText(`ur.startup.${server_uuid}`), u8(0));
  made.socket.write(frame(2, 1, Buffer.concat([u16(60), u16(0), u64(2 ** 40), u16(0)])));
  expect(codeOf((await made.expect("20.40")).args)).toBe(311);
});

describe("a fault of an AMQP connection is counted:", () => {
  const FAULTS = "bus_faults_total";

  test("a second machine with the server UUID of a connected machine; this fault is also logged", async () => {
    const { server_uuid } = await agent();
    const labels = { scope: "channel", code: "405" };
    const before = counters.valueOf(FAULTS, labels);
    const other = await client();
    await login(other, amqpLogin(SECRET, "52:54:00:aa:00:02"));
    await openChannel(other, 1);
    const queue = `ur.request.${server_uuid}.52:54:00:aa:00:02`;
    other.send(1, 50, 10, u16(0), shortText(queue), u8(0b1100), u32(0));
    expect(codeOf((await other.expect("20.40")).args)).toBe(405);
    expect(counters.valueOf(FAULTS, labels)).toBe(before + 1);
    expect(logged).toContainEqual({
      event: "bus.fault",
      address: `127.0.0.${addresses}`,
      mac: "52:54:00:aa:00:02",
      ...labels,
      code: 405,
      reason: "the queue belongs to another connection",
    });
  });

  test("a method that is not allowed at this stage of the connection", async () => {
    const labels = { scope: "connection", code: "503" };
    const before = counters.valueOf(FAULTS, labels);
    const { made } = await agent();
    // Sends a second connection.open.
    made.send(0, 10, 40, shortText("/"), shortText(""), u8(0));
    await expect.poll(() => counters.valueOf(FAULTS, labels), { timeout: 20_000 }).toBe(before + 1);
  });
});
