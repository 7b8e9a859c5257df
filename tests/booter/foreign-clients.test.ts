// The bus before clients that other people wrote: amqplib, and of Debian's packages pika and amqp-tools on rabbitmq-c.
import { Buffer } from "node:buffer";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { connect, type ConsumeMessage } from "amqplib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AmqpBroker, type AmqpPeer, openAmqp } from "../../booter/amqp/listener.ts";
import { amqpLogin, macOfLogin } from "../../booter/amqp/rights.ts";
import { newCounters } from "../../booter/counters.ts";
import { needs, present } from "../support/optional-programs.ts";

const SECRET = new Uint8Array(32).fill(9);
const MAC = "52:54:00:aa:00:01";
const { user, password } = amqpLogin(SECRET, MAC);
const AGENT = fileURLToPath(new URL("agent.py", import.meta.url));
/** More than two frames. */
const BODY = JSON.stringify({ type: "script", script: "x".repeat(300_000) });

let bus: AmqpBroker;
const told: { key: string; body: string }[] = [];
beforeAll(async () => {
  bus = await openAmqp({
    address: "127.0.0.1",
    port: 0,
    login: (name, word) => macOfLogin(SECRET, name, word),
    listener: {
      ready: (server_uuid: string, peer: AmqpPeer) => void peer.deliver(`ur.execute.${server_uuid}.1`, BODY),
      gone: () => {},
      told: (key, body) => void told.push({ key, body: body.toString() }),
    },
    counters: newCounters(),
    log: () => {},
  });
});
afterAll(() => bus.close());

type Ended = { readonly code: number; readonly out: string; readonly err: string };

async function run(program: string, words: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  let [out, err] = ["", ""];
  const child = execFile(program, [...words], { env: { PATH: process.env.PATH, ...env }, maxBuffer: 4_000_000 });
  child.stdout?.on("data", (part) => out += part);
  child.stderr?.on("data", (part) => err += part);
  child.stdin?.end();
  const [status] = await once(child, "close");
  return { code: Number(status ?? -1), out, err };
}
const url = (word = password) => `amqp://${user}:${word}@127.0.0.1:${bus.port}/%2F`;

describe("amqplib", () => {
  test("works as an agent: listens, gets its message once and whole, answers, and binds nothing foreign", async () => {
    const server_uuid = randomUUID();
    const connection = await connect(url());
    const channel = await connection.createConfirmChannel();
    const refused = new Promise<Error>((resolve) => channel.on("error", resolve));
    const { queue } = await channel.assertQueue(`ur.request.${server_uuid}.${MAC}`, {
      exclusive: true,
      autoDelete: true,
    });
    // Twice, as the agent does after a broken connection.
    for (const key of [`ur.execute.${server_uuid}.*`, "ur.broadcast.*.*", `ur.execute.${server_uuid}.*`]) {
      await channel.bindQueue(queue, "amq.topic", key);
    }
    await channel.prefetch(1);
    const messages: ConsumeMessage[] = [];
    let first = () => {};
    const came = new Promise<void>((resolve) => first = resolve);
    await channel.consume(queue, (message) => {
      if (message === null) return;
      messages.push(message);
      channel.ack(message);
      first();
    });
    await came;
    expect(messages[0]!.fields.routingKey).toBe(`ur.execute.${server_uuid}.1`);
    expect(messages[0]!.properties.contentType).toBe("application/json");
    expect(messages[0]!.content.toString()).toBe(BODY);

    // Confirmed: the promise is refused when the broker refuses the message.
    channel.publish("amq.topic", `ur.execute-reply.${server_uuid}.1`, messages[0]!.content, {
      contentType: "application/json",
    });
    await channel.waitForConfirms();
    expect(told).toContainEqual({ key: `ur.execute-reply.${server_uuid}.1`, body: BODY });

    const own = await channel.assertQueue("", { exclusive: true });
    channel.sendToQueue(own.queue, Buffer.from("to myself"));
    const got = await channel.get(own.queue, { noAck: true });
    expect(got !== false && got.content.toString()).toBe("to myself");
    expect(await channel.get(own.queue)).toBe(false);
    await channel.deleteQueue(own.queue);
    expect(messages).toHaveLength(1);

    await expect(channel.bindQueue(queue, "amq.topic", "#")).rejects.toThrow(/403/);
    expect((await refused).message).toMatch(/403/);
    await connection.close();
  });

  test("is refused with another password", async () => {
    await expect(connect(url("0".repeat(32)))).rejects.toThrow();
  });
});

describe("pika", () => {
  beforeEach((context) => needs(context, "python3 with pika"));

  test("works as an agent: listens, gets its message once and whole, answers, and binds nothing foreign", async () => {
    const server_uuid = randomUUID();
    const env = { BUS_URL: url(), SERVER_UUID: server_uuid, MAC };
    const { code, out, err } = await run(present("python3 with pika"), [AGENT], env);
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toEqual({
      key: `ur.execute.${server_uuid}.1`,
      type: "application/json",
      bytes: BODY.length,
      own: "to myself",
      empty: true,
      refused: 403,
    });
    expect(told).toContainEqual({ key: `ur.execute-reply.${server_uuid}.1`, body: BODY });
  });

  test("is refused with another password", async () => {
    const env = { BUS_URL: url("0".repeat(32)), SERVER_UUID: randomUUID(), MAC };
    const { code, err } = await run(present("python3 with pika"), [AGENT], env);
    expect([code, /AuthenticationError|ConnectionClosed|StreamLost|IncompatibleProtocol/.test(err)]).toEqual([1, true]);
  });
});

describe("rabbitmq-c", () => {
  beforeEach((context) => needs(context, "amqp-consume", "amqp-declare-queue"));

  test("declares, binds and consumes, and gets its message whole", async () => {
    const queue = `ur.request.${randomUUID()}.${MAC}`;
    const key = `ur.execute.${queue.split(".")[2]}.*`;
    const words = ["-u", url(), "-q", queue, "-d", "-x", "-e", "amq.topic", "-r", key, "-c", "1", "cat"];
    const { code, out } = await run(present("amqp-consume"), words);
    expect([code, out]).toEqual([0, BODY]);
  });

  test("declares a queue of the server's naming", async () => {
    const { code, out } = await run(present("amqp-declare-queue"), ["-u", url(), "-q", ""]);
    expect([code, /^amq\.gen-[0-9a-f]{24}\n$/.test(out)]).toEqual([0, true]);
  });

  test.each([
    ["with another password", () => ["-u", url("0".repeat(32)), "-q", ""]],
    ["a queue that no machine may have", () => ["-u", url(), "-q", "ur.requests"]],
  ])("is refused %s", async (_name, words) => {
    const { code, err } = await run(present("amqp-declare-queue"), words());
    expect([code, err === ""]).toEqual([1, false]);
  });
});
