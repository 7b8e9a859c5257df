// The hidden verb that completion scripts call: one candidate per line, its summary after a tab. It prints no error: a
// completion that complains would spoil the line that is being written.
import { type AnyCommand, command, describe, rootOf } from "../../framework.ts";
import { candidates } from "../../internal/completion.ts";
import { plainText } from "../../internal/plain-text.ts";
import { openIo, withWords } from "../open-io.ts";
import { lookUp } from "./look-up.ts";
import { valuesIn } from "./values-in.ts";

export function complete(): AnyCommand {
  return command("__complete", "Print what may stand at the cursor")
    .argument("[words...]", "the words after `tenantctl`; put -- before them")
    .action(withWords(async (io, argv, _options, member) => {
      // The line that is written names its own server and scope.
      const { endpoint, apiKey, tenant, project, vpc, routeTable, instance } = valuesIn(argv.slice(0, -1));
      const line = await openIo(io.environment, { flags: { endpoint, apiKey, tenant, project }, format: "table" });
      const tree = describe(rootOf(member as AnyCommand));
      const found = await candidates(
        tree,
        argv,
        (argument) => lookUp(line, argument, { vpc, routeTable, instance }).catch(() => []),
      );
      for (const { value, summary } of found) {
        io.environment.stdout.write(summary === "" ? `${value}\n` : `${value}\t${plainText(summary)}\n`);
      }
    }));
}
