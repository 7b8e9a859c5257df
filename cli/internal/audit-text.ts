// Formats the actor and the outcome of an audit event.
import type { AuditActor, AuditOutcome } from "../../src/contract/audit.ts";

export function actorText(actor: AuditActor): string {
  switch (actor.kind) {
    case "operator":
      return `operator ${actor.user_id}`;
    case "api_key":
      return `api_key ${actor.key_id}`;
    case "anonymous":
    case "system":
      return actor.kind;
  }
}

export function outcomeText(outcome: AuditOutcome): string {
  switch (outcome.kind) {
    case "success":
    case "forbidden":
      return outcome.kind;
    case "unauthenticated":
      return `unauthenticated: ${outcome.reason}`;
    case "client_error":
    case "server_error":
      return `${outcome.kind}: ${outcome.message}`;
  }
}
