// Sends HTTP requests byte for byte over connections that stay open. A client library would normalize their paths. Each
// character of a request is sent as one byte.
import { connect, type Socket } from "node:net";

export type RawTarget = {
  readonly port: number;
  /** The source address of the requests. */
  readonly from?: string;
};

/** The status of an answer; 0 if the server closed the connection without an answer. */
export type Status = number;

const LANES = 8;

/** Sends the requests. Returns the status of each answer, in their order. */
export async function sendRaw(target: RawTarget, requests: readonly string[]): Promise<readonly Status[]> {
  const statuses: Status[] = [];
  let next = 0;
  const lane = async () => {
    let open: Connection | null = null;
    while (next < requests.length) {
      const at = next++;
      open ??= await openConnection(target);
      const { status, kept } = await open.ask(requests[at]!);
      statuses[at] = status;
      if (!kept) {
        open.close();
        open = null;
      }
    }
    open?.close();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return statuses;
}

type Connection = {
  ask(request: string): Promise<{ readonly status: Status; readonly kept: boolean }>;
  close(): void;
};

async function openConnection({ port, from }: RawTarget): Promise<Connection> {
  const socket: Socket = connect({ port, host: "127.0.0.1", localAddress: from });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  let text = "";
  let ended = false;
  let wake = () => {};
  socket.setEncoding("latin1");
  socket.on("data", (part) => {
    text += part;
    wake();
  });
  socket.on("error", () => {}); // The event "close" follows.
  socket.on("close", () => {
    ended = true;
    wake();
  });
  return {
    async ask(request) {
      text = "";
      socket.write(request, "latin1");
      for (;;) {
        const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
        if (ended) return { status, kept: false };
        if (isWhole(text, request.startsWith("HEAD "))) return { status, kept: !/^connection: close/im.test(text) };
        await new Promise<void>((resolve) => wake = resolve);
      }
    },
    close: () => void socket.destroy(),
  };
}

function isWhole(text: string, is_head: boolean): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return false;
  if (is_head) return true;
  const [, length] = /^content-length: (\d+)/im.exec(text.slice(0, end)) ?? [];
  const body = text.slice(end + 4);
  return length === undefined ? body.endsWith("0\r\n\r\n") : body.length >= Number(length);
}
