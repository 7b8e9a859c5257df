// Parses and compares networks. Records store them in canonical text, with host bits cleared.
import { badRequest, conflict, type Fault } from "../../contract/fault.ts";
import { type Cidr, formatIp, networkOf, parseCidr } from "./ip-address.ts";

/** The networks of a VPC or a subnet, at most one of each family. */
export type Blocks = { readonly ipv4_block: string | null; readonly ipv6_block: string | null };

/** The blocks in a request body; an absent field is treated as null. */
export type GivenBlocks = { readonly ipv4_block?: string | null; readonly ipv6_block?: string | null };

/**
 * The end of the error text if `parseBlock` cannot parse a value. The error text begins with the field and the value.
 */
export const NOT_A_BLOCK = "is not an IPv4 or IPv6 network; use for example 10.0.0.0/24";

/**
 * Parses "10.0.1.5/24" or "2001:db8::1/64" and clears the host bits. Returns null if the text is not a network with a
 * prefix length. Also returns null for an IPv4-mapped network (::ffff:10.0.0.0/104), which belongs to neither family.
 */
export function parseBlock(text: string): Cidr | null {
  const block = text.includes("/") ? parseCidr(text) : null;
  return block !== null && (block.family === 6) === text.includes(":") ? block : null;
}

/** Returns the canonical text: dotted decimal or RFC 5952, and the prefix length. */
export function blockText({ family, network, prefix }: Cidr): string {
  return `${formatIp({ family, value: network })}/${prefix}`;
}

/**
 * Converts a network to canonical text, and returns any other text unchanged. This is needed for networks from the
 * database, because PostgreSQL prints some IPv6 networks with a dotted IPv4 part.
 */
export function storedBlock(text: string): string;
export function storedBlock(text: string | null): string | null;
export function storedBlock(text: string | null): string | null {
  const block = text === null ? null : parseBlock(text);
  return block === null ? text : blockText(block);
}

/** Returns whether `outer` contains every address of `inner`. */
export function containsBlock(outer: Cidr, inner: Cidr): boolean {
  if (outer.family !== inner.family || inner.prefix < outer.prefix) return false;
  return networkOf({ family: inner.family, value: inner.network }, outer.prefix) === outer.network;
}

/** Returns the number of addresses in a network, including the first and the last. */
export function addressesOf({ family, prefix }: Cidr): bigint {
  return 1n << BigInt((family === 4 ? 32 : 128) - prefix);
}

/** Parsed blocks, as numbers and as canonical text. */
export type ReadBlocks = {
  readonly ipv4: Cidr | null;
  readonly ipv6: Cidr | null;
  readonly text: Blocks;
};

/**
 * Parses the blocks of a request body. Returns a 400 if both blocks are missing, or if a block is not a network of the
 * field's address family.
 */
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

/** Returns the block of the same family as `block`, or a 409 if `blocks` has none. */
export function planFor(block: Cidr, blocks: Blocks): Cidr | Fault {
  const field = block.family === 4 ? "ipv4_block" : "ipv6_block";
  const plan = blocks[field] === null ? null : parseBlock(blocks[field]);
  return plan ?? conflict(`${blockText(block)} is IPv${block.family}, and the vpc has no ${field}`);
}
