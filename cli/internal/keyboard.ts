// Reads standard input: a whole pipe, one line from a terminal with or without echo, or every byte as it arrives.
import { Buffer } from "node:buffer";
import process from "node:process";
import { EXIT } from "./exit-code.ts";
import { Failure, usageFailure } from "./failure.ts";

export type Keyboard = {
  readonly isTTY: boolean;
  /** Returns all of standard input. Throws a usage Failure unless it is UTF-8 text. */
  readAll(): Promise<string>;
  /**
   * Shows `prompt` on stderr and reads one line without echo. Ctrl-U clears the line; Ctrl-C ends the command with exit
   * code 130.
   */
  readSecret(prompt: string): Promise<string>;
  /** Shows `prompt` on stderr and reads one line with echo. The end of input also ends the line. */
  readLine(prompt: string): Promise<string>;
  /**
   * Passes on every byte of standard input, including Ctrl-C from a terminal, until the returned function is called.
   * After each chunk, waits for the promise of `onBytes` before it reads the next chunk. Calls `onEnd` at the end of
   * input.
   */
  readRaw(onBytes: (bytes: Uint8Array) => Promise<void>, onEnd: () => void): () => void;
};

/** Opens standard input. Ctrl-C aborts `signal`, and then `readLine` fails with exit code 130. */
export function openKeyboard(signal: AbortSignal): Keyboard {
  return {
    isTTY: process.stdin.isTTY === true,
    readAll,
    readSecret,
    readLine: (prompt) => readLine(prompt, signal),
    readRaw,
  };
}

function readRaw(onBytes: (bytes: Uint8Array) => Promise<void>, onEnd: () => void): () => void {
  const { stdin } = process;
  const onData = (chunk: Uint8Array) => {
    stdin.pause();
    // The caller of readRaw itself reports a failure of `onBytes`, for example the end of a connection.
    onBytes(chunk).then(() => isOver || stdin.resume(), () => {});
  };
  let isOver = false;
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on("data", onData);
  stdin.once("end", onEnd);
  stdin.resume();
  return () => {
    isOver = true;
    stdin.off("data", onData);
    stdin.off("end", onEnd);
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.pause();
  };
}

async function readAll(): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    throw usageFailure("standard input is not UTF-8 text");
  }
}

function readLine(prompt: string, signal: AbortSignal): Promise<string> {
  const { stdin, stderr } = process;
  return new Promise((resolve, reject) => {
    let line = "";
    // `shown` is a line break if the input of the user did not end with a line break.
    const finish = (end: () => void, shown = "") => {
      stdin.off("data", onData);
      stdin.off("end", onEnd);
      signal.removeEventListener("abort", onAbort);
      stdin.pause();
      stderr.write(shown);
      end();
    };
    const onEnd = () => finish(() => resolve(line), "\n");
    const onAbort = () => finish(() => reject(new Failure("interrupted", EXIT.interrupted)), "\n");
    const onData = (chunk: Uint8Array) => {
      line += Buffer.from(chunk).toString("utf8");
      const end = line.indexOf("\n");
      if (end >= 0) finish(() => resolve(line.slice(0, end).replace(/\r$/, "")));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    stdin.on("data", onData);
    stdin.once("end", onEnd);
    stdin.resume();
    stderr.write(prompt);
  });
}

function readSecret(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  return new Promise((resolve, reject) => {
    let line = "";
    const finish = (end: () => void) => {
      stdin.off("data", onData);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write("\n");
      end();
    };
    const onData = (chunk: Uint8Array) => {
      for (const mark of Buffer.from(chunk).toString("utf8")) {
        if (mark === "\r" || mark === "\n") return finish(() => resolve(line));
        if (mark === "\u0003") return finish(() => reject(new Failure("interrupted", EXIT.interrupted)));
        if (mark === "\u0004" && line === "") return finish(() => resolve(""));
        if (mark === "\u0015") line = "";
        else if (mark === "\u007f" || mark === "\b") line = [...line].slice(0, -1).join("");
        else if (mark >= " ") line += mark;
      }
    };
    // Sets raw mode before the prompt: until then, the terminal echoes typed keys.
    stdin.setRawMode(true);
    stdin.on("data", onData);
    stdin.resume();
    stderr.write(prompt);
  });
}
