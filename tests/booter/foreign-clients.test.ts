// Tests the AMQP broker with other clients: amqplib, pika, and the amqp-tools of rabbitmq-c. pika and the amqp-tools
// come from Debian packages.
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
/** A message that needs more than two frames. */
const BODY = JSON.stringify({ type: "script", script: "x".repeat(300_000) });

let broker: AmqpBroker;
const published: { key: string; body: string }[] = [];
beforeAll(async () => {
  broker = await openAmqp({
    addresses: ["127.0.0.1"],
    port: 0,
    login: (name, given) => macOfLogin(SECRET, name, given),
    listener: {
      ready: (server_uuid: string, peer: AmqpPeer) => void peer.deliver(`ur.execute.${server_uuid}.1`, BODY),
      gone: () => {},
      published: (key, body) => void published.push({ key, body: body.toString() }),
    },
    counters: newCounters(),
    log: () => {},
  });
});
afterAll(() => broker.close());

type Ended = { readonly code: number; readonly out: string; readonly err: string };

async function run(program: string, argv: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  let [out, err] = ["", ""];
  const child = execFile(program, [...argv], { env: { PATH: process.env.PATH, ...env }, maxBuffer: 4_000_000 });
  child.stdout?.on("data", (part) => out += part);
  child.stderr?.on("data", (part) => err += part);
  child.stdin?.end();
  const [status] = await once(child, "close");
  return { code: Number(status ?? -1), out, err };
}
const url = (given = password) => `amqp://${user}:${given}@127.0.0.1:${broker.port}/%2F`;

describe("amqplib", () => {
  test("can act as an agent: it gets its message once and complete, answers, and cannot bind the key #", async () => {
    const server_uuid = randomUUID();
    const connection = await connect(url());
    const channel = await connection.createConfirmChannel();
    const refused = new Promise<Error>((resolve) => channel.on("error", resolve));
    const { queue } = await channel.assertQueue(`ur.request.${server_uuid}.${MAC}`, {
      exclusive: true,
      autoDelete: true,
    });
    // Binds the first key twice, because the agent does so after a broken connection.
    for (const key of [`ur.execute.${server_uuid}.*`, "ur.broadcast.*.*", `ur.execute.${server_uuid}.*`]) {
      await channel.bindQueue(queue, "amq.topic", key);
    }
    await channel.prefetch(1);
    const messages: ConsumeMessage[] = [];
    let first = () => {};
    const arrived = new Promise<void>((resolve) => first = resolve);
    await channel.consume(queue, (message) => {
      if (message === null) return;
      messages.push(message);
      channel.ack(message);
      first();
    });
    await arrived;
    expect(messages[0]!.fields.routingKey).toBe(`ur.execute.${server_uuid}.1`);
    expect(messages[0]!.properties.contentType).toBe("application/json");
    expect(messages[0]!.content.toString()).toBe(BODY);

    // The channel confirms messages, so waitForConfirms() rejects if the broker refuses the message.
    channel.publish("amq.topic", `ur.execute-reply.${server_uuid}.1`, messages[0]!.content, {
      contentType: "application/json",
    });
    await channel.waitForConfirms();
    expect(published).toContainEqual({ key: `ur.execute-reply.${server_uuid}.1`, body: BODY });

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

  test("can act as an agent: it gets its message complete, answers, and cannot bind the key #", async () => {
    const server_uuid = randomUUID();
    const env = { AMQP_URL: url(), SERVER_UUID: server_uuid, MAC };
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
    expect(published).toContainEqual({ key: `ur.execute-reply.${server_uuid}.1`, body: BODY });
  });

  test("is refused with another password", async () => {
    const env = { AMQP_URL: url("0".repeat(32)), SERVER_UUID: randomUUID(), MAC };
    const { code, err } = await run(present("python3 with pika"), [AGENT], env);
    expect([code, /AuthenticationError|ConnectionClosed|StreamLost|IncompatibleProtocol/.test(err)]).toEqual([1, true]);
  });
});

describe("rabbitmq-c", () => {
  beforeEach((context) => needs(context, "amqp-consume", "amqp-declare-queue"));

  test("declares, binds and consumes, and gets its message complete", async () => {
    const queue = `ur.request.${randomUUID()}.${MAC}`;
    const key = `ur.execute.${queue.split(".")[2]}.*`;
    const argv = ["-u", url(), "-q", queue, "-d", "-x", "-e", "amq.topic", "-r", key, "-c", "1", "cat"];
    const { code, out } = await run(present("amqp-consume"), argv);
    expect([code, out]).toEqual([0, BODY]);
  });

  test("declares a queue that the server names", async () => {
    const { code, out } = await run(present("amqp-declare-queue"), ["-u", url(), "-q", ""]);
    expect([code, /^amq\.gen-[0-9a-f]{24}\n$/.test(out)]).toEqual([0, true]);
  });

  test.each([
    ["with another password", () => ["-u", url("0".repeat(32)), "-q", ""]],
    ["for a queue name that no machine may use", () => ["-u", url(), "-q", "ur.requests"]],
  ])("is refused %s", async (_name, argv) => {
    const { code, err } = await run(present("amqp-declare-queue"), argv());
    expect([code, err === ""]).toEqual([1, false]);
  });
});
