// Connects the console of one VM with its users: one user types, and others watch. The node decides who types, because
// every connection to the console leads to the node, whichever server process relays it. Each user has a position in
// the console's output (feed.ts), and a window of bytes that the user can take now. Nothing is queued for a slow user.
import type { ConsoleCall } from "../../src/contract/console.ts";
import { CONSOLE_FRAME_BYTES_MAX, CONSOLE_WINDOW_BYTES, CONSOLES_PER_INSTANCE_MAX } from "../../src/contract/limits.ts";
import { type ConsoleControl, controlText, parseControl } from "../../src/lib/console/frames.ts";
import { createReceipts, createSendWindow, type SendWindow } from "../../src/lib/console/window.ts";
import type { ClientSocket } from "../../cli/internal/websocket.ts";
import type { VmConsole } from "../driver.ts";
import { createFeed } from "./feed.ts";

type User = {
  readonly call: ConsoleCall;
  readonly socket: ClientSocket;
  readonly window: SendWindow;
  /** The position of the next byte to send. */
  at: number;
  /** The position at which a request for the log ends; null for an open console, which has no end. */
  readonly until: number | null;
};

export type Hub = {
  join(call: ConsoleCall, socket: ClientSocket): void;
  /** Continues with the VM's new console, after the VM or its driver replaced the old one. */
  follow(console: VmConsole): void;
  /** Ends all connections with this message. */
  end(message: string): void;
  count(): number;
};

/** @param left called when the last user has left */
export function createHub(first: VmConsole, left: () => void): Hub {
  const feed = createFeed();
  const users = new Set<User>();
  let typist: User | null = null;
  let console = first;
  let stop = subscribe();

  function subscribe(): () => void {
    feed.append(console.ring());
    return console.subscribe((bytes) => {
      feed.append(bytes);
      for (const user of users) advance(user);
    });
  }

  const tell = ({ socket }: Pick<User, "socket">, control: ConsoleControl) => socket.send(controlText(control));

  /** Sends as many of the next bytes as the user's window permits. */
  function advance(user: User): void {
    const { window, until, socket } = user;
    const end = () => Math.min(feed.end(), until ?? Infinity);
    // The lost bytes are reported only when the window permits more bytes. So a slow user does not get a report for
    // each lost piece.
    if (user.at < feed.start() && window.room() > 0) {
      tell(user, { type: "skipped", bytes: feed.start() - user.at });
      user.at = feed.start();
    }
    while (user.at < end() && window.room() > 0) {
      const bytes = feed.read(user.at, Math.min(CONSOLE_FRAME_BYTES_MAX, window.room(), end() - user.at));
      socket.send(bytes);
      window.sent(bytes.length);
      user.at += bytes.length;
    }
    if (until !== null && user.at >= until) {
      tell(user, { type: "done" });
      leave(user);
    }
  }

  function leave(user: User): void {
    if (!users.delete(user)) return;
    if (typist === user) typist = null;
    if (users.size > 0) return;
    stop();
    left();
  }

  function dismiss(user: User, message: string): void {
    tell(user, { type: "end", message });
    user.socket.close();
    leave(user);
  }

  /** Returns why the user cannot join, or null. If the user takes over, the user who typed until now can only watch. */
  function refusal({ mode, take_over, username }: ConsoleCall): string | null {
    if (users.size >= CONSOLES_PER_INSTANCE_MAX) return `the instance has ${CONSOLES_PER_INSTANCE_MAX} open consoles`;
    if (mode !== "write" || typist === null) return null;
    if (!take_over) {
      return `${typist.call.username} is typing in this console. Watch with --watch, or take it over with --take-over`;
    }
    tell(typist, { type: "demoted", by: username });
    typist = null;
    return null;
  }

  function refuse(socket: ClientSocket, message: string): void {
    tell({ socket }, { type: "end", message });
    socket.close();
    if (users.size === 0) {
      stop();
      left();
    }
  }

  function join(call: ConsoleCall, socket: ClientSocket): void {
    const refused = refusal(call);
    if (refused !== null) return refuse(socket, refused);
    const isLog = call.mode === "log";
    const at = isLog ? feed.start() : Math.max(feed.start(), feed.end() - call.history_bytes);
    const user: User = { call, socket, window: createSendWindow(), at, until: isLog ? feed.end() : null };
    users.add(user);
    if (call.mode === "write") typist = user;
    const used = createReceipts((bytes) => tell(user, { type: "ack", bytes }));
    tell(user, { type: "ready", writer: call.mode === "write" });
    /** The number of bytes that the user typed and that the VM has not taken yet. */
    let untaken = 0;

    async function type(bytes: Uint8Array): Promise<void> {
      untaken += bytes.length;
      if (untaken > CONSOLE_WINDOW_BYTES) {
        return dismiss(user, "the client sent more input than its window allows; open the console again");
      }
      if (typist === user) await console.write(bytes);
      untaken -= bytes.length;
      if (users.has(user)) used(bytes.length);
    }

    socket.listen({
      onData: (bytes) => void type(bytes),
      onText: (text) => {
        const control = parseControl(text);
        if (control?.type !== "ack") return;
        if (user.window.confirmed(control.bytes)) advance(user);
        else socket.close();
      },
      onClose: () => leave(user),
    });
    advance(user);
  }

  return {
    join,
    follow: (next) => {
      if (next === console) return;
      stop();
      console = next;
      stop = subscribe();
      for (const user of users) advance(user);
    },
    end: (message) => {
      for (const user of [...users]) dismiss(user, message);
    },
    count: () => users.size,
  };
}
