// What a registration says of a machine's identity, found in its sysinfo.
import { macsOf } from "../net/sysinfo-macs.ts";
import { serialOf } from "./sysinfo-serial.ts";

/** What a node says of itself when it registers. */
export type Said = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly admin_ip: string | null;
  readonly sysinfo: unknown;
  readonly console_listen_port: number | null;
  readonly console_tls_spki_sha256_hex: string | null;
};

/** The same with the MACs of the machine's ports and the serial number of its board. */
export type Identified = Said & { readonly macs: readonly string[]; readonly serial: string | null };

/** Takes what a registration says out of the message that brings it. */
export function identified(m: Said): Identified {
  const { server_uuid, hostname, admin_ip, sysinfo, console_listen_port, console_tls_spki_sha256_hex } = m;
  const [macs, serial] = [macsOf(sysinfo), serialOf(sysinfo)];
  return { server_uuid, hostname, admin_ip, sysinfo, macs, serial, console_listen_port, console_tls_spki_sha256_hex };
}
