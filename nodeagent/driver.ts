// The machine as the agent sees it. A driver knows one kind of host; the agent knows none.
import type { CapacityReportBody, Registration } from "../src/contract/agent.ts";
import type { Blueprint } from "../src/contract/job.ts";

export type Hardware = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly admin_ip: string | null;
  readonly sysinfo: Registration["sysinfo"];
};

/** `percent` is a fraction of physical memory, already within 0 to 1. */
export type Reservoir = { readonly enabled: boolean; readonly percent: number };

/** Everything a VM is made of. */
export type VmPlan = Blueprint & {
  readonly instance: NonNullable<Blueprint["instance"]>;
  /** The verified file of the image. */
  readonly image_path: string;
};

/** A floating IP on a NIC of this node. Of two orders about one, that with the higher generation counts. */
export type AddressBinding = {
  readonly floating_ip_id: string;
  readonly fip_addr: string;
  readonly nic_id: string | null;
  readonly external_nic_tag: string | null;
  readonly vlan_id: number | null;
  readonly generation: number;
};

/** What a release names. What it leaves out is not looked at: a binding of any NIC, of any generation. */
export type AddressRelease = {
  readonly floating_ip_id: string;
  readonly nic_id: string | null;
  /** The latest that it is about. */
  readonly generation: number | null;
};

/** Each can be repeated: what is there already stays, what is gone already is no failure. All is durable at the end. */
export type Vms = {
  createDisks(plan: VmPlan): Promise<void>;
  createNics(plan: VmPlan): Promise<void>;
  create(plan: VmPlan): Promise<void>;
  boot(instance_id: string): Promise<void>;
  halt(instance_id: string): Promise<void>;
  /** The VM with its disks, its NICs and the addresses that are bound to them. */
  destroy(instance_id: string): Promise<void>;
  /** Grows a disk. The answer is how large it is now. */
  resize(instance_id: string, disk: { readonly id: string; readonly size_bytes: number }): Promise<number>;
  bindAddress(binding: AddressBinding): Promise<void>;
  releaseAddress(release: AddressRelease): Promise<void>;
  hasNic(nic_id: string): boolean;
  /** Whether a disk is made of this image, so that the image has to stay. */
  usesImage(sha256: string): boolean;
  /** The disks of a VM and how large they are. */
  disksOf(instance_id: string): readonly { readonly id: string; readonly size_bytes: number }[];
};

export type Driver = {
  hardware(): Promise<Hardware>;
  /** Without a timestamp: two calls on an unchanged machine give equal values. */
  status(): Promise<Readonly<Record<string, unknown>>>;
  capacity(): Promise<CapacityReportBody>;
  applyReservoir(reservoir: Reservoir): Promise<void>;
  /** Replaces the keys that may log in as root: OpenSSH public keys, one line each, already checked. */
  applyRootKeys(keys: readonly string[]): Promise<void>;
  readonly vms: Vms;
  /** Called before each step of a job, `KIND:STEP`: where a machine that was told so is slow, fails or loses its power. */
  beforeStep(step: string, signal: AbortSignal): Promise<void>;
};
