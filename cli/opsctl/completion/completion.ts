import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { COMPLETION_SCRIPTS } from "../../internal/completion-scripts.ts";

export function completion(summary: string): AnyCommand {
  const made = command("completion", summary);
  for (const [shell, { summary, script }] of Object.entries(COMPLETION_SCRIPTS)) {
    made.addCommand(
      command(shell, summary).action(withIo((io) => {
        io.print({ shell, script }, script);
        return Promise.resolve();
      })),
    );
  }
  return made as AnyCommand;
}
