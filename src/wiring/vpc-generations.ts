// Gives a generation to VPCs that processes of release 0.1.0 created during an upgrade. That release does not have
// generations, and a node would not fetch the documents of a VPC without a generation.
import type { Db } from "../db/pool.ts";

const COUNT = `insert into vpc_change (vpc_id) select id from vpc v
  where not exists (select from vpc_change c where c.vpc_id = v.id)
    and not exists (select from vpc_generation g where g.vpc_id = v.id)`;

/**
 * Gives each VPC without a generation its first generation. Every process does this before it serves requests. Two
 * processes that start together may raise the generation twice. This only makes nodes fetch the documents of the VPC
 * again.
 */
export async function countVpcs(db: Db): Promise<void> {
  await db.query(COUNT);
}
