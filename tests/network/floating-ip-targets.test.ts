// Tests that an instance with a floating IP of an external network moves only to a node that can carry the address
// (docs/networking.md, "Floating IPs").
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Node } from "../compute/compute-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import type { NodeReport } from "../../src/contract/placement.ts";
import { bridgesIn, hostedInstances } from "../../src/services/placement-snapshot.ts";
import { type Bindings, openBindings } from "./bindings.ts";
import { conflictWith, makeNetwork } from "./public-addresses.ts";

let b: Bindings;
let nic_tag: string;
beforeAll(async () => {
  b = await openBindings();
  const network = await makeNetwork(b.t, { ipv4_block: "198.51.100.0/29" });
  nic_tag = network.nic_tag;
  await offers(b.node);
  await reports(b.node, "br-ext");
  const ip = await b.make({ network_id: network.id });
  await b.node.done(b.attach(ip, b.web), "fip_claim");
}, 60_000);
afterAll(() => b?.t.close());

const offers = (node: Node) => node.alive({ nic_tags: ["admin", nic_tag] });
async function reports(node: Node, bridge: string | null): Promise<void> {
  const tag = { name: nic_tag, physical_nic: "eno2", vlan_id: null, mtu: 1_500, bridge };
  okOf(await node.call("POST", "/v1/agent/nic-tags", { nic_tags: [tag] }));
}

const operate = async (verb: string, body?: object) =>
  okOf(await b.t.call("POST", `/v1/cns/${b.node.server_uuid}/${verb}`, body === undefined ? {} : { body }));
const evacuation = () => operate("evacuate", { dry_run: true, lose_local_disks: true });

/** Expects that plans and refusals contain this clause for `web`, and that the other instance can move. */
async function expectStays(clause: string): Promise<void> {
  const target = b.away.node.server_uuid;
  expect(await operate("drain/preview")).toMatchObject({
    placeable: [{ instance_id: b.standby.instance.id, target_cn_uuid: target }],
    not_placeable: [{
      instance_id: b.web.instance.id,
      reason: expect.stringMatching(new RegExp(`: ${clause} \\(cn-nic-tags\\)$`)),
    }],
  });
  // An evacuation moves `web` nevertheless, because otherwise `web` would stay down.
  expect(await evacuation()).toMatchObject({ placeable: [{}, {}], not_placeable: [] });
  const body = { target_server_uuid: target };
  const answer = await b.t.call("POST", `/v1/instances/${b.web.instance.id}/migrate`, { body });
  conflictWith(answer, `node ${target} cannot take the instance: ${clause}`);
  const { per_cn } = okOf(
    await b.t.call("POST", "/v1/system/placement/explain", { body: { instance_id: b.web.instance.id } }),
  );
  const { filter_results } = per_cn.find(({ server_uuid }: NodeReport) => server_uuid === target);
  expect(filter_results).toContainEqual({ filter_name: "cn-nic-tags", verdict: "reject", reason: clause });
}

test("an instance with a floating IP moves only to a node that has a bridge for the NIC tag", async () => {
  await expectStays(`it does not offer NIC tag ${nic_tag}`);
  await offers(b.away.node);
  await expectStays(`it has no bridge for NIC tag ${nic_tag}, which a floating IP needs`);
  await reports(b.away.node, null);
  await expectStays(`it has no bridge for NIC tag ${nic_tag}, which a floating IP needs`);
  await reports(b.away.node, "br-ext");
  expect(await operate("drain/preview")).toMatchObject({ placeable: [{}, {}], not_placeable: [] });
});

test("a plan of several nodes reads the nodes with a bridge once for each NIC tag", async () => {
  let reads = 0;
  const db = b.t.db.kysely.withPlugin({
    transformQuery: ({ node }) => {
      if (JSON.stringify(node).includes("from cn_nic_tag where name")) reads += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  const bridgesOf = bridgesIn(db);
  const plan = [b.node, b.away.node, b.node].map(({ server_uuid }) => hostedInstances(db, server_uuid, bridgesOf));
  const bridged = (await Promise.all(plan)).flat().filter(({ id }) => id === b.web.instance.id);
  expect(bridged.map(({ bridged_nodes }) => [...bridged_nodes[nic_tag] ?? []].sort())).toEqual(
    Array(2).fill([b.node.server_uuid, b.away.node.server_uuid].sort()),
  );
  expect(reads).toBe(1);
});

test("if the instance's own node has no bridge either, the instance may move to a node without a bridge", async () => {
  await reports(b.node, null);
  await reports(b.away.node, null);
  expect(await operate("drain/preview")).toMatchObject({ placeable: [{}, {}], not_placeable: [] });
});
