// The hidden verb that completion scripts call: one candidate per line, its summary after a tab.
import { type AnyCommand, command, describe, rootOf } from "../../framework.ts";
import { candidates } from "../../kit/completion.ts";
import { plainText } from "../../kit/plain-text.ts";
import { withWords } from "../open-io.ts";

export function complete(): AnyCommand {
  return command("__complete", "Print what may stand at the cursor")
    .argument("[words...]", "the words after `tenantctl`; put -- before them")
    .action(withWords(async (io, words, _options, member) => {
      const found = await candidates(describe(rootOf(member as AnyCommand)), words, () => Promise.resolve([]));
      for (const { value, summary } of found) {
        io.world.stdout.write(summary === "" ? `${value}\n` : `${value}\t${plainText(summary)}\n`);
      }
    }));
}
