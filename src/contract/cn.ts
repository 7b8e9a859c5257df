// Compute nodes as operators see them. Document 2, CN record and Endpoints; document 4, 1.1.
import { z } from "zod";
import { Timestamp, Uuid } from "./common.ts";
import { CN_ROLES, CN_STATES } from "./enums.ts";

/** Document 4, Fixed here: what a running setup last said. */
export const SetupProgress = z.object({
  epoch: z.number().int(),
  step: z.string(),
  message: z.string().nullable(),
  percent: z.number().nullable(),
  updated_at: Timestamp,
});
export type SetupProgress = z.infer<typeof SetupProgress>;

/** Another machine claimed this identity: the network ports it announced have none in common with the known ones. */
export const CnConflict = z.object({ announced_at: Timestamp, hostname: z.string(), macs: z.array(z.string()) });
export type CnConflict = z.infer<typeof CnConflict>;

/** The fields in which a claim may differ from the record of its node. */
export const CLAIM_FIELDS = ["hostname", "admin_ip", "serial", "macs"] as const;

/** Document 4, Fixed here, Claims in CnView: a registration that waits for approval, as it came. */
export const CnClaim = z.object({
  claim_code: z.string().describe("XXX-XXX; approving it makes this claim's data the node's"),
  claim_code_expires_at: Timestamp,
  hostname: z.string(),
  admin_ip: z.string().nullable(),
  serial: z.string().nullable(),
  macs: z.array(z.string()),
  source: z.string().describe("The address that the registration came from"),
  differs: z.array(z.enum(CLAIM_FIELDS)).describe("The fields that are not as in the node's record"),
});
export type CnClaim = z.infer<typeof CnClaim>;

/** Document 2, CnView. `sysinfo` never holds `root_shadow` or `rabbitmq`, at any depth. */
export const CnView = z.object({
  server_uuid: z.string(),
  hostname: z.string(),
  admin_ip: z.string().nullable(),
  state: z.enum(CN_STATES),
  role: z.enum(CN_ROLES),
  registered_at: Timestamp,
  approved_at: Timestamp.nullable(),
  last_seen: Timestamp.nullable(),
  sysinfo: z.unknown().describe("The machine's inventory; null in lists that were not asked for it"),
  claim_code: z.string().nullable().describe("XXX-XXX while a claim code is active, otherwise null"),
  claim_code_expires_at: Timestamp.nullable(),
  bound_api_key_id: z.string().nullable(),
  last_status: z.unknown().nullable().describe("The last status payload of the node agent, as it was posted"),
  last_setup_error: z.string().nullable(),
  setup_progress: SetupProgress.nullable(),
  disk_layout: z.unknown().nullable().describe("The accepted approve-setup body, or null"),
  conflict: CnConflict.nullable().describe("An announce that was refused because another machine uses this identity"),
  claims: z.array(CnClaim).describe(
    "Registrations that wait for approval, the newest last. For operators: [] to booters",
  ),
  identity_conflict: z.boolean().describe("True when a claim differs from the record: look before you approve it"),
});
export type CnView = z.infer<typeof CnView>;

/** Document 4, 1.1: the body of POST /v1/cn-approvals. */
export const CnApproval = z.strictObject({ code: z.string().max(64).describe("The claim code, XXX-XXX or XXXXXX") });
export type CnApproval = z.infer<typeof CnApproval>;

/** What the node may be used for from now on. */
export const CnRoleBody = z.strictObject({ role: z.enum(CN_ROLES) });
export type CnRoleBody = z.infer<typeof CnRoleBody>;

/** Document 2: the body replaces the whole override; null or absent means inherit. No range check (the node clamps). */
export const CnReservoirBody = z.strictObject({
  reservoir_enabled: z.boolean().nullish(),
  reservoir_percent: z.number().nullish(),
});
export type CnReservoirBody = z.infer<typeof CnReservoirBody>;

/** A node's override, null where there is none, and what holds for it. Percents are fractions of physical memory. */
export const CnReservoirView = z.object({
  server_uuid: z.string(),
  reservoir_enabled: z.boolean().nullable(),
  reservoir_percent: z.number().nullable(),
  effective_enabled: z.boolean(),
  effective_percent: z.number(),
});
export type CnReservoirView = z.infer<typeof CnReservoirView>;

/** Document 2, Auto-approve window. */
export const AutoApproveWindow = z.object({
  opened_at: Timestamp,
  expires_at: Timestamp,
  remaining_count: z.number().int().nullable().describe("Approvals left, or null when only time-bound"),
  opened_by: z.string().describe("The user who opened it"),
});
export type AutoApproveWindow = z.infer<typeof AutoApproveWindow>;

/** Document 4, 1.5: zero seconds and zero nodes are refused, since such a window approves nothing. */
export const AutoApproveBody = z.strictObject({
  duration_secs: z.number().int().min(1).describe("Seconds, clamped to 86,400"),
  count: z.number().int().min(1).max(1_000_000).nullish().describe("How many nodes; absent for any number"),
});
export type AutoApproveBody = z.infer<typeof AutoApproveBody>;

/** The path parameter that names a node. */
export const CnParam = z.object({ server_uuid: Uuid });
