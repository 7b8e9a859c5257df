// Tests the spans of usage that one instance and its disk leave (docs/tenancy.md, "Usage by day"). A gap between two
// spans would be use that no bill contains, and an overlap would be billed twice.
import { afterAll, beforeAll, expect, test } from "vitest";
import { addNode, type ComputeFixture, GIB, type Node, openComputeFixture } from "../compute/compute-fixture.ts";
import { okOf } from "../support/control-plane.ts";

const HOUR_S = 3_600;

let a: ComputeFixture;
let target: Node;
beforeAll(async () => {
  a = await openComputeFixture();
  target = await addNode(a.t);
});
afterAll(() => a.t.close());

const cordon = async (cordoned: boolean) =>
  void okOf(await a.t.call("PATCH", `/v1/cns/${target.server_uuid}/placement`, { body: { cordoned } }));
const hours = async (count: number) => {
  await a.t.advance(count * HOUR_S);
  await a.node.alive();
  await target.alive();
};

/**
 * Returns the spans of a resource in order: vCPUs, GiB of memory, GiB of disk, the hours before the span and the hours
 * of the span. The steps of the test take some minutes at most, so hours are rounded. The hours before a span are
 * `null` if the span begins exactly at the end of the previous span. The hours of an open span are `null`.
 */
async function spansOf(resource: "instance" | "disk", id: string): Promise<readonly (number | null)[][]> {
  const { rows } = await a.t.db.query<
    Record<"vcpus" | "memory" | "disk", number> & { gap_s: number; s: number | null }
  >(
    `select vcpus::int as vcpus, (memory_bytes / $3)::int as memory, (disk_bytes / $3)::int as disk,
            extract(epoch from began_at - lag(ended_at, 1, began_at) over (order by began_at, id))::float8 as gap_s,
            extract(epoch from ended_at - began_at)::float8 as s
       from usage_span where resource = $1 and resource_id = $2 order by began_at, id`,
    [resource, id, GIB],
  );
  return rows.map(({ vcpus, memory, disk, gap_s, s }) => [
    vcpus,
    memory,
    disk,
    gap_s === 0 ? null : Math.round(gap_s / HOUR_S),
    s === null ? null : Math.round(s / HOUR_S),
  ]);
}

test(
  "from create to delete, the spans of an instance and its disk have no overlap, and no gap while the resource is billed",
  async () => {
    await cordon(true);
    const { id } = await a.running({ cpu: 2, memory_bytes: 4 * GIB });
    const [disk] = await a.disksOf(id);
    await cordon(false);
    await hours(3);
    await a.act(id, "stop", "stop");
    await hours(5);
    okOf(await a.call("PATCH", `/v1/instances/${id}`, { body: { cpu: 4, memory_bytes: 8 * GIB } }));
    await hours(7);
    await a.act(id, "start", "start");
    await hours(9);

    okOf(await a.t.call("POST", `/v1/instances/${id}/migrate`, { body: { target_server_uuid: target.server_uuid } }));
    await target.does("migrate_receive");
    await a.node.complete(await a.node.take());
    await target.complete(await target.take());
    await a.node.does("migrate_clean");
    await hours(11);
    okOf(await a.call("POST", `/v1/disks/${disk.id}/resize`, { body: { size_bytes: 3 * GIB } }));
    await target.does("resize_disk");
    await hours(13);
    await target.done(a.call("POST", `/v1/instances/${id}/stop`), "stop");
    await hours(15);
    expect(await spansOf("disk", disk.id)).toEqual([[0, 0, 2, null, 35], [0, 0, 3, null, null]]);
    await target.done(a.call("DELETE", `/v1/instances/${id}`), "delete");
    await hours(17);

    // The second and the fourth span are the times in the state `stopping`. The test reports the end of a stop at once,
    // so these times round to 0 hours.
    expect(await spansOf("instance", id)).toEqual([
      [2, 4, 0, null, 3],
      [2, 4, 0, null, 0],
      [4, 8, 0, 12, 33],
      [4, 8, 0, null, 0],
    ]);
    expect(await spansOf("disk", disk.id)).toEqual([[0, 0, 2, null, 35], [0, 0, 3, null, 28]]);
  },
  240_000,
);
