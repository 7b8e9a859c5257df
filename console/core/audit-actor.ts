// Returns the actor of an audit event as text.
import type { AuditActor } from "../../src/contract/audit.ts";
import { shortId } from "./names.ts";

/**
 * Returns the user's name, with the end of the key's id if a key acted. If the name is unknown, for example because the
 * user was deleted, returns the user's id, or `root` for a root operator without a key. An actor without a user is
 * `anonymous` or `system`.
 * @param names - The names of users, by id.
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
