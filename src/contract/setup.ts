// Defines the schemas of the setup of bare machines: announce, plan, approve, bundle, reports (docs/nodes.md, "The
// netboot path").
import { z } from "zod";
import { CnView } from "./cn.ts";
import { Hostname } from "./agent.ts";
import { Uuid } from "./common.ts";
import { COMPRESSIONS, DISK_LAYOUTS } from "./enums.ts";
import { TRAIT_BYTES_MAX } from "./limits.ts";

/** The announcement of a bare machine, which its booter sends. */
export const AnnounceBody = z.object({
  server_uuid: Uuid,
  hostname: Hostname.nullish(),
  sysinfo: z.record(z.string(), z.unknown()),
  mac: z.string().nullish().describe("The MAC with which the machine logged in to the booter's AMQP broker"),
  started: z.boolean().nullish().describe(
    "True if the machine has just started and this booter has begun no setup run for it. A running " +
      "setup then ends as failed if its bundle was already fetched. Needs `mac`",
  ),
});
export type AnnounceBody = z.infer<typeof AnnounceBody>;

const orNull = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? null);

/** The body that approves a setup. Unknown fields are refused, so that a misspelled key is not silently ignored. */
export const SetupApproval = z.strictObject({
  disk_layout: z.enum(DISK_LAYOUTS),
  disk_width: orNull(z.number().int()),
  disk_spares: orNull(z.number().int().min(0))
    .describe("0 means no spares. Without a value, the layout tool chooses the number"),
  disk_exclude: z.array(z.string().min(1).max(128)).max(1_024).nullish().transform((value) => value ?? []),
  disk_cache: z.boolean().nullish().transform((value) => value ?? true)
    .describe("Default true; false disables the L2ARC cache device"),
  disk_compress: orNull(z.enum(COMPRESSIONS)),
  hostname: orNull(Hostname).describe("Default: the announced name"),
});
export type SetupApproval = z.output<typeof SetupApproval>;

/** The node and its setup operation. */
export const SetupApproved = CnView.extend({
  operation_id: z.string().describe("The cn-setup operation; follow it with GET /v1/operations/{id}"),
});
export type SetupApproved = z.infer<typeof SetupApproved>;

const LayoutDisk = z.object({ name: z.string(), size_gb: z.number() });
/** The disk layout that an approval would create, with sizes in decimal GB, or the `error` that prevents it. */
export const LayoutProposal = z.object({
  disks: z.array(LayoutDisk),
  proposal: z.object({
    layout: z.enum(DISK_LAYOUTS),
    width: z.number().int().nullable(),
    spares: z.number().int(),
    vdevs: z.array(z.object({ type: z.string().optional(), disks: z.array(z.string()) })),
    spare_disks: z.array(z.string()),
    cache_disks: z.array(z.string()),
    capacity_gb: z.number(),
    destroys: z.array(z.string()).describe("Every disk whose data is lost"),
  }).optional(),
  error: z.string().optional(),
  supported_layouts: z.array(z.enum(DISK_LAYOUTS)),
});
export type LayoutProposal = z.infer<typeof LayoutProposal>;

/**
 * The data for the setup script, including secrets. The server returns the data to one request and its repetitions with
 * the same Idempotency-Key, and to a booter that takes over the run.
 */
export const SetupBundle = z.object({
  epoch: z.number().int().describe("The number of this run. Every report of the run must contain it"),
  server_uuid: z.string(),
  api_key: z.string(),
  console_ticket_key_hex: z.string(),
  imds_token_key_hex: z.string(),
  migrate_ticket_key_hex: z.string(),
  layout: SetupApproval,
  hostname: z.string(),
  root_password_hash: z.string().nullable(),
  root_authorized_keys: z.array(z.string()),
  macs: z.array(z.string()).describe(
    "The node's network ports; only a machine that logged in with one of them gets the bundle",
  ),
});
export type SetupBundle = z.infer<typeof SetupBundle>;

const epoch = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** A SHA-256 in lower-case hex. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits");

/** The body that stores the setup script that a booter is about to send to a machine. */
export const DeliveredScript = z.object({
  epoch,
  token_sha256: Sha256.describe("The SHA-256 of the token that the script sends with its calls"),
  address: z.ipv4().describe("The machine's IP address. The script's calls are accepted only from this address"),
});
/** A setup script that a booter is about to send to the machine that booted from the port `mac`. */
export type DeliveredScript = z.infer<typeof DeliveredScript> & { readonly mac: string };

/** The setup script of the latest run, as the record of the node stores it. */
export type SetupDelivery = DeliveredScript & {
  /** Whether another booter got the bundle for this script. */
  readonly handed_over: boolean;
  /** Whether the run has ended with an approved node. */
  readonly completed: boolean;
};

/** The setup run to which a script's token belongs, for a booter that did not send the script. */
export const SetupScript = z.object({
  server_uuid: z.string(),
  epoch,
  mac: z.string().describe("The network port that the machine booted from"),
  address: z.string(),
  completed: z.boolean().describe("True if the run succeeded. The script may repeat its last report"),
});
export type SetupScript = z.infer<typeof SetupScript>;

/** The body with which a booter that did not send the script gets the bundle of the run. */
export const BundleHandover = z.object({
  epoch,
  token: z.string().regex(/^[0-9a-f]{48}$/, "must be 48 lower-case hex digits")
    .describe("The script's token, which proves that the request comes from the machine"),
});

/** The body that reports the progress of a setup; percent is 0 to 100. */
export const SetupProgressReport = z.object({
  epoch,
  step: z.string().min(1).max(128),
  message: z.string().max(2_048).nullish(),
  percent: z.number().min(0).max(100).nullish(),
});
/** The body that reports that the setup with this epoch succeeded. */
export const SetupCompleteReport = z.object({
  epoch,
  mac: z.string().nullish().describe("The MAC of the network port that the machine booted from"),
});
/** The body that reports that a setup failed. The route limits the reason's length in UTF-8 bytes. */
export const SetupFailedReport = z.object({ epoch, reason: z.string() });

/**
 * The body that sets the root password of a node. At most one of the two fields may be set. Without either, the stored
 * hash is cleared.
 */
export const RootPasswordBody = z.strictObject({
  password: z.string().max(1_024).nullish(),
  password_hash: z.string().max(256).nullish(),
});

const traitText = z.string().min(1).refine(
  (text) => new TextEncoder().encode(text).length <= TRAIT_BYTES_MAX,
  `must be 1 to ${TRAIT_BYTES_MAX} bytes`,
);
/** The whole set of a node's traits. */
export const Traits = z.strictObject({ traits: z.record(traitText, traitText) });
export type Traits = z.infer<typeof Traits>;
