// INV-2, contents: compares the answers to successful messages with the requests. An answer must not show the result of
// another message that the same commit applied.
import { refKey } from "../../actors/engine/types.ts";
import type { Evidence } from "./evidence.ts";
import type { Operation } from "./journal.ts";
import type { Violation } from "./violation.ts";

type Shown = Readonly<Record<string, unknown>>;

export function checkContents({ journal }: Evidence): readonly Violation[] {
  return journal.operations.flatMap((operation): readonly Violation[] => {
    const { to, message, command, reply } = operation;
    const asked = operation.out === "ok" ? requested(operation) : null;
    const answer = reply as Shown | null;
    if (asked === null || Object.entries(asked).every(([field, value]) => answer?.[field] === value)) return [];
    const text = `${message.type} (command ${command}) was answered with ${JSON.stringify(reply)}`;
    return [{ invariant: "2 legal path", about: refKey(to), text }];
  });
}

/** Returns the fields of the answer that follow from the request alone; null for messages without such fields. */
function requested({ to, message }: Operation): Shown | null {
  switch (`${to.kind} ${message.type}`) {
    case "cn disable":
      return { server_uuid: to.id, state: "disabled" };
    case "cn enable":
      return { server_uuid: to.id, state: "approved" };
    case "cn set_role":
      return { server_uuid: to.id, role: message["role"] };
    case "cn approve":
      return { server_uuid: to.id, state: "approved", bound_api_key_id: (message["key"] as Shown)["id"] };
    case "cn join":
      return { server_uuid: to.id, state: "approved", registration_id: message["registration_id"] };
    case "cn refresh":
      return { server_uuid: to.id, state: "approved" };
    case "enrolment-claim register":
    case "enrolment-claim renew": {
      const code = String(message["claim_code"]);
      const { server_uuid, registration_id } = message;
      return { server_uuid, state: "pending", claim_code: `${code.slice(0, 3)}-${code.slice(3)}`, registration_id };
    }
    case "site open_window":
      return { remaining_count: message["count"], opened_by: message["opened_by"] };
    default:
      return null;
  }
}
