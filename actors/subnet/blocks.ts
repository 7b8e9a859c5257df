// The blocks of a subnet: the rules for them, and the pools of their addresses.
import { badRequest, conflict, type Fault, isFault } from "../../src/contract/fault.ts";
import { POOL_OFFSET_MAX, SUBNET_ADDRESSES_KEPT } from "../../src/contract/limits.ts";
import { type Cidr, formatIp } from "../../src/lib/net/ip-address.ts";
import { addressesOf, type Blocks, blockText, containsBlock, planFor } from "../../src/lib/net/ip-block.ts";
import { subnetPool } from "../../src/lib/net/subnet-pool.ts";
import { insert } from "../engine/effects.ts";
import type { ChildWrite } from "../engine/types.ts";

/** Returns the 400 for a block with only reserved addresses, or null. */
export function tooSmall(blocks: readonly Cidr[]): Fault | null {
  for (const block of blocks) {
    const { low, high } = offsetsOf(block);
    if (high < low) return badRequest(`${blockText(block)} is too small: it has no address for a host`);
  }
  return null;
}

/** Returns the 409 for a block outside the blocks of the VPC, or null. */
export function misplaced(blocks: readonly Cidr[], plan: Blocks): Fault | null {
  for (const block of blocks) {
    const outer = planFor(block, plan);
    if (isFault(outer)) return outer;
    if (!containsBlock(outer, block)) {
      return conflict(`${blockText(block)} is not inside ${blockText(outer)}, the block of the vpc`);
    }
  }
  return null;
}

/** Returns the rows of the pool of a block's addresses. */
export function poolOf(subnet_id: string, block: Cidr): readonly ChildWrite[] {
  const pool_id = subnetPool(subnet_id, block.family === 4 ? "v4" : "v6");
  const { low, high } = offsetsOf(block);
  return [
    insert("pool", { id: pool_id, base: formatIp({ family: block.family, value: block.network }) }),
    insert("pool_range", { pool_id, low, high }),
  ];
}

/**
 * Returns the offsets for hosts: all up to POOL_OFFSET_MAX except the reserved offsets at the start and, in IPv4, the
 * broadcast address.
 */
function offsetsOf(block: Cidr): { readonly low: number; readonly high: number } {
  const last = Number(addressesOf(block) - (block.family === 4 ? 2n : 1n));
  return { low: SUBNET_ADDRESSES_KEPT, high: Math.min(last, POOL_OFFSET_MAX) };
}
