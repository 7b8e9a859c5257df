// The question before something that cannot be undone: the user types the name of what it concerns, so that a command
// recalled from the history does not hit the wrong machine.
import { EXIT } from "./exit-code.ts";
import { Failure, usageFailure } from "./failure.ts";
import type { Io } from "./io.ts";
import { plainText } from "./plain-text.ts";

export type Question = {
  /** What will happen, in whole lines that are safe to print. */
  readonly warning: string;
  /** What may be typed; the first is asked for. */
  readonly names: readonly [string, ...string[]];
};

/** Throws unless the user agreed. Without a terminal only `--yes` is agreement. */
export async function confirm(io: Io, yes: boolean, question: () => Promise<Question>): Promise<void> {
  if (yes) return;
  const keyboard = await io.environment.keyboard();
  if (!keyboard.isTTY) throw usageFailure("this asks for confirmation and there is no terminal; pass --yes to agree");
  const { warning, names } = await question();
  io.environment.stderr.write(`${warning}\n`);
  const typed = (await keyboard.readLine(`Type ${plainText(names[0])} to go on: `)).trim();
  if (!names.includes(typed)) throw new Failure("not confirmed; nothing was changed", EXIT.failure);
}
