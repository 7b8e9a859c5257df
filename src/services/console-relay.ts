// Manages the consoles of this process. A caller's socket waits here until the node connects to this process. The
// address of this process is in the console call. Therefore the bytes of a console pass through only one process, even
// if the node polls another process (docs/architecture.md, "Consoles"). At a fixed interval, this file checks which
// open consoles must end.
import { type ServerSocket, SOCKET_CLOSE } from "../http/websocket.ts";
import {
  type CheckedConsole,
  CONSOLE_TIMES,
  type ConsoleTimes,
  type DialledConsole,
  type LiveConsole,
  openConsole,
  type OpenedConsole,
} from "./console-live.ts";

export type ConsoleRelay = {
  open(opened: OpenedConsole): LiveConsole;
  /** Returns whether this process waits for this node to connect for the session. */
  isWaiting(id: string, cn: string): boolean;
  /** Connects the node to the caller that waits. Closes the node's socket if no caller waits any more. */
  meet(dialled: DialledConsole, node: ServerSocket): void;
  /**
   * Checks all consoles now if `changed` returns true for the instance of one of them. Does nothing while another check
   * runs.
   */
  nudge(changed: (instance_id: string) => boolean): void;
  /** Ends all consoles with this message. A console that is opened later ends at once. */
  close(message: string): void;
  count(): number;
};

export type RelayOptions = {
  /** Returns the reasons why consoles must end now, by session. */
  readonly check: (consoles: readonly CheckedConsole[]) => Promise<ReadonlyMap<string, string>>;
  readonly now_ms: () => number;
  /** Receives the error of a failed check. The next check tries again. */
  readonly failed: (message: string, error: unknown) => void;
  readonly times?: Partial<ConsoleTimes>;
};

export function createConsoleRelay({ check, now_ms, failed, times: given }: RelayOptions): ConsoleRelay {
  const times = { ...CONSOLE_TIMES, ...given };
  const consoles = new Map<string, LiveConsole>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let checking = false;
  let closed: string | null = null;

  async function checkAll(): Promise<void> {
    if (checking) return;
    checking = true;
    try {
      const all = [...consoles.values()];
      const reasons = await check(all.map(({ opened }) => opened));
      for (const [id, reason] of reasons) consoles.get(id)?.end(reason);
      await Promise.all(all.map((each) => each.check()));
    } catch (error) {
      failed("the check of open consoles failed", error);
    } finally {
      checking = false;
    }
  }

  function open(opened: OpenedConsole): LiveConsole {
    const { id } = opened;
    const ended = () => {
      consoles.delete(id);
      if (consoles.size === 0) clearInterval(timer);
      opened.ended();
    };
    if (consoles.size === 0) timer = setInterval(() => void checkAll(), times.check_ms);
    const live = openConsole({ ...opened, ended }, times, now_ms);
    consoles.set(id, live);
    if (closed !== null) live.end(closed);
    return live;
  }

  return {
    open,
    isWaiting: (id, cn) => consoles.get(id)?.waitsFor(cn) ?? false,
    meet: (dialled, node) => {
      const live = consoles.get(dialled.id);
      if (live?.waitsFor(dialled.cn)) live.meet(dialled, node);
      else node.close(SOCKET_CLOSE.normal, "");
    },
    nudge: (changed) => {
      if ([...consoles.values()].some(({ opened }) => changed(opened.instance_id))) void checkAll();
    },
    close: (message) => {
      closed = message;
      for (const live of [...consoles.values()]) live.end(message);
    },
    count: () => consoles.size,
  };
}
