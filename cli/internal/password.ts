// Reads passwords and other secrets from the terminal without echo, or from standard input. They cannot be options of
// the command line, because other users of the machine can read the command line.
import { usageFailure } from "./failure.ts";
import type { Io } from "./io.ts";

export type PasswordSource = { readonly prompt: string; readonly from_stdin: boolean };
type SecretSource = PasswordSource & {
  /** Name of the secret in error texts. */
  readonly noun: string;
  /** The flag that reads the secret from standard input. */
  readonly flag: string;
};

/** Asks once for an existing password. */
export async function readPassword(io: Io, source: PasswordSource): Promise<string> {
  return await readSecret(io, { ...source, noun: "password", flag: "--password-stdin" });
}

/** Asks once for a secret of one line. */
export async function readSecret(io: Io, { prompt, from_stdin, noun, flag }: SecretSource): Promise<string> {
  const keyboard = await io.environment.keyboard();
  if (!from_stdin && !keyboard.isTTY) {
    throw usageFailure(`standard input is not a terminal, so there is no prompt for the ${noun}; pass ${flag}`);
  }
  const secret = from_stdin ? (await keyboard.readAll()).replace(/\r?\n$/, "") : await keyboard.readSecret(prompt);
  if (secret === "") throw usageFailure(`the ${noun} is empty`);
  if (/[\r\n]/.test(secret)) throw usageFailure(`the ${noun} must be one line`);
  return secret;
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
