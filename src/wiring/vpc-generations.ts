// Counts the VPCs that processes of release 0.1.0 created during an upgrade. That release does not have generations, so
// a node would not fetch the documents of such a VPC.
import type { Db } from "../db/pool.ts";

const COUNT = `insert into vpc_change (vpc_id) select id from vpc v
  where not exists (select from vpc_change c where c.vpc_id = v.id)
    and not exists (select from vpc_generation g where g.vpc_id = v.id)`;

/**
 * Gives each VPC without a generation its first one. Every process does this before it serves requests. Two processes
 * that start together may count a VPC twice, which only makes nodes fetch its documents again.
 */
export async function countVpcs(db: Db): Promise<void> {
  await db.query(COUNT);
}
