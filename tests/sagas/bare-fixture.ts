// Creates the objects that instances need, with the API: a tenancy, a network, images and nodes.
import { openClient } from "../../src/db/pool.ts";
import { addNode, openComputeFixture } from "../compute/compute-fixture.ts";
import { openTestControlPlane } from "../support/control-plane.ts";
import { freshDatabase } from "../support/database.ts";
import { WIDE } from "./instance-comparison.ts";
import { GATE_SQL } from "./saga-gates.ts";

/** A NIC to which a floating IP can be attached. */
export type Bindable = {
  readonly nic_id: string;
  readonly instance_id: string;
  readonly vpc_id: string;
  readonly host_cn_uuid: string;
};

type Bare = Awaited<ReturnType<typeof makeBareFixture>>;
/** Objects of the fixture. The cases use them up before they create more. */
type Prepared = {
  readonly shared: readonly [Bindable, Bindable] | undefined;
  readonly running: readonly string[];
  readonly stopped: readonly string[];
  /** Floating IPs that are attached to the first of the `shared` NICs. */
  readonly bound: readonly string[];
};
export type InstanceFixture = Bare & Prepared;

export async function makeBareFixture() {
  const database = await freshDatabase();
  // The API creates these objects. Its background work must end before the tests' own processes start.
  const t = await openTestControlPlane({ databaseUrl: database.url });
  const fixture = await openComputeFixture({ t });
  const { tenant: { silo_id, tenant_id, project_id }, image, node: { server_uuid: node } } = fixture;
  // Enough room for all instances that the cases leave behind.
  const roomy = { cpu_threads_logical: 100_000, ram_total_mb: 100_000_000 };
  await fixture.node.alive(roomy);
  const other = await addNode(t, roomy);
  await other.alive();
  const silent = await addNode(t, roomy);
  await silent.alive();
  const wide = { name: "wide", ipv4_block: WIDE.block, ipv6_block: "fd00:10:0:2::/64" };
  const subnet = await fixture.make(`/v1/subnets?vpc=${fixture.vpc.id}`, wide);
  const other_image = await fixture.newImage();
  await t.close();
  const owner = await openClient({ url: database.url });
  await owner.query(GATE_SQL);
  // The first use of a node adds its row in cn_usage. An undo does not remove this row.
  await owner.query("insert into cn_usage (server_uuid) select server_uuid from cn on conflict do nothing");
  await owner.query("update cn_signal set last_seen = berth_now() + interval '1 year'");
  await owner.end();
  return {
    database,
    silo_id,
    tenant_id,
    project_id,
    image,
    other_image,
    node,
    other: other.server_uuid,
    silent: silent.server_uuid,
    subnet,
  };
}
