// What a user may do beyond its tenant.
import { CAPABILITIES, type Capability } from "../../../src/contract/enums.ts";
import type { User } from "../../../src/contract/identity.ts";
import { usageFailure } from "../../internal/failure.ts";
import { plainText } from "../../internal/plain-text.ts";
import { userPath } from "./user.ts";

const NAMES = CAPABILITIES.join(", ");

export const CAPABILITY_ARGUMENT = ["<capability>", `one of ${NAMES}`, capabilityOf] as const;
export const CAPABILITY_OPTION = [
  "--capability <capability>",
  `what it may do beyond a tenant: ${NAMES}; may be given more than once`,
  (text: string, before: readonly Capability[] | undefined) => [...before ?? [], capabilityOf(text)],
] as const;

function capabilityOf(text: string): Capability {
  const known = CAPABILITIES.find((each) => each === text);
  if (known === undefined) throw usageFailure(`there is no capability ${text}; there are ${NAMES}`);
  return known;
}

export function capabilityPath(user_id: string, capability: Capability): string {
  return `${userPath(user_id)}/capabilities/${capability}`;
}

export function capabilityText({ username, capabilities }: User): string {
  return `Capabilities of user ${plainText(username)}: ${plainText(capabilities.join(", ")) || "(none)"}`;
}
