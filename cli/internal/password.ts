// Passwords come from the terminal, without echo, or from standard input; never from the command line, which others can
// read.
import { usageFailure } from "./failure.ts";
import type { Io } from "./io.ts";

export type PasswordSource = { readonly prompt: string; readonly from_stdin: boolean };

/** A password that exists already, asked for once. */
export async function readPassword(io: Io, { prompt, from_stdin }: PasswordSource): Promise<string> {
  const keyboard = await io.environment.keyboard();
  if (from_stdin) return checked((await keyboard.readAll()).replace(/\r?\n$/, ""));
  if (!keyboard.isTTY) throw usageFailure("no terminal to ask for the password on; pass --password-stdin");
  return checked(await keyboard.readSecret(prompt));
}

/** A password that is being made, asked for twice on a terminal. */
export async function readNewPassword(io: Io, source: PasswordSource): Promise<string> {
  const password = await readPassword(io, source);
  if (source.from_stdin) return password;
  if (await (await io.environment.keyboard()).readSecret("Again: ") !== password) {
    throw usageFailure("the two passwords differ");
  }
  return password;
}

function checked(password: string): string {
  if (password === "") throw usageFailure("the password is empty");
  if (/[\r\n]/.test(password)) throw usageFailure("the password must be one line");
  return password;
}
