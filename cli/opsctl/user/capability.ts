// Parses and prints capabilities, the permissions of a user outside of tenants.
import { CAPABILITIES, type Capability } from "../../../src/contract/enums.ts";
import type { User } from "../../../src/contract/identity.ts";
import { usageFailure } from "../../internal/failure.ts";
import { plainText } from "../../internal/plain-text.ts";
import { userPath } from "./user.ts";

const NAMES = CAPABILITIES.join(", ");

export const CAPABILITY_ARGUMENT = ["<capability>", `one of ${NAMES}`, capabilityOf] as const;
export const CAPABILITY_OPTION = [
  "--capability <capability>",
  `capability of the user: ${NAMES}; may be repeated`,
  (text: string, before: readonly Capability[] | undefined) => [...before ?? [], capabilityOf(text)],
] as const;

function capabilityOf(text: string): Capability {
  const known = CAPABILITIES.find((each) => each === text);
  if (known === undefined) throw usageFailure(`${text} is not a capability; choose one of ${NAMES}`);
  return known;
}

export function capabilityPath(user_id: string, capability: Capability): string {
  return `${userPath(user_id)}/capabilities/${capability}`;
}

export function capabilityText({ username, capabilities }: User): string {
  return `Capabilities of user ${plainText(username)}: ${plainText(capabilities.join(", ")) || "(none)"}`;
}
