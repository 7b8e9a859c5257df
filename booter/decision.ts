// Decides what a machine boots. The DHCP, TFTP and HTTP servers all use this decision. A refused machine gets no DHCP
// reply, and the DHCP server logs the reason. TFTP and HTTP answer that the file does not exist. See docs/booting.md,
// "Boot records".
import type { BootRecord } from "../src/contract/boot.ts";
import { isStamp } from "../src/lib/ids/stamp.ts";

/**
 * The kinds of DHCP clients. `foreign` is a machine of an architecture without a boot program. `plain` is a client that
 * does not netboot.
 */
export const CLIENT_KINDS = ["ipxe", "uefi_http", "uefi", "bios", "foreign", "plain"] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

/** The architectures of machines and of images. */
export const ARCHITECTURES = ["x86_64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

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
  "image_of_other_architecture",
] as const;
export type Silence = (typeof SILENCES)[number];

export type Question = {
  readonly client: ClientKind;
  /** Null if the architecture is unknown. Then an image of any architecture is served. */
  readonly architecture: Architecture | null;
  readonly record: Pick<BootRecord, "state" | "address" | "rescue" | "assigned_pi"> | null;
  /**
   * True if the control plane just confirmed the record. False for a cached record that the control plane did not
   * confirm in time.
   */
  readonly verified: boolean;
  readonly policy: BootSettings;
};

export type BootSettings = {
  readonly answer_only_pxe: boolean;
  readonly enrollment_pi: string | null;
  /** The stamps of the platform images in this booter's folder. */
  readonly staged: ReadonlySet<string>;
  /** The staged images for ARM64; all others are for x86-64. */
  readonly arm64_images: ReadonlySet<string>;
  /** Whether the booter has a boot program for ARM64. */
  readonly has_arm64: boolean;
};

export type Decision =
  | { readonly kind: "nothing"; readonly reason: Silence }
  /**
   * The client gets an IP address but no image. Only a client that does not netboot gets this answer, and only if the
   * configuration allows such clients.
   */
  | { readonly kind: "lease" }
  | { readonly kind: "enrol" | "local" | "rescue"; readonly stamp: string };

export function decide({ client, architecture, record, verified, policy }: Question): Decision {
  if (client === "plain" && policy.answer_only_pxe) return nothing("not_pxe");
  if (client === "foreign") return nothing("foreign_architecture");
  if (record === null) return nothing("no_record");
  // While the control plane cannot be reached, no machine enrols: cached records are used for enrolled nodes only.
  if (!verified && record.state !== "enrolled") return nothing("not_verified");
  const asked = { client, architecture, record, policy };
  if (record.rescue) return boots("rescue", [record.assigned_pi, policy.enrollment_pi], asked);
  switch (record.state) {
    case "discovered":
    case "decommissioned":
      return nothing(record.state);
    case "enrolling":
      // The policy names one image, for one architecture. A machine of another architecture enrols with its assigned
      // image.
      return boots("enrol", [policy.enrollment_pi, ...ofOtherArchitecture(asked)], asked);
    case "enrolled":
      return boots("local", [record.assigned_pi], asked);
  }
}

type Bootable = Pick<Question, "client" | "architecture" | "policy"> & {
  readonly record: NonNullable<Question["record"]>;
};

function ofOtherArchitecture({ architecture, record, policy }: Bootable): readonly (string | null)[] {
  const { enrollment_pi } = policy;
  return enrollment_pi === null || fits(enrollment_pi, architecture, policy) ? [] : [record.assigned_pi];
}

function fits(stamp: string, architecture: Architecture | null, { arm64_images }: BootSettings): boolean {
  return architecture === null || arm64_images.has(stamp) === (architecture === "arm64");
}

/**
 * Decides for the first wanted image that is staged, fits the machine, and has a name that is safe in a path and a boot
 * script. A client that does not netboot gets only a lease.
 */
function boots(
  kind: "enrol" | "local" | "rescue",
  wanted: readonly (string | null)[],
  { client, architecture, record, policy }: Bootable,
): Decision {
  if (record.address === null) return nothing("no_address");
  if (client === "plain") return { kind: "lease" };
  if (kind === "enrol" && policy.enrollment_pi === null) return nothing("no_enrollment_image");
  const staged = wanted.filter((each) => each !== null && isStamp(each) && policy.staged.has(each)) as string[];
  const stamp = staged.find((each) => fits(each, architecture, policy));
  if (stamp !== undefined) return { kind, stamp };
  return nothing(staged.length === 0 ? "image_not_staged" : "image_of_other_architecture");
}

function nothing(reason: Silence): Decision {
  return { kind: "nothing", reason };
}
