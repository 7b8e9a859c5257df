// Defines the hidden verb that completion scripts call. The verb prints one candidate per line, with its summary after
// a tab. A failed lookup gives no candidates, because an error message would garble the line that the user types.
import { type AnyCommand, command, describe, rootOf } from "../../framework.ts";
import { candidates } from "../../internal/completion.ts";
import { plainText } from "../../internal/plain-text.ts";
import { openIo, withText } from "../open-io.ts";
import { lookUp } from "./look-up.ts";
import { valuesIn } from "./values-in.ts";

export function complete(): AnyCommand {
  return command("__complete", "Print the candidates at the cursor")
    .argument("[words...]", "the words after `tenantctl`; put -- before them")
    .action(withText(async (io, words, _options, member) => {
      // The flags that select the server, the credentials and the scope come from the typed line.
      const { vpc, routeTable, instance, ...flags } = valuesIn(words.slice(0, -1));
      const line = openIo(io.environment, { flags, fallback: "table" });
      const tree = describe(rootOf(member as AnyCommand));
      const found = await candidates(
        tree,
        words,
        (argument) => lookUp({ ...line, note: () => {} }, argument, { vpc, routeTable, instance }).catch(() => []),
      );
      for (const { value, summary } of found) {
        io.environment.stdout.write(summary === "" ? `${value}\n` : `${value}\t${plainText(summary)}\n`);
      }
    }));
}
