// Gives the public addresses of deleted NAT gateways back to their pools. The table resting_address keeps an address
// until the gateway's last node can no longer use it (docs/networking.md, "Where NAT gateways run").
import { LAST_NODE, LAST_NODE_STATE } from "./nat-gateway-hosts.ts";
import type { Db } from "./pool.ts";

// Runs after the commit that deleted the gateway, and stores the generation that the VPC has then. So documents of this
// generation, or of a later one, do not contain the gateway.
const NOTE = "update resting_address set generation = berth_vpc_generation(vpc_id) where generation is null";

// The condition of isOff (src/lib/placement/nat-gateway-host.ts), for a gateway that had a node.
const OFF = `
    select address from (select g.address, g.generation, ${LAST_NODE_STATE} from resting_address g ${LAST_NODE}) g
     where (is_fenced or applied_generation is null or applied_generation >= generation)`;

const LIST = `${OFF} order by address limit $2`;

// One address per statement, so that two processes cannot deadlock. The networks of pools do not overlap, so at most
// one pool contains the address. If a process of an earlier release deleted the external subnet of the address, and the
// subnet was created again, the address is already free in the new pool, or allocated from it. Then the statement does
// not release the address.
const RELEASE = `
  with off as (${OFF} and address = $2), gone as (
    delete from resting_address r using off where r.address = off.address returning r.address
  )
  select (select berth_release(p.id, host(g.address)) from pool p
           where p.network >>= g.address
             and not exists (select from public_address a where a.address = g.address)
             and not exists (select from berth_free_ranges(p.id, g.address - p.base, g.address - p.base)))
    from gone g`;

/**
 * Releases at most `rows_max` addresses whose last node can no longer run the deleted gateway. `fence_s` is the silence
 * after which a node certainly runs no gateway. If some addresses cannot be released, releases the others and then
 * throws the first error.
 */
export async function releaseResting(db: Db, fence_s: number, rows_max: number): Promise<void> {
  await db.query(NOTE);
  const { rows } = await db.query<{ address: string }>(LIST, [fence_s, rows_max]);
  const errors: unknown[] = [];
  for (const { address } of rows) {
    await db.query(RELEASE, [fence_s, address]).catch((error) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}
