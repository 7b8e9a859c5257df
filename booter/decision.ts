// Decides what a machine boots. The DHCP, TFTP and HTTP servers all use this decision, so that none of them serves a
// machine that another refuses. A refused machine gets no DHCP reply, and the DHCP server logs the reason. TFTP and
// HTTP answer that the file does not exist. See docs/booting.md, "Boot records".
import type { BootRecord } from "../src/contract/boot.ts";
import { isStamp } from "../src/lib/ids/stamp.ts";

/** Kinds of DHCP clients: iPXE, three kinds of firmware, a machine of another architecture, and no netboot client. */
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
  /**
   * True if the control plane just confirmed the record; false for a cached record while the control plane is
   * unreachable.
   */
  readonly verified: boolean;
  readonly policy: BootSettings;
};

export type BootSettings = {
  readonly answer_only_pxe: boolean;
  readonly enrollment_pi: string | null;
  /** The stamps of the platform images in this booter's folder. */
  readonly staged: ReadonlySet<string>;
};

export type Decision =
  | { readonly kind: "nothing"; readonly reason: Silence }
  /**
   * The client gets an IP address but no image. This is for clients that do not netboot, if the configuration allows
   * them.
   */
  | { readonly kind: "lease" }
  | { readonly kind: "enrol" | "local" | "rescue"; readonly stamp: string };

export function decide({ client, record, verified, policy }: Question): Decision {
  if (client === "plain" && policy.answer_only_pxe) return nothing("not_pxe");
  if (client === "foreign") return nothing("foreign_architecture");
  if (record === null) return nothing("no_record");
  // While the control plane cannot be reached, no machine enrols: cached records are used for enrolled nodes only.
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

/** Picks the first wanted image that is staged and whose name is safe in a path and a boot script. */
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
