// Reads passwords from the terminal without echo, or from standard input. The programs never read passwords from the
// command line, which other users of the machine can read.
import { usageFailure } from "./failure.ts";
import type { Io } from "./io.ts";

export type PasswordSource = { readonly prompt: string; readonly from_stdin: boolean };

/** Asks once for an existing password. */
export async function readPassword(io: Io, { prompt, from_stdin }: PasswordSource): Promise<string> {
  const keyboard = await io.environment.keyboard();
  if (from_stdin) return checked((await keyboard.readAll()).replace(/\r?\n$/, ""));
  if (!keyboard.isTTY) {
    throw usageFailure(
      "standard input is not a terminal, so there is no prompt for the password; pass --password-stdin",
    );
  }
  return checked(await keyboard.readSecret(prompt));
}

/** Asks for a new password, on a terminal twice. */
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
