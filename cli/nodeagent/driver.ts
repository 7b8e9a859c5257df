// The machine as the agent sees it. A driver knows one kind of host; the agent knows none.
import type { CapacityReportBody, Registration } from "../../src/contract/agent.ts";

export type Hardware = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly admin_ip: string | null;
  readonly sysinfo: Registration["sysinfo"];
};

/** `percent` is a fraction of physical memory, already within 0 to 1. */
export type Reservoir = { readonly enabled: boolean; readonly percent: number };

export type Driver = {
  hardware(): Promise<Hardware>;
  /** Without a timestamp: two calls on an unchanged machine give equal values. */
  status(): Promise<Readonly<Record<string, unknown>>>;
  capacity(): Promise<CapacityReportBody>;
  applyReservoir(reservoir: Reservoir): Promise<void>;
  /** Replaces the keys that may log in as root: OpenSSH public keys, one line each, already checked. */
  applyRootKeys(keys: readonly string[]): Promise<void>;
};
