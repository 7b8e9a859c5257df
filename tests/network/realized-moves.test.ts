// Tests the answers of a long-lived process about the nodes of a VPC while the nodes change. After every step, the
// answer equals the answer of a process that has just started (actors/realization/reads.ts).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Kysely, KyselyPlugin } from "kysely";
import { findRealized } from "../../actors/realization/reads.ts";
import { REALIZATIONS_IN_LIST_MAX, REALIZATIONS_MAX } from "../../src/contract/limits.ts";
import type { Realized } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import { okOf } from "../support/control-plane.ts";
import { type NetworkFixture, type NetworkNode, openNetworkFixture } from "./network-fixture.ts";

/** One more than the maximum number of pending nodes that a process remembers for a VPC. */
const MANY = 201;

let f: NetworkFixture;
/** The connection of the long-lived process. This object is the key of the process's memory of nodes. */
let db: Kysely<Database>;
/** Whether the long-lived process has read the nodes of the VPC since the last reset of this variable. */
let has_read_nics = false;

const transformResult: KyselyPlugin["transformResult"] = ({ result }) => Promise.resolve(result);
const recorder: KyselyPlugin = {
  transformQuery: ({ node }) => {
    has_read_nics ||= JSON.stringify(node).includes("vpc_node");
    return node;
  },
  transformResult,
};

beforeAll(async () => {
  f = await openNetworkFixture();
  db = f.t.db.kysely.withPlugin(recorder);
});
afterAll(() => f?.t.close());

async function answerOf(of: Kysely<Database>, vpc_id: string, nodes_max?: number): Promise<Realized> {
  return (await findRealized(of, [vpc_id], nodes_max)).get(vpc_id)!;
}

/**
 * Asks the long-lived process for a short list of nodes, and then for a long list. Each answer must equal the answer of
 * a new process. Returns a further answer of the long-lived process.
 */
async function compared(vpc_id = f.vpc.id): Promise<Realized> {
  const newProcess = () => f.t.db.kysely.withPlugin({ transformQuery: ({ node }) => node, transformResult });
  for (const nodes_max of [REALIZATIONS_IN_LIST_MAX, REALIZATIONS_MAX]) {
    has_read_nics = false;
    const before = await answerOf(newProcess(), vpc_id, nodes_max);
    const known = await answerOf(db, vpc_id, nodes_max);
    // The server can change the nodes of the VPC between two reads.
    const after = await answerOf(newProcess(), vpc_id, nodes_max);
    expect([before, after]).toContainEqual(known);
  }
  return await answerOf(db, vpc_id);
}

/** The nodes apply all their documents, one node after the other. */
async function applied(...nodes: readonly NetworkNode[]): Promise<void> {
  for (const node of nodes) {
    await f.apply(node);
    await compared();
  }
}
const hostOf = async (id: string): Promise<string> => okOf(await f.call("GET", `/v1/instances/${id}`)).host_cn_uuid;

describe("a long-lived process answers like a new process", () => {
  beforeEach(async () => {
    await applied(f.one, f.two);
    expect(await compared()).toMatchObject({ nodes_pending: 0 });
  });

  test("at each step of a migration to a new node of the VPC, and back", async () => {
    const { id } = f.web.instance;
    for (const [from, to] of [[f.one, f.idle], [f.idle, f.one]] as const) {
      const body = { target_server_uuid: to.server_uuid };
      okOf(await f.t.call("POST", `/v1/instances/${id}/migrate`, { body }));
      const receive = await to.take();
      expect(await compared(), "the target is a node of the VPC").toMatchObject({ nodes: 3 });
      await applied(to);
      await to.complete(receive);
      await compared();
      await from.complete(await from.take(), { sent_bytes: 1 });
      await compared();
      await applied(from);
      await to.complete(await to.take(), { downtime_ms: 1 });
      await compared();
      await from.does("migrate_clean");
      await expect.poll(() => hostOf(id)).toBe(to.server_uuid);
      expect(await compared(), "the source has left").toMatchObject({ nodes: 2 });
      await applied(to, f.two);
      expect(await compared()).toMatchObject({ nodes: 2, nodes_pending: 0 });
      // The old node confirms that it has removed the VPC.
      await f.poll(from);
      await compared();
    }
  });

  test("at each step of an evacuation, and after the old node has returned", async () => {
    await f.silence(f.one);
    okOf(await f.t.call("PATCH", `/v1/cns/${f.two.server_uuid}/placement`, { body: { cordoned: true } }));
    const body = { fenced: true, lose_local_disks: true };
    okOf(await f.t.call("POST", `/v1/cns/${f.one.server_uuid}/evacuate`, { body }));
    const provision = await f.idle.take();
    await compared();
    await applied(f.idle);
    await f.idle.complete(provision);
    await expect.poll(() => hostOf(f.web.instance.id)).toBe(f.idle.server_uuid);
    expect(await compared()).toMatchObject({ nodes: 2 });
    await applied(f.two, f.idle);
    expect(await compared()).toMatchObject({ nodes: 2, nodes_pending: 0 });
    await f.one.alive();
    expect((await f.poll(f.one, { have: { [f.vpc.id]: 1 } })).gone).toEqual([f.vpc.id]);
    await compared();
    await f.poll(f.one);
    await compared();
    okOf(await f.t.call("PATCH", `/v1/cns/${f.two.server_uuid}/placement`, { body: { cordoned: false } }));
  });
});

