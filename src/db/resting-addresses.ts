// Gives the public addresses of deleted NAT gateways back to their pools (docs/networking.md, "Where NAT gateways
// run").
import { LAST_NODE, LAST_NODE_STATE } from "./nat-gateway-hosts.ts";
import type { Db } from "./pool.ts";

// Stores the VPC's generation after the commit that deleted the gateway. So documents of this generation, or of a later
// one, do not contain the gateway.
const NOTE = "update resting_address set generation = berth_vpc_generation(vpc_id) where generation is null";

// The same condition as isOff. One address per statement, so that two processes cannot deadlock. The networks of pools
// do not overlap, so at most one pool contains the address.
const RELEASE = `
  with off as (
    select address from (select g.address, g.generation, ${LAST_NODE_STATE} from resting_address g ${LAST_NODE}) g
     where is_fenced or applied_generation is null or applied_generation >= generation
     order by address limit 1
  ), gone as (
    delete from resting_address r using off where r.address = off.address returning r.address
  )
  select (select berth_release(p.id, host(g.address)) from pool p where p.network >>= g.address) from gone g`;

/**
 * Releases at most `rows_max` addresses whose last node can no longer run the deleted gateway. `fence_s` is the silence
 * after which a node certainly runs no gateway.
 */
export async function releaseResting(db: Db, fence_s: number, rows_max: number): Promise<void> {
  await db.query(NOTE);
  for (let count = 0; count < rows_max; count++) {
    if ((await db.query(RELEASE, [fence_s])).rowCount === 0) return;
  }
}
