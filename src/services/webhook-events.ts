// Checks the patterns in the events of a webhook: each pattern must match an event that a webhook can get
// (docs/webhooks.md, "Events").
import { ACTIONS_WITHOUT_WEBHOOK, WEBHOOK_EVENTS } from "../contract/audit-actions.ts";
import { badRequest, type Fault } from "../contract/fault.ts";
import { nearNames } from "../lib/text/near-names.ts";

/** Returns the 400 for the first pattern that no event matches; null if events match all patterns. */
export function unknownEvent(patterns: readonly string[]): Fault | null {
  const at = patterns.findIndex((pattern) => !matchesAny(pattern));
  const pattern = patterns[at];
  if (pattern === undefined) return null;
  if (ACTIONS_WITHOUT_WEBHOOK.some((action) => action === pattern)) {
    return badRequest(
      `body.events[${at}]: no webhook can get ${pattern}, because a project has no webhook when it is created or deleted`,
    );
  }
  const near = pattern.endsWith("*")
    ? nearNames(PREFIXES, pattern.slice(0, -1).replace(/_$/, "")).map((prefix) => `${prefix}_*`)
    : nearNames(WEBHOOK_EVENTS, pattern);
  const rule = pattern.endsWith("*") ? `no event begins with ${pattern.slice(0, -1)}` : `there is no event ${pattern}`;
  const help = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "docs/webhooks.md lists the events";
  return badRequest(`body.events[${at}]: ${rule}; ${help}`);
}

/** The names of events without their last word, such as nat_gateway. */
const PREFIXES = [...new Set(WEBHOOK_EVENTS.map((event) => event.replace(/_[a-z]+$/, "")))];

function matchesAny(pattern: string): boolean {
  return WEBHOOK_EVENTS.some((event) =>
    pattern.endsWith("*") ? event.startsWith(pattern.slice(0, -1)) : event === pattern
  );
}
