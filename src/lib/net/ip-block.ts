// Networks as records keep them: host bits dropped, canonical text, and how two of them lie to each other.
import { badRequest, conflict, type Fault } from "../../contract/fault.ts";
import { type Cidr, formatIp, networkOf, parseCidr } from "./ip-address.ts";

/** What a VPC or a subnet spans, at most one network of each family. */
export type Blocks = { readonly ipv4_block: string | null; readonly ipv6_block: string | null };

/** Blocks as a request may name them. */
export type GivenBlocks = { readonly ipv4_block?: string | null; readonly ipv6_block?: string | null };

/**
 * Reads "10.0.1.5/24" or "2001:db8::1/64" and drops the host bits; null when it is no network with a prefix length.
 * IPv4 in the clothes of IPv6 (::ffff:10.0.0.0/104) is neither family's.
 */
export function parseBlock(text: string): Cidr | null {
  const block = text.includes("/") ? parseCidr(text) : null;
  return block !== null && (block.family === 6) === text.includes(":") ? block : null;
}

/** The canonical text: dotted decimal or RFC 5952, and the prefix length. */
export function blockText({ family, network, prefix }: Cidr): string {
  return `${formatIp({ family, value: network })}/${prefix}`;
}

/** What the database shows of a network, as we write it: PostgreSQL has dotted forms of its own for some of IPv6. */
export function storedBlock(text: string): string;
export function storedBlock(text: string | null): string | null;
export function storedBlock(text: string | null): string | null {
  const block = text === null ? null : parseBlock(text);
  return block === null ? text : blockText(block);
}

/** Whether every address of `inner` is one of `outer`. */
export function containsBlock(outer: Cidr, inner: Cidr): boolean {
  if (outer.family !== inner.family || inner.prefix < outer.prefix) return false;
  return networkOf({ family: inner.family, value: inner.network }, outer.prefix) === outer.network;
}

/** How many addresses a network has, the first and the last included. */
export function addressesOf({ family, prefix }: Cidr): bigint {
  return 1n << BigInt((family === 4 ? 32 : 128) - prefix);
}

/** Blocks that were read, as numbers and as canonical text. */
export type ReadBlocks = {
  readonly ipv4: Cidr | null;
  readonly ipv6: Cidr | null;
  readonly text: Blocks;
};

/** The blocks of a body, or the 400 when there is none or one is no network of its family. */
export function readBlocks(given: GivenBlocks, of: "vpc" | "subnet"): ReadBlocks | Fault {
  const { ipv4_block = null, ipv6_block = null } = given;
  if (ipv4_block === null && ipv6_block === null) {
    return badRequest(`${of} must specify ipv4_block, ipv6_block, or both`);
  }
  const ipv4 = ipv4_block === null ? null : parseBlock(ipv4_block);
  if (ipv4_block !== null && ipv4?.family !== 4) return badRequest("ipv4_block must be an IPv4 network");
  const ipv6 = ipv6_block === null ? null : parseBlock(ipv6_block);
  if (ipv6_block !== null && ipv6?.family !== 6) return badRequest("ipv6_block must be an IPv6 network");
  return { ipv4, ipv6, text: { ipv4_block: ipv4 && blockText(ipv4), ipv6_block: ipv6 && blockText(ipv6) } };
}

/** The block of `blocks` that has the family of `block`, or the 409 when none has. */
export function planFor(block: Cidr, blocks: Blocks): Cidr | Fault {
  const field = block.family === 4 ? "ipv4_block" : "ipv6_block";
  const plan = blocks[field] === null ? null : parseBlock(blocks[field]);
  return plan ?? conflict(`${blockText(block)} is IPv${block.family}, and the vpc has no ${field}`);
}
