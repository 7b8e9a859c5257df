// Who gets what. The one decision of the booter: DHCP, TFTP and HTTP all ask it, so that none of them serves a machine
// that another refuses. Document 2, Booter behaviour per record. Every refusal is silence, with a reason for the log.
import type { BootRecord } from "../src/contract/boot.ts";
import { isStamp } from "../src/lib/ids/stamp.ts";

/** What asks: by firmware, by iPXE, by a machine of another architecture, or by no netboot program at all. */
export const CLIENT_KINDS = ["ipxe", "uefi_http", "uefi", "bios", "foreign", "plain"] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

const SILENCES = [
  "not_pxe",
  "foreign_architecture",
  "no_record",
  "not_verified",
  "no_address",
  "discovered",
  "decommissioned",
  "no_enrollment_image",
  "image_not_staged",
] as const;
export type Silence = (typeof SILENCES)[number];

export type Question = {
  readonly client: ClientKind;
  readonly record: Pick<BootRecord, "state" | "address" | "rescue" | "assigned_pi"> | null;
  /** Whether the control plane said so just now; false when it is away and a kept copy answers. */
  readonly verified: boolean;
  readonly policy: BootSettings;
};

export type BootSettings = {
  readonly answer_only_pxe: boolean;
  readonly enrollment_pi: string | null;
  /** Platform images that this booter has. */
  readonly staged: ReadonlySet<string>;
};

export type Decision =
  | { readonly kind: "nothing"; readonly reason: Silence }
  /** An address and nothing to boot: for a client that does not netboot, where the configuration allows it. */
  | { readonly kind: "lease" }
  | { readonly kind: "enrol" | "local" | "rescue"; readonly stamp: string };

export function decide({ client, record, verified, policy }: Question): Decision {
  if (client === "plain" && policy.answer_only_pxe) return nothing("not_pxe");
  if (client === "foreign") return nothing("foreign_architecture");
  if (record === null) return nothing("no_record");
  // While the control plane is away, nobody enrols: a kept copy speaks for finished nodes only.
  if (!verified && record.state !== "enrolled") return nothing("not_verified");
  if (record.rescue) return boots("rescue", [record.assigned_pi, policy.enrollment_pi], { client, record, policy });
  switch (record.state) {
    case "discovered":
    case "decommissioned":
      return nothing(record.state);
    case "enrolling":
      return boots("enrol", [policy.enrollment_pi], { client, record, policy });
    case "enrolled":
      return boots("local", [record.assigned_pi], { client, record, policy });
  }
}

type Bootable = Pick<Question, "client" | "policy"> & { readonly record: NonNullable<Question["record"]> };

/** The first of the images that is here and whose name may stand in a path and a boot script. */
function boots(
  kind: "enrol" | "local" | "rescue",
  wanted: readonly (string | null)[],
  { client, record, policy }: Bootable,
): Decision {
  if (record.address === null) return nothing("no_address");
  if (client === "plain") return { kind: "lease" };
  if (kind === "enrol" && policy.enrollment_pi === null) return nothing("no_enrollment_image");
  const stamp = wanted.find((each) => each !== null && isStamp(each) && policy.staged.has(each));
  return typeof stamp === "string" ? { kind, stamp } : nothing("image_not_staged");
}

function nothing(reason: Silence): Decision {
  return { kind: "nothing", reason };
}
