// Stores the reports of nodes about the networks of VPCs. The table vpc_realization has a row for each VPC and each
// node that may store the VPC's network document. The row is created before the node gets the document, and deleted
// when the node no longer stores it.
import type { NetworkRealizationBody } from "../contract/network-document.ts";
import type { Db } from "./pool.ts";

/** A report of a node about one VPC. */
export type Report = Pick<NetworkRealizationBody, "generation" | "status"> & {
  readonly vpc_id: string;
  readonly server_uuid: string;
  readonly message: string | null;
};

/**
 * Whether a report was stored, or why not:
 * - `unknown`: the VPC's document was not offered to the node.
 * - `older`: the node has already reported a later generation. A report with the status `accepted` is also `older` if
 *   the node has already reported that it applied this generation or failed to.
 * - `ahead`: the VPC has no such generation yet. Then `generation` is the VPC's newest generation.
 * In all other cases, `generation` is the generation of the report that was stored before this one, or 0.
 */
export type Verdict = { readonly verdict: "stored" | "unknown" | "older" | "ahead"; readonly generation: number };

/** Records that the node may get the documents of these VPCs. Must commit before the documents are read. */
export async function offerDocuments(
  db: Db,
  server_uuid: string,
  vpc_ids: readonly string[],
): Promise<void> {
  await db.query(
    `insert into vpc_realization (vpc_id, server_uuid)
       select v, $1 from unnest($2::uuid[]) v order by v on conflict do nothing`,
    [server_uuid, vpc_ids],
  );
}

/**
 * Deletes the node's row for each of these VPCs, with the node's counters of the VPC's firewall rules. Keeps the row of
 * a VPC that the node needs (vpc_node). The node must no longer store the documents of these VPCs.
 */
export async function forgetDocuments(db: Db, server_uuid: string, vpc_ids: readonly string[]): Promise<void> {
  await db.query(
    `with forgotten as (
       delete from vpc_realization r where r.server_uuid = $1 and r.vpc_id = any($2::uuid[])
          and not exists (select from vpc_node n where n.vpc_id = r.vpc_id and n.server_uuid = r.server_uuid)
       returning r.vpc_id
     )
     delete from firewall_rule_count c using firewall_rule f, forgotten g
      where f.vpc_id = g.vpc_id and c.rule_id = f.id and c.server_uuid = $1`,
    [server_uuid, vpc_ids],
  );
}

// A report that repeats the stored generation is stored. The exception is an `accepted` that arrives after `applied` or
// `failed`: it must not replace this outcome.
const STORE = `
  with judged as (
    select k.text, g.*, b.generation as newest, berth_now() as now, r.server_uuid is not null as is_offered,
           coalesce(g.generation < r.generation or g.generation = r.generation and g.status = 'accepted'
                    and r.status in ('applied', 'failed'), false) as is_older, r.generation as stored
      from unnest($1::text[]) k(text)
      cross join lateral jsonb_to_record(k.text::jsonb)
                   g(vpc_id uuid, server_uuid uuid, generation bigint, status text, message text)
      cross join lateral (select berth_vpc_generation(g.vpc_id) as generation offset 0) b
      left join vpc_realization r on r.vpc_id = g.vpc_id and r.server_uuid = g.server_uuid
  ), taken as (
    select distinct on (vpc_id, server_uuid) * from judged
     where is_offered and not is_older and generation <= newest
     order by vpc_id, server_uuid, generation desc, status = 'accepted'
  ), written as (
    update vpc_realization r
       set generation = t.generation, status = t.status, message = t.message, reported_at = t.now,
           applied_generation = case when t.status = 'applied' then t.generation else r.applied_generation end,
           -- The oldest change that the node has not applied, or now.
           applied_until = case when t.status <> 'applied' then r.applied_until
             when t.generation = t.newest then t.now
             else greatest(r.applied_until, (
               select c.at from vpc_change c where c.vpc_id = t.vpc_id
                order by c.at desc offset t.newest - t.generation - 1 limit 1)) end
      from taken t where r.vpc_id = t.vpc_id and r.server_uuid = t.server_uuid and r.generation <= t.generation
  )
  select text, case when not is_offered then 'unknown' when generation > newest then 'ahead'
                    when is_older then 'older' else 'stored' end as verdict,
         coalesce(case when generation > newest then newest else stored end, 0) as generation
    from judged`;

/** Stores reports, each given as the JSON of a Report. Returns the verdict on each report. */
export async function storeReports(db: Db, reports: readonly string[]): Promise<Map<string, Verdict>> {
  const { rows } = await db.query<Verdict & { text: string }>(STORE, [reports]);
  return new Map(rows.map(({ text, ...verdict }) => [text, verdict]));
}

/**
 * Folds the old changes of each VPC: replaces their rows in vpc_change by one row of vpc_generation, which counts them.
 * Before that, deletes the row of each deleted VPC from vpc_generation, if all its changes are folded and no node can
 * still store the VPC's documents.
 */
export async function foldChanges(db: Db): Promise<void> {
  await db.query(
    `with ended as (
       delete from ended_vpc e where not exists (select from vpc_realization r where r.vpc_id = e.vpc_id)
                                 and not exists (select from vpc_change c where c.vpc_id = e.vpc_id)
       returning vpc_id
     )
     delete from vpc_generation g using ended where g.vpc_id = ended.vpc_id`,
  );
  await db.query(
    `with old as (
       delete from vpc_change where id in (
         select id from vpc_change where at < clock_timestamp() - make_interval(secs => $1)
          order by id limit $2 for update skip locked)
       returning vpc_id
     )
     insert into vpc_generation as g (vpc_id, generation)
       select vpc_id, count(*) from old group by vpc_id order by vpc_id
     on conflict (vpc_id) do update set generation = g.generation + excluded.generation`,
    [FOLD_AGE_S, FOLD_ROWS_MAX],
  );
}

/**
 * Changes that are older than this are folded. The sweeps of network-watch.ts read the changes since the previous
 * sweep, but after a longer pause they compare all documents instead.
 */
export const FOLD_AGE_S = 60;
/** The maximum number of changes that one statement folds, so that it ends within the statement's time limit. */
const FOLD_ROWS_MAX = 20_000;
