// Refuses the blocks that a VPC cannot use. Guests, routers and the kernel treat the addresses in these blocks
// specially, so packets to these addresses would never arrive (docs/networking.md, "Addresses").
import { badRequest, type Fault } from "../../contract/fault.ts";
import type { Cidr } from "./ip-address.ts";
import { blockText, containsBlock, parseBlock, type ReadBlocks } from "./ip-block.ts";

/** The ranges, each with the use of its addresses. */
const UNUSABLE: readonly { readonly range: Cidr; readonly use: string }[] = [
  { range: parseBlock("0.0.0.0/8")!, use: "unspecified addresses" },
  { range: parseBlock("127.0.0.0/8")!, use: "loopback addresses" },
  { range: parseBlock("169.254.0.0/16")!, use: "link-local addresses and the metadata service" },
  { range: parseBlock("224.0.0.0/4")!, use: "multicast addresses" },
  { range: parseBlock("::/128")!, use: "the unspecified address" },
  { range: parseBlock("::1/128")!, use: "the loopback address" },
  { range: parseBlock("fe80::/10")!, use: "link-local addresses" },
  { range: parseBlock("ff00::/8")!, use: "multicast addresses" },
  { range: parseBlock("fd00:ec2::254/128")!, use: "the metadata service" },
];

/**
 * Returns a 400 that names the field if a block of a new VPC is inside an unusable range. A block that contains every
 * address of its family is also refused. Any other block may contain an unusable range, because its subnets outside of
 * the range work.
 */
export function unusableBlockFault({ ipv4, ipv6 }: ReadBlocks): Fault | null {
  return faultOf("ipv4_block", ipv4) ?? faultOf("ipv6_block", ipv6);
}

function faultOf(field: "ipv4_block" | "ipv6_block", block: Cidr | null): Fault | null {
  if (block === null) return null;
  if (block.prefix === 0) return badRequest(`${field} must not contain every address: ${blockText(block)}`);
  const found = UNUSABLE.find(({ range }) => containsBlock(range, block));
  if (found === undefined) return null;
  const { range, use } = found;
  return badRequest(`${field} must not be inside ${blockText(range)} (${use}): ${blockText(block)}`);
}
