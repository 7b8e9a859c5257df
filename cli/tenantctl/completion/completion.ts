import { type AnyCommand, command } from "../../framework.ts";
import { COMPLETION_SCRIPTS } from "../../internal/completion-scripts.ts";
import { withText } from "../open-io.ts";

/** Returns the verb that prints the scripts. The scripts of opsctl and tenantctl differ only in the program's name. */
export function completion(summary: string): AnyCommand {
  const made = command("completion", summary);
  for (const [shell, texts] of Object.entries(COMPLETION_SCRIPTS)) {
    const script = texts.script.replaceAll("opsctl", "tenantctl");
    made.addCommand(
      command(shell, texts.summary.replaceAll("opsctl", "tenantctl")).action(withText((io) => {
        io.print({ shell, script }, script);
        return Promise.resolve();
      })),
    );
  }
  return made as AnyCommand;
}
