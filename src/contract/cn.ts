// Defines the schemas of compute nodes as operators see them (docs/nodes.md).
import { z } from "zod";
import { Timestamp, Uuid } from "./common.ts";
import { CN_ROLES, CN_STATES } from "./enums.ts";
import { Labels } from "./labels.ts";
import { MTU_MAX, UNDERLAY_MTU_MIN } from "./limits.ts";

/** The last progress report of a running setup. */
export const SetupProgress = z.object({
  epoch: z.number().int(),
  step: z.string(),
  message: z.string().nullable(),
  percent: z.number().nullable(),
  updated_at: Timestamp,
});
export type SetupProgress = z.infer<typeof SetupProgress>;

/**
 * A refused announcement of this node's UUID: the machine logged in with an unknown MAC, or its ports include no known
 * MAC of the node.
 */
export const CnConflict = z.object({ announced_at: Timestamp, hostname: z.string(), macs: z.array(z.string()) });
export type CnConflict = z.infer<typeof CnConflict>;

/** The fields in which a claim can differ from the record of its node. */
export const CLAIM_FIELDS = ["hostname", "admin_ip", "serial", "macs"] as const;

/** A registration that waits for approval, as it was received. */
export const CnClaim = z.object({
  claim_code: z.string().describe("If an operator approves this code (XXX-XXX), the node gets the data of the claim"),
  claim_code_expires_at: Timestamp,
  hostname: z.string(),
  admin_ip: z.string().nullable(),
  serial: z.string().nullable(),
  macs: z.array(z.string()),
  source: z.string().describe("The source address of the registration"),
  differs: z.array(z.enum(CLAIM_FIELDS)).describe("The fields that differ from the node's record"),
});
export type CnClaim = z.infer<typeof CnClaim>;

/** A compute node. `sysinfo` never contains `root_shadow` or `rabbitmq`, at any depth. */
export const CnView = z.object({
  server_uuid: z.string(),
  hostname: z.string(),
  admin_ip: z.string().nullable(),
  underlay_address: z.string().nullable().describe(
    "The IPv4 address to which other nodes send the packets of VPCs: the address that an operator set, otherwise the " +
      "address that the node reports, otherwise admin_ip",
  ),
  underlay_mtu: z.number().int().nullable().describe(
    "In bytes; null if no operator has set it and the node reports none",
  ),
  state: z.enum(CN_STATES),
  role: z.enum(CN_ROLES),
  labels: Labels,
  registered_at: Timestamp,
  approved_at: Timestamp.nullable(),
  last_seen: Timestamp.nullable(),
  agent_version: z.string().nullable().describe(
    "The version that the node's agent reported last; null if it has reported none",
  ),
  sysinfo: z.unknown().describe("The inventory of the machine; null in lists unless requested"),
  claim_code: z.string().nullable().describe("XXX-XXX while a claim code is active, otherwise null"),
  claim_code_expires_at: Timestamp.nullable(),
  bound_api_key_id: z.string().nullable(),
  last_status: z.unknown().nullable().describe(
    "The last status payload of the node agent, without metrics and secrets",
  ),
  last_setup_error: z.string().nullable(),
  setup_progress: SetupProgress.nullable(),
  disk_layout: z.unknown().nullable().describe("The accepted approve-setup body, or null"),
  conflict: CnConflict.nullable().describe(
    "The refused announcement of another machine with this identity; null without a conflict",
  ),
  claims: z.array(CnClaim).describe(
    "Registrations that wait for approval, the newest last. Only operators see them; booters get []",
  ),
  identity_conflict: z.boolean().describe(
    "True if a claim differs from the record; check the claim before you approve it",
  ),
});
export type CnView = z.infer<typeof CnView>;

/** The body of POST /v1/cn-approvals. */
export const CnApproval = z.strictObject({ code: z.string().max(64).describe("The claim code, XXX-XXX or XXXXXX") });
export type CnApproval = z.infer<typeof CnApproval>;

/**
 * A change of a node's address and MTU on the underlay. A missing field stays unchanged; null restores the value that
 * the node reports.
 */
export const CnUnderlayPatch = z.strictObject({
  underlay_address: z.ipv4().nullable().optional(),
  underlay_mtu: z.number().int().min(UNDERLAY_MTU_MIN).max(MTU_MAX).nullable().optional(),
});
export type CnUnderlayPatch = z.infer<typeof CnUnderlayPatch>;

/** The body that sets the role of a node, for future placements. */
export const CnRoleBody = z.strictObject({ role: z.enum(CN_ROLES) });
export type CnRoleBody = z.infer<typeof CnRoleBody>;

/**
 * The body that replaces the node's whole reservoir override; a null or absent field means the cluster default. The
 * node clamps the percent, so any number is accepted.
 */
export const CnReservoirBody = z.strictObject({
  reservoir_enabled: z.boolean().nullish(),
  reservoir_percent: z.number().nullish(),
});
export type CnReservoirBody = z.infer<typeof CnReservoirBody>;

/**
 * The reservoir override of a node (null if the node has no override), and the values in effect. The percents are
 * fractions of physical memory: 0.5 is half.
 */
export const CnReservoirView = z.object({
  server_uuid: z.string(),
  reservoir_enabled: z.boolean().nullable(),
  reservoir_percent: z.number().nullable(),
  effective_enabled: z.boolean(),
  effective_percent: z.number(),
});
export type CnReservoirView = z.infer<typeof CnReservoirView>;

/** The open auto-approve window. */
export const AutoApproveWindow = z.object({
  opened_at: Timestamp,
  expires_at: Timestamp,
  remaining_count: z.number().int().nullable().describe("Remaining approvals; null when only the time is limited"),
  opened_by: z.string().describe("The user who opened the window"),
});
export type AutoApproveWindow = z.infer<typeof AutoApproveWindow>;

/**
 * The body that opens an auto-approve window. Zero seconds or zero nodes are refused, because such a window approves
 * nothing.
 */
export const AutoApproveBody = z.strictObject({
  duration_secs: z.number().int().min(1).describe("Seconds; a value above 86,400 counts as 86,400"),
  count: z.number().int().min(1).max(1_000_000).nullish().describe("The maximum number of nodes; absent: no maximum"),
});
export type AutoApproveBody = z.infer<typeof AutoApproveBody>;

/** The path parameter that contains the UUID of a node. */
export const CnParam = z.object({ server_uuid: Uuid });

/** The query of an action that cannot be undone. */
export const CnConfirmation = z.object({
  confirm: z.string().max(255).optional().describe("The hostname of the node, as the operator typed it"),
});
