// The server replaces the whole boot policy, so a change first reads the policy and then sends it with If-Match. The
// server rejects the change if another operator changed the policy in between.
import type { BootPolicy, BootPolicyBody } from "../../../../../src/contract/boot.ts";
import { canonicalJson } from "../../../../../src/lib/text/canonical-json.ts";
import { Failure } from "../../../../internal/failure.ts";
import type { Io } from "../../../../internal/io.ts";
import { plainText } from "../../../../internal/plain-text.ts";
import { argumentsText } from "../boot-arguments.ts";
import { blockText } from "../../../../internal/table.ts";

const POLICY_PATH = "/v2/cn-boot-policy";

export type VersionedPolicy = { readonly policy: BootPolicy; readonly etag: string | null };

export async function readPolicy(io: Io): Promise<VersionedPolicy> {
  const { body, etag } = await io.exchange({ method: "GET", path: POLICY_PATH });
  return { policy: body as BootPolicy, etag };
}

/**
 * Replaces the policy. Throws a Failure with status 412 when the policy is no longer the version that `etag` names. If
 * `etag` is null, replaces any version.
 */
export async function putPolicy(io: Io, body: BootPolicyBody | unknown, etag: string | null): Promise<BootPolicy> {
  const headers: Record<string, string> = etag === null ? {} : { "if-match": etag };
  return await io.send<BootPolicy>({ method: "PUT", path: POLICY_PATH, body, headers });
}

/** Maximum number of attempts to merge a change while other operators change the policy. */
const TRIES_MAX = 8;
const PRECONDITION_FAILED = 412;

/**
 * Reads the policy and writes it with the change. Starts again when another operator changed the policy in between, so
 * that changes of other fields are kept. Throws any other Failure at once, and a 412 after TRIES_MAX attempts.
 */
export async function changePolicy(
  io: Io,
  changeOf: (policy: BootPolicy) => Partial<BootPolicy>,
): Promise<BootPolicy> {
  for (let tries = 1;; tries += 1) {
    const { policy, etag } = await readPolicy(io);
    try {
      return await putPolicy(io, { ...policy, ...changeOf(policy) }, etag);
    } catch (error) {
      const overtaken = error instanceof Failure && error.status === PRECONDITION_FAILED;
      if (!overtaken || tries === TRIES_MAX) throw error;
    }
  }
}

/** Returns a text with the names of the fields that differ, or `nothing changed`. */
export function changedFields(before: BootPolicy, after: BootPolicy): string {
  const fields = (Object.keys(after) as (keyof BootPolicy)[])
    .filter((field) => canonicalJson(before[field] ?? null) !== canonicalJson(after[field] ?? null));
  return fields.length === 0 ? "nothing changed" : `changed: ${fields.map(plainText).join(", ")}`;
}

/** Returns the ETag without its quotes, which a shell would remove. */
export function versionOf(etag: string | null): string | null {
  return etag?.replace(/^"(.*)"$/, "$1") ?? null;
}

export function etagOf(version: string): string {
  return /^("|W\/|\*$)/.test(version) ? version : `"${version}"`;
}

export function policyText(policy: BootPolicy, version: string | null = null): string {
  const { allowlist, admin_network: network, rack_networks: racks } = policy;
  const block = blockText([
    ...(version === null ? [] : [["version", version] as const]),
    ["auto_enroll", policy.auto_enroll],
    ["enrollment_pi", policy.enrollment_pi],
    ["enrollment_kernel_args", policy.enrollment_kernel_args.join(" ")],
    ...(network === null ? [["admin_network", null] as const] : [
      ["admin_network", network.ipv4_block],
      ["  provision", `${network.provision_start_ipv4} to ${network.provision_end_ipv4}`],
      ["  gateway", network.gateway],
      ...(network.vlan_id === undefined ? [] : [["  vlan_id", network.vlan_id] as const]),
      ["  resolvers", network.resolvers.join(", ")],
    ] as const),
    ...(racks ?? []).flatMap((rack) =>
      [
        [`rack ${rack.name}`, rack.ipv4_block],
        ["  provision", `${rack.provision_start_ipv4} to ${rack.provision_end_ipv4}`],
        ["  gateway", rack.gateway],
        ...(rack.vlan_id === undefined ? [] : [["  vlan_id", rack.vlan_id] as const]),
        ["  resolvers", rack.resolvers.join(", ")],
        ["  relays", rack.relays.join(", ")],
      ] as const
    ),
    ...(policy.label_arguments ?? []).map((each) => [`arguments of ${each.label}`, argumentsText(each)] as const),
    ["allowlist", allowlist.length === 0 ? "(any machine)" : `${allowlist.length} rules, one must match`],
  ]);
  return [block, ...allowlist.map(({ kind, value }) => `  ${plainText(kind)} ${plainText(value)}`)].join("\n");
}
