// Reading from standard input: all of a pipe, or one line from a terminal without showing it.
import { Buffer } from "node:buffer";
import process from "node:process";
import { EXIT } from "./exit-code.ts";
import { Failure } from "./failure.ts";

export type Keyboard = {
  readonly isTTY: boolean;
  readAll(): Promise<string>;
  /** Shows `prompt` on stderr and reads one line without echo. Ctrl-U clears it, Ctrl-C ends with 130. */
  readSecret(prompt: string): Promise<string>;
};

export function openKeyboard(): Keyboard {
  return { isTTY: process.stdin.isTTY === true, readAll, readSecret };
}

async function readAll(): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks).toString("utf8");
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
    // Raw mode first: a key typed before it would be shown.
    stdin.setRawMode(true);
    stdin.on("data", onData);
    stdin.resume();
    stderr.write(prompt);
  });
}
