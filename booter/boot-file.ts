// Determines the file that a machine loads next, and the booter's address from which the machine loads the file.
import { type BooterConfig, peerOrigin } from "./config.ts";
import type { BootFileQuestion } from "./dhcp/server.ts";
import { ARM64_PROGRAM, BIOS_PROGRAM, type Files, SECURE_PROGRAMS, UEFI_PROGRAM } from "./files.ts";
import type { Architecture } from "./decision.ts";
import { scriptUrl } from "./http/routes.ts";
import { ipv4Number, sameNetwork } from "./ipv4.ts";

/**
 * Returns the booter's address in the machine's own network, or the booter's first address for a machine behind a
 * relay.
 */
export function serverFor({ segment }: Pick<BooterConfig, "segment">, address: string): string {
  const value = ipv4Number(address) ?? 0;
  const near = segment.find((each) => sameNetwork(ipv4Number(each.address) ?? 0, value, each.prefix_len));
  return (near ?? segment[0])!.address;
}

/**
 * Returns the origins of the other booters that this machine can reach. A peer in one of this booter's networks counts
 * as reachable only for machines that use this booter's address in that network.
 */
export function peersFor({ segment, ur }: Pick<BooterConfig, "segment" | "ur">, address: string): readonly string[] {
  const server = serverFor({ segment }, address);
  return (ur?.peers ?? []).filter((peer) => {
    const value = ipv4Number(peer.address) ?? 0;
    const near = segment.filter((each) => sameNetwork(ipv4Number(each.address) ?? 0, value, each.prefix_len));
    return near.length === 0 || near.some((each) => each.address === server);
  }).map(peerOrigin);
}

export type BootFileParts = {
  readonly secret: Uint8Array;
  readonly http_port: number;
  /**
   * Null if the booter does not serve HTTPS. Only firmware uses HTTPS, because an operator can add the certificate to
   * the firmware's settings. iPXE does not trust the certificate.
   */
  readonly https_port: number | null;
  readonly files: Files;
};

export function bootFile(
  asked: BootFileQuestion,
  { secret, http_port, https_port, files }: BootFileParts,
): string {
  const { kind, architecture, server, mac, address, xid } = asked;
  const origin = `http://${server}:${http_port}`;
  switch (kind) {
    case "ipxe":
      return scriptUrl(secret, origin, { mac, address, xid }, new Date());
    case "uefi_http":
      return `${https_port === null ? origin : `https://${server}:${https_port}`}/firmware/${
        uefiProgram(architecture, files)
      }`;
    case "uefi":
      return uefiProgram(architecture, files);
    case "bios":
      return BIOS_PROGRAM;
    case "foreign":
    case "plain":
      return "";
  }
}

/** Returns the program that UEFI firmware starts: the shim, if the booter has one for this architecture. */
function uefiProgram(architecture: Architecture, files: Files): string {
  const [shim] = SECURE_PROGRAMS[architecture];
  if (files.program(shim) !== null) return shim;
  return architecture === "arm64" ? ARM64_PROGRAM : UEFI_PROGRAM;
}
