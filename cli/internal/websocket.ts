// Opens WebSockets for the programs, with the client of the runtime.
import { EXIT } from "./exit-code.ts";
import { Failure } from "./failure.ts";
import { Unreachable } from "./exchange.ts";

export type SocketListener = {
  readonly onData: (bytes: Uint8Array) => void;
  readonly onText: (text: string) => void;
  /** Called once, however the socket ended. `reason` is empty if the other end gave none. */
  readonly onClose: (reason: string) => void;
};

export type ClientSocket = {
  send(data: string | Uint8Array): void;
  close(): void;
  /** Sets the only listener. The listener also gets the frames that arrived before this call. */
  listen(listener: SocketListener): void;
};

export type DialOptions = {
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
};

export type Dial = (url: string, options: DialOptions) => Promise<ClientSocket>;

/** The constructor of the runtimes also accepts headers. The type of the web standard has only the protocols. */
type Construct = new (url: string, options: { protocols: string[]; headers: Record<string, string> }) => WebSocket;

/**
 * Opens a WebSocket. `url` begins with http or https. Throws Unreachable if the server cannot be reached or refuses the
 * handshake, and an interrupted Failure when `signal` aborts.
 */
export function dialSocket(url: string, { protocols, headers, signal }: DialOptions): Promise<ClientSocket> {
  // See Construct: the web standard's type has no headers.
  const socket = new (WebSocket as unknown as Construct)(url.replace(/^http/, "ws"), {
    protocols: [...protocols],
    headers: { ...headers },
  });
  socket.binaryType = "arraybuffer";
  return new Promise((resolve, reject) => {
    const stop = () => {
      socket.close();
      reject(new Failure("interrupted", EXIT.interrupted));
    };
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    const refuse = (event: Event) => {
      signal.removeEventListener("abort", stop);
      const why = (event as ErrorEvent).message || "the server did not accept the WebSocket";
      reject(new Unreachable(`cannot open the WebSocket: ${why}`, EXIT.unreachable));
    };
    socket.addEventListener("error", refuse, { once: true });
    socket.addEventListener("open", () => {
      signal.removeEventListener("abort", stop);
      socket.removeEventListener("error", refuse);
      socket.addEventListener("error", () => {}); // The event "close" follows.
      resolve(clientSocket(socket));
    }, { once: true });
  });
}

function clientSocket(socket: WebSocket): ClientSocket {
  let listener: SocketListener | null = null;
  let early: ((to: SocketListener) => void)[] = [];
  const tell = (event: (to: SocketListener) => void) => listener === null ? void early.push(event) : event(listener);
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") tell((to) => to.onText(data));
    else tell((to) => to.onData(new Uint8Array(data as ArrayBuffer)));
  });
  socket.addEventListener("close", ({ reason }) => tell((to) => to.onClose(reason)), { once: true });
  return {
    send: (data) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(data as string | Uint8Array<ArrayBuffer>);
    },
    close: () => socket.close(),
    listen: (given) => {
      listener = given;
      const waiting = early;
      early = [];
      for (const event of waiting) event(given);
    },
  };
}
