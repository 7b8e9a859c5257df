// Defines the messages between node agents and the control plane (docs/nodes.md). The server ignores unknown fields in
// request bodies, so that agents and servers of different versions work together.
import { z } from "zod";
import { Timestamp, Uuid, withDefault } from "./common.ts";
import { CN_STATES, DEVICE_KINDS, POOL_TIERS } from "./enums.ts";
import { AGENT_VERSION_CHARS_MAX, MTU_MAX, MTU_MIN } from "./limits.ts";

/** A hostname: an RFC 1123 label. */
export const Hostname = z.string().regex(
  /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/,
  "hostname must be 1 to 63 ASCII letters, digits or hyphens, not starting or ending with a hyphen",
);

/** The data that a machine sends when it registers. `sysinfo` is any JSON except null. */
export const Registration = z.object({
  server_uuid: Uuid,
  hostname: Hostname,
  admin_ip: z.ipv4().nullish(),
  sysinfo: z.unknown().refine((value) => value !== undefined && value !== null, "sysinfo is required"),
  underlay_address: z.ipv4().nullish().describe(
    "The node's address on the underlay, which carries the packets of VPCs",
  ),
  underlay_mtu: z.number().int().min(MTU_MIN).max(MTU_MAX).nullish(),
  console_listen_port: z.number().int().min(1).max(65_535).nullish(),
  console_tls_spki_sha256_hex: z.string().regex(/^[0-9a-fA-F]{64}$/).nullish(),
});
export type Registration = z.infer<typeof Registration>;

/** The answer to a registration: the claim code for the operator (null if no code is active), and the poll token. */
export const RegistrationView = z.object({
  server_uuid: z.string(),
  state: z.enum(CN_STATES),
  claim_code: z.string().nullable(),
  claim_code_expires_at: Timestamp.nullable(),
  poll_token: z.string(),
});
export type RegistrationView = z.infer<typeof RegistrationView>;

/**
 * The answer to a poll for the approval of a registration. All four secrets have values from the approval until the key
 * is used for the first time or the node is disabled. At all other times all four are null.
 */
export const RegisterStatusView = z.object({
  state: z.enum(CN_STATES),
  api_key: z.string().nullable(),
  console_ticket_key_hex: z.string().nullable(),
  imds_token_key_hex: z.string().nullable(),
  migrate_ticket_key_hex: z.string().nullable(),
});
export type RegisterStatusView = z.infer<typeof RegisterStatusView>;

/** The status that an agent reports: any JSON. The server stores the report without its metrics and secrets. */
export const StatusReport = z.object({
  payload: z.unknown().refine((value) => value !== undefined, "payload is required"),
});
export type StatusReport = z.infer<typeof StatusReport>;

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** The total and free resources of a node. `cpu_utilization_pct` is a fraction, 0 to 1. */
export const CapacityReport = z.object({
  cpu_cores_physical: count,
  cpu_threads_logical: count,
  numa_nodes: z.array(z.object({ node_id: count, cores: count, ram_mb: count })),
  ram_total_mb: count,
  ram_available_mb: withDefault(count, 0),
  cpu_utilization_pct: withDefault(z.number().min(0).max(1), 0),
  zpools: z.array(
    z.object({ name: z.string(), total_bytes: count, free_bytes: count, tier: z.enum(POOL_TIERS) }),
  ),
  nic_tags: z.array(z.string()),
  underlay: z.object({ ipv4: z.boolean(), ipv6: z.boolean() }),
  devices: z.array(z.object({ kind: z.enum(DEVICE_KINDS), model: z.string(), free_count: count })),
  platform_version: z.string(),
  agent_version: z.string().max(AGENT_VERSION_CHARS_MAX).nullish().transform((value) => value ?? null)
    .describe("The version of the node's agent"),
  hvm_supported: withDefault(z.boolean(), false),
  vmm_protocol_version: z.string().nullish().transform((value) => value ?? null),
  cpu_features: withDefault(z.array(z.string()), []),
  tsc_offset_ns: z.number().int().nullish().transform((value) => value ?? null),
  zpool_props: withDefault(
    z.record(z.string(), z.object({ compression: z.string(), encryption: z.string(), recordsize_bytes: count })),
    {},
  ),
});
export type CapacityReport = z.infer<typeof CapacityReport>;
/** The body as agents send it: fields with a default are optional. */
export type CapacityReportBody = z.input<typeof CapacityReport>;

/**
 * The configuration in effect for one node. The reservoir fields are the node's override, or else the cluster default.
 * The agent clamps `reservoir_percent` to 0.0 to 1.0.
 */
export const AgentConfig = z.object({
  reservoir_enabled: z.boolean(),
  reservoir_percent: z.number(),
  root_authorized_keys: z.array(z.string()).describe(
    "OpenSSH public keys that may log in as root, from the setting cn.root_authorized_keys",
  ),
  state: z.enum(CN_STATES),
  admin_ip: z.string().nullable().describe(
    "The recorded address of the node. If the address of the node differs, the agent reports it",
  ),
  fetch_allowed_private: z.array(z.string()).describe(
    "Private networks from which the node may fetch images, from the setting fetch.allowed_private",
  ),
  instance_ids: z.array(z.string()).optional().describe(
    "The instances of the node; present with include=instances. After a boot, the agent starts only these instances",
  ),
});
export type AgentConfig = z.infer<typeof AgentConfig>;

/**
 * The query of a poll for the approval. If the header X-Poll-Token contains the token instead, the logs of proxies do
 * not show the token.
 */
export const RegisterStatusQuery = z.object({ poll_token: z.string().max(128).optional() });
