// Manages one console of this process. The caller's socket waits until the node connects. Then the sockets of the
// caller and of the node form a pair. A console ends once, for one reason. The audit chain records the reason, and a
// caller that is still connected gets it.
import type { CredentialReference } from "../auth/credential-reference.ts";
import type { ConsoleMode } from "../contract/enums.ts";
import {
  CONSOLE_CHECK_MS,
  CONSOLE_DIAL_S,
  CONSOLE_IDLE_MS,
  CONSOLE_LIFETIME_MS,
  CONSOLE_RENEW_MS,
} from "../contract/limits.ts";
import type { ServerSocket } from "../http/websocket.ts";
import { type ConsolePair, endCaller, pairConsole } from "./console-pair.ts";

/** The fields of a console that its checks read. */
export type CheckedConsole = {
  readonly id: string;
  readonly instance_id: string;
  readonly cn: string;
  readonly mode: ConsoleMode;
  readonly reference: CredentialReference;
};

export type ConsoleReport =
  | { readonly type: "meet" }
  | { readonly type: "renew" }
  | { readonly type: "end"; readonly reason: string; readonly bytes_in: number; readonly bytes_out: number };

/** A console that waits for its node. */
export type OpenedConsole = CheckedConsole & {
  readonly caller: ServerSocket;
  /** Sends the report to the actor of the session. Returns false if the session has no record any more. */
  readonly report: (message: ConsoleReport) => Promise<boolean>;
  /** Called once, when the console has ended. */
  readonly ended: () => void;
};

/** A node that has connected. `still` returns whether the node's credential is still accepted. */
export type DialledConsole = { readonly id: string; readonly cn: string; readonly still: () => Promise<boolean> };

/** The time limits of a console. Tests use shorter ones. */
export const CONSOLE_TIMES = {
  check_ms: CONSOLE_CHECK_MS,
  dial_ms: CONSOLE_DIAL_S * 1_000,
  idle_ms: CONSOLE_IDLE_MS,
  lifetime_ms: CONSOLE_LIFETIME_MS,
  renew_ms: CONSOLE_RENEW_MS,
};
export type ConsoleTimes = typeof CONSOLE_TIMES;

export type LiveConsole = {
  readonly opened: OpenedConsole;
  /** Whether the console waits for this node. */
  waitsFor(cn: string): boolean;
  meet(dialled: DialledConsole, node: ServerSocket): void;
  end(message: string): void;
  /**
   * Ends or renews the console if one of its time limits is reached, and checks the node's credential. Rejects if the
   * check itself fails.
   */
  check(): Promise<void>;
};

const NODE_SILENT = "the node of the instance does not answer. Try again later, or ask the operator";
const USER_LEFT = "the user closed the console";
const LAPSED = "the control plane could not renew the console in time and recorded its end. Open it again";
const MINUTE_MS = 60_000;

export function openConsole(opened: OpenedConsole, times: ConsoleTimes, now_ms: () => number): LiveConsole {
  const { caller, mode, report } = opened;
  const opened_at_ms = now_ms();
  let renewed_at_ms = opened_at_ms;
  let pair: ConsolePair | null = null;
  let still: DialledConsole["still"] | null = null;
  let over = false;
  const late = setTimeout(() => end(NODE_SILENT), times.dial_ms);

  function finish(reason: string): void {
    if (over) return;
    over = true;
    clearTimeout(late);
    const { bytes_in, bytes_out } = pair?.counted() ?? { bytes_in: 0, bytes_out: 0 };
    void report({ type: "end", reason, bytes_in, bytes_out });
    opened.ended();
  }

  function end(message: string): void {
    if (over) return;
    if (pair !== null) return pair.end(message);
    endCaller(caller, message);
    finish(message);
  }

  /** Sends the report. Ends the console if another process recorded its end because the lease expired. */
  async function keep(message: ConsoleReport): Promise<void> {
    if (!await report(message)) end(LAPSED);
  }

  caller.listen({
    onData: () => end("the console sent bytes before the node was connected"),
    onText: () => {},
    onClose: () => finish(USER_LEFT),
  });

  return {
    opened,
    waitsFor: (cn) => !over && pair === null && cn === opened.cn,
    end,
    meet: (dialled, node) => {
      clearTimeout(late);
      still = dialled.still;
      pair = pairConsole({ caller, node, may_write: mode === "write", now_ms, ended: finish });
      void keep({ type: "meet" });
    },
    check: async () => {
      const now = now_ms();
      if (now - opened_at_ms >= times.lifetime_ms) {
        return end(`a console is closed after ${times.lifetime_ms / MINUTE_MS / 60} hours. Open it again`);
      }
      if (pair === null) return;
      if (now - pair.counted().used_at_ms >= times.idle_ms) {
        return end(`the console was closed because no data was sent for ${times.idle_ms / MINUTE_MS} minutes`);
      }
      if (now - renewed_at_ms >= times.renew_ms) {
        renewed_at_ms = now;
        void keep({ type: "renew" });
      }
      if (still !== null && !await still()) end("the node was removed or its key was replaced");
    },
  };
}
