// The identity of a machine that registers, derived from its sysinfo.
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
};

/** A registration with the MACs of the machine's ports and the serial number of its board. */
export type Identified = ReportedIdentity & { readonly macs: readonly string[]; readonly serial: string | null };

/** Returns the registration fields of a message, with the MACs and the serial number from its sysinfo. */
export function identified(m: ReportedIdentity): Identified {
  const { server_uuid, hostname, admin_ip, sysinfo, console_listen_port, console_tls_spki_sha256_hex } = m;
  const [macs, serial] = [macsOf(sysinfo), serialOf(sysinfo)];
  return { server_uuid, hostname, admin_ip, sysinfo, macs, serial, console_listen_port, console_tls_spki_sha256_hex };
}
