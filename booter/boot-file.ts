// The file that a machine loads next, and the address of this booter from which it loads it.
import type { BooterConfig } from "./config.ts";
import type { BootFileQuestion } from "./dhcp/server.ts";
import { BIOS_PROGRAM, UEFI_PROGRAM } from "./files.ts";
import { scriptUrl } from "./http/routes.ts";
import { ipv4Number, sameNetwork } from "./ipv4.ts";

/** Returns the booter's address in the machine's own network, or its first address for a machine behind a relay. */
export function serverFor({ segment }: Pick<BooterConfig, "segment">, address: string): string {
  const value = ipv4Number(address) ?? 0;
  const near = segment.find((each) => sameNetwork(ipv4Number(each.address) ?? 0, value, each.prefix_len));
  return (near ?? segment[0])!.address;
}

export function bootFile(
  asked: BootFileQuestion,
  { secret, http_port }: { secret: Uint8Array; http_port: number },
): string {
  const { kind, server, mac, address, xid } = asked;
  const origin = `http://${server}:${http_port}`;
  switch (kind) {
    case "ipxe":
      return scriptUrl(secret, origin, { mac, address, xid }, new Date());
    case "uefi_http":
      return `${origin}/firmware/${UEFI_PROGRAM}`;
    case "uefi":
      return UEFI_PROGRAM;
    case "bios":
      return BIOS_PROGRAM;
    case "foreign":
    case "plain":
      return "";
  }
}
