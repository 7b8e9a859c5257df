// Reads and writes requests and answers on a connection between two nodes, each as one line of JSON. Bytes that arrive
// after the line are returned to the caller.
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";

/** A request contains ids, a ticket, a few fields, and at most a few maps with about one entry for each disk. */
const LINE_BYTES_MAX = 256 * 2 ** 10;
const NEWLINE = 10;

export type Line = { readonly value: Readonly<Record<string, unknown>>; readonly rest: Uint8Array };

export function writeLine(socket: Socket, value: object): void {
  socket.write(`${JSON.stringify(value)}\n`);
}

/**
 * Reads one line and pauses the connection. The line must be a JSON object or array. Throws a Failure if it is not, if
 * more than LINE_BYTES_MAX bytes arrive without a newline, if the line arrives too late, or if the connection ends.
 */
export function readLine(socket: Socket, limit_ms: number): Promise<Line> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const end = (done: () => void) => {
      clearTimeout(timer);
      socket.off("data", take).off("error", fail).off("close", closed);
      done();
    };
    const refuse = (why: string) => end(() => reject(new Failure(why, EXIT.failure)));
    const fail = (error: Error) => refuse(`the connection between the nodes failed: ${error.message}`);
    const closed = () => refuse("the other node closed the connection");
    const take = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const at = bytes.indexOf(NEWLINE);
      if (at < 0) {
        return bytes.length > LINE_BYTES_MAX ? refuse("the other node sent a line that is too long") : undefined;
      }
      socket.pause();
      const value = parse(bytes.subarray(0, at).toString("utf8"));
      const rest = new Uint8Array(bytes.subarray(at + 1));
      if (value === null) refuse("the other node sent no JSON object");
      else end(() => resolve({ value, rest }));
    };
    const timer = setTimeout(() => refuse(`the other node did not answer in ${limit_ms} ms`), limit_ms);
    socket.on("data", take).on("error", fail).on("close", closed);
    socket.resume();
  });
}

function parse(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value as Readonly<Record<string, unknown>> : null;
  } catch {
    return null;
  }
}
