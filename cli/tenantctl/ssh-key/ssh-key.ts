// Contains the parts that the verbs of SSH keys share. Lists and names refer to the keys of the calling user, so
// requests name no tenant and no project. A UUID can also name another key that the user may see.
import type { SshKey } from "../../../src/contract/ssh-key.ts";
import { labelLines } from "../../internal/labels.ts";
import { blockText } from "../../internal/table.ts";
import { isUuid } from "../../internal/record-name.ts";
import type { TenantIo } from "../open-io.ts";
import { pick } from "../record/pick.ts";

export const OWN_PATH = "/v1/auth/ssh-keys";
export const KEYS_PATH = "/v1/ssh-keys";
export const KEY_ARGUMENT = ["<ssh-key>", "UUID; for your own keys also a unique UUID prefix or name"] as const;

const KEYS = { singular: "SSH key", plural: "SSH keys" };

export async function ownKeys(io: TenantIo, label?: string): Promise<SshKey[]> {
  return await io.get<SshKey[]>(OWN_PATH, { label });
}

export async function resolveKey(io: TenantIo, name: string): Promise<string> {
  if (isUuid(name)) return name.toLowerCase();
  return pick(await ownKeys(io), { name, ...KEYS }).id;
}

/** Resolves several keys with at most one request. */
export async function resolveKeys(io: TenantIo, names: readonly string[]): Promise<string[]> {
  const own = names.every(isUuid) ? [] : await ownKeys(io);
  return names.map((name) => isUuid(name) ? name.toLowerCase() : pick(own, { name, ...KEYS }).id);
}

export function keyText(key: SshKey): string {
  return blockText([
    ["id", key.id],
    ["name", key.name],
    ["fingerprint", key.fingerprint],
    ["scope", key.scope.kind],
    ...labelLines(key.labels),
    ["public_key", key.public_key],
  ]);
}
