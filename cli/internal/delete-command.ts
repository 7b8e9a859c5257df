// Declares verbs that take something away, such as delete, revoke, detach and clear. docs/architecture.md,
// "Confirmations", has their rules.
import { command, option } from "../framework.ts";

/** The option that confirms in advance, so that a verb does not ask (internal/confirmation.ts). */
export const YES_FLAGS = "-y, --yes";

/**
 * Returns a verb that takes something away. Every such verb accepts --yes, so that a script can pass the option to all
 * of them. Help shows the option only if the verb asks for confirmation.
 */
export function deleteCommand(name: string, summary: string, example = "", { asks = false } = {}) {
  const summaryOfYes = asks ? "do not ask for confirmation" : "without effect: the command does not ask";
  return command(name, summary, example).addOption(option(YES_FLAGS, summaryOfYes).hideHelp(!asks));
}
