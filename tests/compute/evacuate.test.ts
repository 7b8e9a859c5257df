// Tests evacuations during which the new node dies, too, and evacuations for which no node has enough processors
// (docs/reliability.md, "Evacuation of instances").
import { afterEach, expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { addNode, type ComputeFixture, type Node, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
afterEach(() => a.t.close());

const die = ({ server_uuid }: Node) =>
  a.t.db.query("update cn_signal set last_seen = berth_now() - interval '1 hour' where server_uuid = $1", [
    server_uuid,
  ]);
const evacuate = async ({ server_uuid }: Node): Promise<string> =>
  okOf(
    await a.t.call("POST", `/v1/cns/${server_uuid}/evacuate`, { body: { fenced: true, lose_local_disks: true } }),
  ).operation_id;
const ended = (operation_id: string) =>
  expect.poll(async () => okOf(await a.t.call("GET", `/v1/operations/${operation_id}`)).state, { timeout: 10_000 });

test("an abandoned evacuation of stopped instances ends, even if the new node died before it stopped the instances", async () => {
  a = await openComputeFixture();
  const [first, second] = [await a.stopped(), await a.stopped()];
  const target = await addNode(a.t);
  await die(a.node);
  const operation_id = await evacuate(a.node);
  const provisioned = [await target.take(), await target.take()];
  for (const job of provisioned) await target.complete(job);
  const claimed = await target.take();
  expect(claimed.kind.kind).toBe("stop");
  await die(target);
  for (const { id } of [first, second]) {
    const { id: move } = await a.operation(id, "instance-evacuate");
    okOf(await a.t.call("POST", `/v1/operations/${move}/abandon`));
    await ended(move).toBe("unwound");
    expect(await a.show(id)).toMatchObject({ host_cn_uuid: a.node.server_uuid, lifecycle: { state: "stopped" } });
  }
  await ended(operation_id).toBe("unwound");

  // One instance is deleted by force, and the other instance is evacuated again.
  expect((await a.t.call("DELETE", `/v1/instances/${first.id}?force=true`)).status).toBe(204);
  const third = await addNode(a.t);
  const again = await evacuate(a.node);
  for (const kind of ["provision", "stop"]) expect((await third.does(kind)).kind["instance_id"]).toBe(second.id);
  await ended(again).toBe("succeeded");
  expect(await a.show(second.id)).toMatchObject({
    host_cn_uuid: third.server_uuid,
    lifecycle: { state: "stopped" },
  });
  expect((await a.t.call("GET", "/v1/system/doctor")).status).toBe(200);

  // The dead target returns and removes the copies that it created.
  await target.alive();
  const { job, tombstones } = await target.ask();
  expect(tombstones).toMatchObject([{ id: claimed.id }]);
  await target.bury(claimed);
  await target.complete(job!);
  const removed = [job!, await target.does("delete")];
  expect(removed.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining([first, second].map(({ id }) => ({ kind: "delete", instance_id: id }))),
  );
  expect(await target.ask()).toEqual({ job: null, tombstones: [] });
});

test("no evacuation creates an instance on a node with fewer processors than the instance has vCPUs", async () => {
  a = await openComputeFixture();
  await a.node.alive({ cpu_threads_logical: 16 });
  const { id } = await a.running({ cpu: 16 });
  const small = await addNode(a.t, { cpu_threads_logical: 8 });
  const silent = await addNode(a.t);
  await a.t.db.query("delete from cn_capacity where server_uuid = $1", [silent.server_uuid]);
  await die(a.node);
  const body = { lose_local_disks: true, dry_run: true };
  const plan = okOf(await a.t.call("POST", `/v1/cns/${a.node.server_uuid}/evacuate`, { body }));
  expect(plan.placeable).toEqual([]);
  expect(plan.not_placeable).toMatchObject([{
    instance_id: id,
    reason: expect.stringContaining("it has 8 processors, 16 wanted (cn-cpu-available)"),
    remedy: "add a node with 16 processors, or stop the instance and give it fewer vCPUs",
  }]);
  await ended(await evacuate(a.node)).toBe("unwound");
  expect(await a.show(id)).toMatchObject({ host_cn_uuid: a.node.server_uuid });
  expect(await small.ask()).toEqual({ job: null, tombstones: [] });

  const large = await addNode(a.t, { cpu_threads_logical: 16 });
  const again = await evacuate(a.node);
  expect((await large.does("provision")).kind["instance_id"]).toBe(id);
  await ended(again).toBe("succeeded");
  expect(await a.show(id)).toMatchObject({ host_cn_uuid: large.server_uuid, lifecycle: { state: "running" } });
});