const cordon = async ({ server_uuid }: NetworkNode, cordoned: boolean) => {
  const body = { cordoned, ...cordoned && { cordoned_reason: "drain" } };
  okOf(await f.t.call("PATCH", `/v1/cns/${server_uuid}/placement`, { body }));
};

test("a long-lived process answers like a new process at each step of a NAT gateway's move to another node", async () => {
  const [old, next] = [f.two, f.one];
  await cordon(next, true);
  okOf(await f.t.call("POST", "/v1/system/nic-tags", { body: { name: "external", mtu: 1_500 } }));
  const tag = { name: "external", physical_nic: "eno2", vlan_id: null, mtu: 1_500, bridge: "br-ext" };
  for (const { server_uuid, call } of [old, next]) {
    okOf(await f.t.call("POST", `/v1/cns/${server_uuid}/role`, { body: { role: "both" } }));
    okOf(await call("POST", "/v1/agent/nic-tags", { nic_tags: [tag] }));
  }
  const subnet = { name: "isp", nic_tag: "external", ipv4_block: "203.0.113.0/24" };
  okOf(await f.t.call("POST", "/v1/system/external-subnets", { body: subnet }));
  const vpc = await f.n.vpc();
  const { id } = okOf(await f.call("POST", `/v1/nat-gateways?vpc=${vpc.id}`, { body: { name: "out" } }));
  const step = async (host: NetworkNode | null, counts: object) => {
    const shown = async () => okOf(await f.call("GET", `/v1/nat-gateways/${id}`)).host_cn_uuid;
    await expect.poll(shown, { timeout: 10_000 }).toBe(host?.server_uuid ?? null);
    expect(await compared(vpc.id)).toMatchObject(counts);
  };
  await step(old, { nodes: 1, nodes_pending: 1 });
  await f.apply(old);
  await step(old, { nodes: 1, nodes_pending: 0 });
  await cordon(next, false);
  await cordon(old, true);
  await step(null, { nodes: 0, nodes_pending: 0 });
  await f.apply(old);
  await step(next, { nodes: 1, nodes_pending: 1 });
  await f.apply(next);
  await step(next, { nodes: 1, nodes_pending: 0 });
  await cordon(old, false);
});

test("a long-lived process answers like a new process if more nodes are pending than a process remembers", async () => {
  const vpc = await f.n.vpc();
  const subnet = await f.n.subnet(vpc.id, { ipv4_block: vpc.ipv4_block });
  const nodes = Array.from({ length: MANY }, () => randomUUID()).sort();
  // Each node gets a copy of the instance `db` with a NIC in the VPC. The nodes need no other rows.
  await f.t.db.query(
    `with node as (select host, gen_random_uuid() as id, n from unnest($1::uuid[]) with ordinality u(host, n)),
          made as (insert into instance
            select (jsonb_populate_record(i, jsonb_build_object('id', node.id, 'name', node.id, 'host_cn_uuid', host))).*
              from instance i, node where i.id = $3::uuid)
     insert into nic
       select (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'instance_id', node.id, 'vpc_id', $2::uuid, 'subnet_id', $4::uuid,
                'mac', '06:00:00:00:' || to_char(n / 100, 'FM00') || ':' || to_char(n % 100, 'FM00'),
                'primary_ipv4', '10.9.0.0'::inet + n, 'primary_ipv6', null))).*
         from nic c, node where c.instance_id = $3::uuid`,
    [nodes, vpc.id, f.db.instance.id, subnet.id],
  );
  const change = () => f.t.db.query("insert into vpc_change (vpc_id) values ($1)", [vpc.id]);
  const report = (of: readonly string[], status: string) =>
    f.t.db.query(
      `insert into vpc_realization (vpc_id, server_uuid, generation, status, applied_generation, message, reported_at)
         select $1::uuid, unnest($2::uuid[]), g, $3::text, case $3::text when 'applied' then g end, null, berth_now()
           from (select berth_vpc_generation($1::uuid) as g) newest
         on conflict (vpc_id, server_uuid) do update set generation = excluded.generation, status = excluded.status,
           applied_generation = coalesce(excluded.applied_generation, vpc_realization.applied_generation)`,
      [vpc.id, of, status],
    );
  const step = async (nodes_pending: number, is_known: boolean) => {
    expect(await compared(vpc.id)).toMatchObject({ nodes: MANY, nodes_pending });
    await compared(vpc.id);
    expect(has_read_nics).toBe(!is_known);
  };
  await change();
  await step(MANY, false);
  await report(nodes.slice(0, 1), "applied");
  await step(MANY - 1, true);
  await report(nodes.slice(1, 150), "applied");
  await step(MANY - 150, true);
  await change();
  await step(MANY, false);
  await report(nodes, "applied");
  await step(0, true);
  await report(nodes.slice(7, 8), "failed");
  await step(1, true);
  await report(nodes, "failed");
  await step(MANY, false);
  await report(nodes, "applied");
  await step(0, true);
  // Without a report, the node has not applied the VPC.
  await f.t.db.query("delete from vpc_realization where server_uuid = $1", [nodes[7]]);
  await step(1, true);
});
