// Asks for confirmation of an irreversible action. The user types the object's name, so that a command from the shell
// history does not change the wrong machine. The rule of all verbs is docs/architecture.md, "Confirmations".
import { EXIT } from "./exit-code.ts";
import { Failure, usageFailure } from "./failure.ts";
import type { Io } from "./io.ts";
import type { Keyboard } from "./keyboard.ts";
import { plainText } from "./plain-text.ts";

export type Question = {
  /** The consequences, in lines that are safe to print. */
  readonly warning: string;
  /** Accepted answers; the prompt shows the first. */
  readonly names: readonly [string, ...string[]];
};

/** Throws unless the user confirms. Without a terminal only `--yes` confirms. */
export async function confirm(io: Io, yes: boolean, question: () => Promise<Question>): Promise<void> {
  if (yes) return;
  const keyboard = await io.environment.keyboard();
  if (!keyboard.isTTY) {
    throw usageFailure("this needs confirmation, and standard input is not a terminal; pass --yes to confirm");
  }
  await ask(io, keyboard, question);
}

/**
 * Throws if a user at a terminal does not confirm. Without a terminal it does not ask, because a script names the
 * object itself.
 */
export async function confirmOnTerminal(io: Io, yes: boolean, question: () => Promise<Question>): Promise<void> {
  if (yes) return;
  const keyboard = await io.environment.keyboard();
  if (keyboard.isTTY) await ask(io, keyboard, question);
}

async function ask(io: Io, keyboard: Keyboard, question: () => Promise<Question>): Promise<void> {
  const { warning, names } = await question();
  io.environment.stderr.write(`${warning}\n`);
  const typed = (await keyboard.readLine(`Type ${plainText(names[0])} to continue: `)).trim();
  if (!names.includes(typed)) throw new Failure("not confirmed; nothing was changed", EXIT.failure);
}
