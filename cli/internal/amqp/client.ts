// Implements an AMQP 0-9-1 client with only the methods that a machine's agent uses. The agent of a Linux node image
// and the simulated machines share it.
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import {
  BODY,
  contentFrames,
  type Frame,
  frame,
  HEADER,
  HEARTBEAT,
  METHOD,
  newFrameCutter,
  PROTOCOL_HEADER,
} from "./frame.ts";
import { longText, readerOf, shortText, u16, u32, u64, u8 } from "./wire.ts";
import { AMQP_FRAME_BYTES_MAX } from "./limits.ts";

/**
 * The broker ends a connection on which nothing arrives for two of these intervals. The client sends a frame in each
 * half of an interval.
 */
const HEARTBEAT_S = 30;

export type Method = { readonly id: string; readonly channel: number; readonly args: Buffer };
export type Delivery = { readonly channel: number; readonly tag: number; readonly key: string; readonly body: string };

export type AmqpClient = {
  readonly socket: Socket;
  send(channel: number, class_id: number, method_id: number, ...parts: Buffer[]): void;
  /** Waits for the method "class.method". Drops other methods that arrive before it. */
  expect(id: string): Promise<Method>;
  publish(channel: number, key: string, body: string, exchange?: string): void;
  delivery(): Promise<Delivery>;
  ended(): Promise<void>;
  close(): void;
};

/** Returns the content of a field table with the login as long strings. */
function loginTable(user: string, password: string): Buffer {
  const field = (name: string, text: string) => Buffer.concat([shortText(name), Buffer.from("S"), longText(text)]);
  return Buffer.concat([field("LOGIN", user), field("PASSWORD", password)]);
}

/**
 * Opens a TCP connection, on which `login` then opens the AMQP connection. Throws the socket's error.
 * @param from the local address; by default the operating system chooses it
 */
export async function openClient(port: number, from?: string, host = "127.0.0.1"): Promise<AmqpClient> {
  const socket = connect({ host, port, ...(from === undefined ? {} : { localAddress: from }) });
  const cutter = newFrameCutter();
  const methods: Method[] = [];
  const deliveries: Delivery[] = [];
  let partial: { channel: number; tag: number; key: string; size: number; parts: Buffer[] } | null = null;
  let wake: (() => void)[] = [];
  let over = false;
  const changed = () => {
    const waiting = wake;
    wake = [];
    for (const each of waiting) each();
  };
  const finish = () => {
    if (partial === null) return;
    const body = Buffer.concat(partial.parts);
    if (body.length < partial.size) return;
    deliveries.push({ channel: partial.channel, tag: partial.tag, key: partial.key, body: body.toString() });
    partial = null;
  };
  const take = ({ type, channel, payload }: Frame) => {
    if (type === METHOD) {
      const reader = readerOf(payload);
      const id = `${reader.u16()}.${reader.u16()}`;
      const args = Buffer.from(reader.rest());
      if (id === "60.60") {
        const fields = readerOf(args);
        fields.shortText();
        const tag = fields.u64();
        fields.u8();
        fields.shortText();
        partial = { channel, tag, key: fields.shortText(), size: -1, parts: [] };
      } else methods.push({ id, channel, args });
    } else if (type === HEADER && partial !== null) {
      const reader = readerOf(payload);
      reader.u32();
      partial.size = reader.u64();
      finish();
    } else if (type === BODY && partial !== null) {
      partial.parts.push(Buffer.from(payload));
      finish();
    }
  };
  socket.on("data", (bytes) => {
    for (const each of cutter.push(bytes as Buffer)) take(each);
    changed();
  });
  socket.on("error", () => {});
  const beat = setInterval(() => socket.write(frame(HEARTBEAT, 0, Buffer.alloc(0))), HEARTBEAT_S * 500);
  beat.unref();
  socket.on("close", () => {
    clearInterval(beat);
    over = true;
    changed();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", () => resolve());
    socket.once("error", reject);
  });
  const until = async <T>(found: () => T | undefined): Promise<T> => {
    for (;;) {
      const value = found();
      if (value !== undefined) return value;
      if (over) throw new Error("the connection ended");
      await new Promise<void>((resolve) => wake.push(resolve));
    }
  };
  const send: AmqpClient["send"] = (channel, class_id, method_id, ...parts) =>
    void socket.write(frame(METHOD, channel, Buffer.concat([u16(class_id), u16(method_id), ...parts])));
  return {
    socket,
    send,
    expect: (id) =>
      until(() => {
        const at = methods.findIndex((each) => each.id === id);
        return at < 0 ? undefined : methods.splice(0, at + 1).at(-1);
      }),
    publish(channel, key, body, exchange = "amq.topic") {
      send(channel, 60, 40, u16(0), shortText(exchange), shortText(key), u8(0));
      const properties = Buffer.concat([u16(0x8000), shortText("application/json")]);
      socket.write(contentFrames(channel, properties, Buffer.from(body), AMQP_FRAME_BYTES_MAX));
    },
    delivery: () => until(() => deliveries.shift()),
    ended: () => over ? Promise.resolve() : until(() => over ? true : undefined).then(() => {}, () => {}),
    close: () => socket.destroy(),
  };
}

export type Login = { readonly user: string; readonly password: string; readonly mechanism?: "PLAIN" | "AMQPLAIN" };

/** Sends the protocol header, logs in and opens the virtual host "/". */
export async function login(client: AmqpClient, { user, password, mechanism = "AMQPLAIN" }: Login): Promise<void> {
  client.socket.write(PROTOCOL_HEADER);
  await client.expect("10.10");
  const response = mechanism === "PLAIN" ? Buffer.from(`\0${user}\0${password}`) : loginTable(user, password);
  client.send(0, 10, 11, u32(0), shortText(mechanism), u32(response.length), response, shortText("en_US"));
  await client.expect("10.30");
  client.send(0, 10, 31, u16(0), u32(AMQP_FRAME_BYTES_MAX), u16(HEARTBEAT_S));
  client.send(0, 10, 40, shortText("/"), shortText(""), u8(1));
  await client.expect("10.41");
}

export async function openChannel(client: AmqpClient, channel: number): Promise<void> {
  client.send(channel, 20, 10, shortText(""));
  await client.expect("20.11");
}

export async function declare(client: AmqpClient, channel: number, queue: string): Promise<string> {
  client.send(channel, 50, 10, u16(0), shortText(queue), u8(0b1100), u32(0));
  const { args } = await client.expect("50.11");
  return readerOf(args).shortText();
}

export async function bind(client: AmqpClient, channel: number, queue: string, key: string): Promise<void> {
  client.send(channel, 50, 20, u16(0), shortText(queue), shortText("amq.topic"), shortText(key), u8(0), u32(0));
  await client.expect("50.21");
}

export async function consume(client: AmqpClient, channel: number, queue: string): Promise<void> {
  client.send(channel, 60, 20, u16(0), shortText(queue), shortText(""), u8(0), u32(0));
  await client.expect("60.21");
}

export function ack(client: AmqpClient, { channel, tag }: Delivery): void {
  client.send(channel, 60, 80, u64(tag), u8(0));
}
