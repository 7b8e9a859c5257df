// How a program with nouns and verbs starts: its front page at once, anything else through the parser, which is loaded
// only then.
import process from "node:process";
import { type Front, frontText } from "./front-page.ts";
import { EXIT, type ExitCode } from "./kit/exit-code.ts";
import { processWorld, watchSignals, type World } from "./kit/world.ts";

export type Program = {
  readonly front: Front;
  /** Loads the parser and runs the verb. */
  run(words: readonly string[], world: World): Promise<ExitCode>;
};

export async function start(program: Program): Promise<void> {
  const watch = watchSignals(["SIGINT"]);
  const code = await answer(program, process.argv.slice(2), processWorld(watch.signal));
  // Never process.exit: it would cut what is still on its way out.
  process.exitCode = watch.caught() === null ? code : EXIT.interrupted;
}

export async function answer({ front, run }: Program, words: readonly string[], world: World): Promise<ExitCode> {
  const text = frontText(front, words, () => world.stdout.columns);
  if (text === null) return await run(words, world);
  world.stdout.write(text);
  return EXIT.ok;
}
