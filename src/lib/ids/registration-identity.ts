// Builds the identity of a machine in its registration. The MACs and the serial number are from the machine's sysinfo.
import { macsOf } from "../net/sysinfo-macs.ts";
import { serialOf } from "./sysinfo-serial.ts";

/** The fields of a node's registration. */
export type ReportedIdentity = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly admin_ip: string | null;
  readonly sysinfo: unknown;
  readonly console_listen_port: number | null;
  readonly console_tls_spki_sha256_hex: string | null;
  /** Null or absent if the node reports no underlay. */
  readonly underlay_address?: string | null;
  readonly underlay_mtu?: number | null;
};

/** A registration with the MACs of the machine's ports and the machine's serial number. */
export type Identified = Required<ReportedIdentity> & {
  readonly macs: readonly string[];
  readonly serial: string | null;
};

/** Returns the registration fields of a message, with the MACs and the serial number from its sysinfo. */
export function identified(m: ReportedIdentity): Identified {
  const { server_uuid, hostname, admin_ip, sysinfo, console_listen_port, console_tls_spki_sha256_hex } = m;
  const [macs, serial] = [macsOf(sysinfo), serialOf(sysinfo)];
  const console = { console_listen_port, console_tls_spki_sha256_hex };
  const underlay = { underlay_address: m.underlay_address ?? null, underlay_mtu: m.underlay_mtu ?? null };
  return { server_uuid, hostname, admin_ip, sysinfo, macs, serial, ...console, ...underlay };
}
