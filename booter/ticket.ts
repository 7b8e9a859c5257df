// Creates and checks the ticket in the URL of a boot script. A ticket contains the machine's MAC address, its IP
// address, the expiry time and the xid of its DISCOVER, with an HMAC. A ticket is valid only from that IP address,
// until the machine's next DISCOVER, for at most ten minutes. The script can contain secrets, so it is served once
// (script-uses.ts). The same holds for the archive of a machine that boots a Linux node image. networking.json contains
// no secret and can be fetched any number of times.
import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";
import { ipv4Number, ipv4Text } from "./ipv4.ts";
import { TICKET_S } from "./limits.ts";

export type Ticket = { readonly mac: string; readonly address: string; readonly xid: number };
export type TicketFault = "malformed" | "forged" | "expired" | "other_address" | "superseded";

const SIGNATURE_HEX_CHARS = 32;
const FORM = /^([0-9a-f]{12})\.([0-9a-f]{8})\.([0-9a-f]{8})\.([0-9a-f]{8})\.([0-9a-f]{32})$/;

/** Creates a ticket. A URL with it fits the 127 characters of the field `file` in a DHCP reply. */
export function issueTicket(secret: Uint8Array, { mac, address, xid }: Ticket, now: Date): string {
  const expires_s = Math.floor(now.getTime() / 1_000) + TICKET_S;
  const body = [mac.replaceAll(":", ""), hex8(ipv4Number(address) ?? 0), hex8(expires_s), hex8(xid)].join(".");
  return `${body}.${signature(secret, body)}`;
}

export type TicketCheck = {
  readonly text: string;
  /** The IP address from which the request came. */
  readonly source: string;
  readonly now: Date;
  /** Returns the xid of the machine's last DISCOVER, or null if the booter got none since its start. */
  readonly xidOf: (mac: string) => number | null;
};

export function readTicket(secret: Uint8Array, { text, source, now, xidOf }: TicketCheck): Ticket | TicketFault {
  const found = FORM.exec(text);
  if (found === null) return "malformed";
  const [, digits = "", address_hex = "", expires = "", xid_hex = "", given = ""] = found;
  const body = [digits, address_hex, expires, xid_hex].join(".");
  if (!timingSafeEqual(Buffer.from(given), Buffer.from(signature(secret, body)))) return "forged";
  if (now.getTime() >= Number.parseInt(expires, 16) * 1_000) return "expired";
  const address = ipv4Text(Number.parseInt(address_hex, 16));
  if (source !== address) return "other_address";
  const mac = digits.match(/../g)!.join(":");
  const xid = Number.parseInt(xid_hex, 16);
  const last = xidOf(mac);
  return last !== null && last !== xid ? "superseded" : { mac, address, xid };
}

function signature(secret: Uint8Array, body: string): string {
  return createHmac("sha256", secret).update(`script ${body}`).digest("hex").slice(0, SIGNATURE_HEX_CHARS);
}

function hex8(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
