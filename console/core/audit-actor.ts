// Returns the actor of an audit event as text.
import type { AuditActor } from "../../src/contract/audit.ts";
import { shortId } from "./names.ts";

/**
 * Returns the actor with its user's name. If the name is not known, for example because the user was deleted, returns
 * `root` for a root operator, and otherwise the user's id.
 * @param names the names of users, by id
 */
export function actorText(actor: AuditActor, names: ReadonlyMap<string, string> = new Map()): string {
  switch (actor.kind) {
    case "operator":
      return names.get(actor.user_id) ?? (actor.is_root ? "root" : `user ${actor.user_id}`);
    case "api_key":
      return `${names.get(actor.user_id) ?? actor.user_id}, key ${shortId(actor.key_id)}`;
    case "anonymous":
    case "system":
      return actor.kind;
  }
}
