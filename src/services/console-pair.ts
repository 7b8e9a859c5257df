// Connects the two WebSockets of one console: the caller's and the node's. Each frame is passed on unchanged, unless it
// ends the console. The two ends limit the unconfirmed bytes by the window rule (src/lib/console/window.ts), so this
// file never waits for a slow end. If a sender breaks the rule, the console ends.
import { CONSOLE_BUFFER_BYTES_MAX, CONSOLE_FRAME_BYTES_MAX } from "../contract/limits.ts";
import { type ServerSocket, SOCKET_CLOSE } from "../http/websocket.ts";
import { controlText, parseControl } from "../lib/console/frames.ts";

export type ConsolePair = {
  /** Ends the console. The caller gets `message`. */
  end(message: string): void;
  counted(): { readonly bytes_in: number; readonly bytes_out: number; readonly used_at_ms: number };
};

export type PairOptions = {
  readonly caller: ServerSocket;
  readonly node: ServerSocket;
  readonly may_write: boolean;
  readonly now_ms: () => number;
  /** Called once, with the reason of the end. */
  readonly ended: (message: string) => void;
};

const NODE_LOST = "the connection to the node was lost: the node or its agent has stopped. Open the console again";

export function pairConsole({ caller, node, may_write, now_ms, ended }: PairOptions): ConsolePair {
  let [bytes_in, bytes_out, used_at_ms] = [0, 0, now_ms()];
  let over = false;

  function end(message: string): void {
    if (over) return;
    over = true;
    endCaller(caller, message);
    node.close(SOCKET_CLOSE.normal, "");
    ended(message);
  }

  /**
   * Passes a frame on. Ends the console if more than CONSOLE_BUFFER_BYTES_MAX wait for the receiver: the sender has
   * then ignored the window.
   */
  function pass(to: ServerSocket, data: Uint8Array | string): void {
    if (over) return;
    if (to.buffered() > CONSOLE_BUFFER_BYTES_MAX) {
      return end("one side of the console sent more than the other side can receive");
    }
    to.send(data as Uint8Array<ArrayBuffer> | string);
  }

  caller.listen({
    onData: (bytes) => {
      if (!may_write) return end("this console was opened to watch and cannot type");
      if (bytes.length > CONSOLE_FRAME_BYTES_MAX) return end("a frame of the console is too large");
      bytes_in += bytes.length;
      used_at_ms = now_ms();
      pass(node, bytes);
    },
    // The only control frame of a caller is `ack`, which controls the flow.
    onText: (text) => {
      const control = parseControl(text);
      if (control?.type === "ack") pass(node, text);
      else end("the console sent a frame that is not part of its protocol");
    },
    onClose: () => end("the user closed the console"),
  });
  node.listen({
    onData: (bytes) => {
      bytes_out += bytes.length;
      used_at_ms = now_ms();
      pass(caller, bytes);
    },
    onText: (text) => {
      const control = parseControl(text);
      if (control?.type === "end") end(control.message);
      else pass(caller, text);
    },
    onClose: () => end(NODE_LOST),
  });
  return { end, counted: () => ({ bytes_in, bytes_out, used_at_ms }) };
}

/** Sends the caller the reason of the end, and closes its socket. */
export function endCaller(caller: ServerSocket, message: string): void {
  caller.send(controlText({ type: "end", message }));
  caller.close(SOCKET_CLOSE.ended, message);
}
