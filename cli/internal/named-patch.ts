// Defines the options and the body of `update` for a record with a name and a description.
import type { NamedPatch } from "../../src/contract/tenancy.ts";
import { usageFailure } from "./failure.ts";

export const NAME_OPTION = ["--name <name>", "new name; 1 to 63 bytes, without / or \\"] as const;
export const DESCRIPTION_OPTION = ["--description <text>", "free-form description"] as const;

export function patchOf({ name, description }: NamedPatch): NamedPatch {
  if (name === undefined && description === undefined) {
    throw usageFailure("there is nothing to change; pass --name, --description or both");
  }
  return namesOf({ name, description });
}

/** Returns the new name and the new description. A value that does not change is undefined. */
export function namesOf({ name, description }: NamedPatch): NamedPatch {
  return { name, description };
}
