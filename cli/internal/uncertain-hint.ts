// Explains a failure after which the user cannot know whether the server carried out the request.
import type { AnyCommand } from "../framework.ts";
import { Failure, reworded } from "./failure.ts";

/**
 * The last sentence holds because POST, PUT and PATCH carry one idempotency key for all attempts, and a repeated DELETE
 * changes nothing.
 */
const MAY_HAVE = "The server may have received the request before the connection broke. " +
  "The attempts of one command count as one request, so nothing happened twice.";

/**
 * Returns the failure. If the result of the request is not known, adds to its message the command that shows the
 * result. A user who runs the command line again sends a new idempotency key, so the server would do the work twice.
 */
export function withUncertainHint(member: AnyCommand, error: unknown): unknown {
  if (!(error instanceof Failure) || !error.is_uncertain) return error;
  const check = listOf(member);
  const next = check === null ? "check its result" : `check its result with: ${check}`;
  return reworded(error, `${error.message}\n${MAY_HAVE}\nBefore you run this command again, ${next}`);
}

/** Returns the command that lists the objects of the noun, such as `tenantctl vpc list`; null if there is no list. */
function listOf(member: AnyCommand): string | null {
  const noun = member.parent;
  if (noun === null) return null;
  if (!noun.commands.some((verb) => verb.name() === "list")) return listOf(noun);
  const names: string[] = [];
  for (let at: AnyCommand | null = noun; at !== null; at = at.parent) names.unshift(at.name());
  return [...names, "list"].join(" ");
}
