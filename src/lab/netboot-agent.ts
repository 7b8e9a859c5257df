// The agent of a machine that netbooted: on the boot bus with the login that its kernel got, it tells the machine's
// inventory and takes what it is to run. AMQP 0-9-1, as far as the agent of the platform uses it.
import { Buffer } from "node:buffer";
import { connect } from "node:net";
import {
  BODY,
  contentFrames,
  type Frame,
  frame,
  HEADER,
  METHOD,
  newFrameCutter,
  PROTOCOL_HEADER,
} from "../../booter/bus/frame.ts";
import { longText, readerOf, shortText, u16, u32, u8 } from "../../booter/bus/wire.ts";

export type NetbootAgent = {
  tell(topic: string, content: unknown): void;
  /** The next message, and the routing key it came with. */
  next(): Promise<{ readonly key: string; readonly content: Record<string, unknown> }>;
  close(): void;
};

export type NetbootAgentOptions = {
  readonly login: { readonly user: string; readonly password: string };
  readonly port: number;
  /** The machine's address. */
  readonly from: string;
  readonly server_uuid: string;
  readonly mac: string;
};

const FRAME_BYTES_MAX = 131_072;
const NO_FLAGS = u8(0);

export async function netbootAgent(
  { login, port, from, server_uuid, mac }: NetbootAgentOptions,
): Promise<NetbootAgent> {
  const socket = connect({ host: "127.0.0.1", port, localAddress: from });
  const cutter = newFrameCutter();
  const frames: Frame[] = [];
  let wake = () => {};
  let over = false;
  socket.on("data", (bytes) => {
    frames.push(...cutter.push(bytes as Buffer));
    wake();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    over = true;
    wake();
  });

  async function nextFrame(type: number): Promise<Buffer> {
    for (;;) {
      const found = frames.shift();
      if (found?.type === type) return found.payload;
      if (found !== undefined) continue;
      if (over) throw new Error("the boot bus has closed the connection");
      await new Promise<void>((resolve) => wake = resolve);
    }
  }
  const send = (channel: number, class_id: number, method_id: number, ...parts: Buffer[]) =>
    void socket.write(frame(METHOD, channel, Buffer.concat([u16(class_id), u16(method_id), ...parts])));
  /** Sends, and waits for the method that comes back. */
  const ask = async (...words: Parameters<typeof send>) => {
    send(...words);
    await nextFrame(METHOD);
  };

  socket.write(PROTOCOL_HEADER);
  await nextFrame(METHOD);
  const response = longText(`\0${login.user}\0${login.password}`);
  await ask(0, 10, 11, u32(0), shortText("PLAIN"), response, shortText("en_US"));
  send(0, 10, 31, u16(0), u32(FRAME_BYTES_MAX), u16(30));
  await ask(0, 10, 40, shortText("/"), shortText(""), NO_FLAGS);
  await ask(1, 20, 10, shortText(""));
  const queue = shortText(`ur.request.${server_uuid}.${mac}`);
  await ask(1, 50, 10, u16(0), queue, u8(0b1100), u32(0));
  for (const key of [`ur.execute.${server_uuid}.*`, "ur.broadcast.*.*"]) {
    await ask(1, 50, 20, u16(0), queue, shortText("amq.topic"), shortText(key), NO_FLAGS, u32(0));
  }
  // Without acknowledgements.
  await ask(1, 60, 20, u16(0), queue, shortText(""), u8(0b10), u32(0));

  return {
    tell(topic, content) {
      send(1, 60, 40, u16(0), shortText("amq.topic"), shortText(topic), NO_FLAGS);
      const json = Buffer.concat([u16(0x8000), shortText("application/json")]);
      socket.write(contentFrames(1, json, Buffer.from(JSON.stringify(content)), FRAME_BYTES_MAX));
    },
    async next() {
      const deliver = readerOf(await nextFrame(METHOD));
      deliver.u32();
      deliver.shortText();
      deliver.u64();
      deliver.u8();
      deliver.shortText();
      const key = deliver.shortText();
      const header = readerOf(await nextFrame(HEADER));
      header.u32();
      const size = header.u64();
      let body = Buffer.alloc(0);
      while (body.length < size) body = Buffer.concat([body, await nextFrame(BODY)]);
      return { key, content: JSON.parse(body.toString()) };
    },
    close: () => socket.destroy(),
  };
}
