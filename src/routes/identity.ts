// Recognizes the UUIDs that firmware reports if a machine has no UUID.
const NO_IDENTITY: ReadonlySet<string> = new Set([
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
]);

export const NO_IDENTITY_RULE = "server_uuid: the nil UUID and the all-ones UUID identify no machine";

export function isNoIdentity(server_uuid: string): boolean {
  return NO_IDENTITY.has(server_uuid);
}
