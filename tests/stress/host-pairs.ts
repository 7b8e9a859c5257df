// Tests operations on instances, disks, floating IPs, nodes and subnets: every pair of operations that share an
// object. Reports of jobs count as operations. The statements of a pair run in each order of SCHEDULES. After every
// order, the nodes can finish their jobs, and then run the machines that the database lists (docs/reliability.md, R-23
// and R-24).
import { NO_QUOTA_DEFAULTS } from "../../src/contract/tenancy.ts";
import type { ActorRef, Message } from "../../actors/engine/types.ts";
import { disagreements } from "./host-machines.ts";
import { attachment, type HostFixture, type InstanceName, LIMIT_MS, newHostFixture, workOff } from "./host-fixture.ts";
import { checkAll, newReport, type PairReport, tryPair, VIOLATIONS_MAX } from "./pair.ts";
import { openSite } from "./parent-fixture.ts";
import { GIB } from "./parent-messages.ts";
import type { TwoEngines } from "./two-engines.ts";

type Order = { readonly to: ActorRef; readonly message: Message };
type Operation = {
  /** The objects that the operation changes or depends on. Only operations with a common object are paired. */
  readonly at: readonly string[];
  order(fixture: HostFixture, newId: () => string): Order;
};

/** The invariants of the whole database are checked once per this many pairs. */
const CHECK_EVERY = 10;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  start: { at: ["rests"], order: (g, newId) => lifecycle(g, "rests", begun("start", newId)) },
  stop: { at: ["runs"], order: (g, newId) => lifecycle(g, "runs", begun("stop", newId)) },
  restart: { at: ["runs"], order: (g, newId) => lifecycle(g, "runs", begun("restart", newId)) },
  reset: { at: ["runs"], order: (g, newId) => lifecycle(g, "runs", begun("reset", newId)) },
  delete: {
    at: ["rests", "project"],
    order: (g, newId) => lifecycle(g, "rests", begun("delete", newId)),
  },
  force_delete: { at: ["runs", "project"], order: (g, newId) => forced(g, "runs", newId) },
  force_delete_busy: { at: ["busy", "project"], order: (g, newId) => forced(g, "busy", newId) },
  disk_resize: { at: ["runs", "project"], order: (g, newId) => resize(g, "runs", newId) },
  disk_resize_at_rest: { at: ["rests", "project"], order: (g, newId) => resize(g, "rests", newId) },
  attach: { at: ["free_ip", "runs"], order: (g, newId) => attach(g.free_ip, g.instances.runs, newId) },
  attach_at_rest: { at: ["free_ip", "rests"], order: (g, newId) => attach(g.free_ip, g.instances.rests, newId) },
  attach_busy: { at: ["free_ip", "busy"], order: (g, newId) => attach(g.free_ip, g.instances.busy, newId) },
  move: { at: ["bound_ip", "runs", "rests"], order: (g, newId) => attach(g.bound_ip, g.instances.rests, newId) },
  detach: {
    at: ["bound_ip", "runs"],
    order: (g, newId) => ({ to: { kind: "floating-ip", id: g.bound_ip }, message: begun("detach", newId) }),
  },
  free_ip_delete: { at: ["free_ip", "project"], order: (g) => gone("floating-ip", g.free_ip) },
  bound_ip_delete: { at: ["bound_ip", "project"], order: (g) => gone("floating-ip", g.bound_ip) },
  restart_done: {
    at: ["busy"],
    order: (g) => reported(g, { type: "complete", by: g.nodes[0], result: null }),
  },
  restart_failed: {
    at: ["busy"],
    order: (g) => reported(g, { type: "fail", by: g.nodes[0], reason: "it does not come up" }),
  },
  restart_abandoned: {
    at: ["busy"],
    order: ({ restart: id }) => ({ to: { kind: "saga", id }, message: { type: "abandon" } }),
  },
  node_disable: {
    at: ["runs", "busy"],
    order: ({ nodes: [id] }) => ({ to: { kind: "cn", id }, message: { type: "disable" } }),
  },
  node_reset: {
    at: ["rests"],
    order: ({ nodes: [, id] }) => ({ to: { kind: "cn", id }, message: { type: "factory_reset" } }),
  },
  subnet_delete: { at: ["runs", "rests", "busy"], order: (g) => gone("subnet", g.subnet) },
};

/** The operations that can end the fixture's restart, which is in progress. */
const ENDS: ReadonlySet<string> = new Set([
  "force_delete_busy",
  "restart_done",
  "restart_failed",
  "restart_abandoned",
]);

/** Runs the pairs, or only every nth of them. */
export async function runHostPairs(two: TwoEngines, every = 1): Promise<PairReport> {
  const site = await openSite(two);
  const report = newReport();
  const names = Object.keys(OPERATIONS);
  const pairs = names.flatMap((first, index) => names.slice(index).map((second) => [first, second] as const));
  const meeting = pairs.filter(([first, second]) =>
    OPERATIONS[first]!.at.some((each) => OPERATIONS[second]!.at.includes(each))
  );
  for (const [index, pair] of meeting.entries()) {
    if (index % every !== 0 || report.violations.length >= VIOLATIONS_MAX) continue;
    await tryPair(two, report, {
      name: pair.join(" and "),
      fixture: () => newHostFixture(two, site),
      act: async (fixture, party) => {
        const { engine, worker } = two.sides[party];
        const { to, message } = OPERATIONS[pair[party]]!.order(fixture, two.newId);
        const outcome = await engine.send(to, message);
        if (outcome.ok) await worker.pass();
        return outcome;
      },
      left: async (fixture) => {
        await workOff(two, fixture.nodes);
        return await leftOf(two, fixture);
      },
      wrong: (fixture) => disagreements(two, fixture),
      // If both commands end the restart, the first command informs the restart's operation by a tell. The second
      // command may be accepted before the tell arrives, so only the final states are compared.
      compared: pair.every((each) => ENDS.has(each)) ? "left" : "each",
    });
    if (report.pairs % CHECK_EVERY === 0) await checkAll(two, report);
  }
  await checkAll(two, report);
  return report;
}

function lifecycle({ instances }: HostFixture, name: InstanceName, message: Message): Order {
  return { to: { kind: "instance", id: instances[name].id }, message };
}

function begun(type: string, newId: () => string): Message {
  return { type, operation_id: newId(), limit_ms: LIMIT_MS };
}

function forced(g: HostFixture, name: InstanceName, newId: () => string): Order {
  return lifecycle(g, name, { type: "force_delete", operation_id: newId(), job_id: newId() });
}

function resize(g: HostFixture, name: InstanceName, newId: () => string): Order {
  const { disk: disk_id } = g.instances[name];
  return lifecycle(g, name, {
    ...begun("resize_disk", newId),
    disk_id,
    size_bytes: 2 * GIB,
    quota_defaults: NO_QUOTA_DEFAULTS,
  });
}

function attach(id: string, instance: HostFixture["instances"][InstanceName], newId: () => string): Order {
  return { to: { kind: "floating-ip", id }, message: attachment(instance, newId()) };
}

function reported({ restart_job: id }: HostFixture, message: Message): Order {
  return { to: { kind: "job", id }, message };
}

function gone(kind: string, id: string): Order {
  return { to: { kind, id }, message: { type: "delete" } };
}

/** Returns the final state of the fixture's objects, with names instead of ids. */
async function leftOf(two: TwoEngines, { tenant_id, project_id, nodes }: HostFixture): Promise<unknown> {
  const { rows: [row] } = await two.db.query(
    `select (select json_agg(json_build_array(i.name, i.state, i.operation_kind, d.size_bytes, d.applied_bytes)
                             order by i.name) from instance i join disk d on d.instance_id = i.id
              where i.tenant_id = $1) as instances,
            (select json_agg(json_build_array(f.name, f.state, f.operation_kind, i.name) order by f.name)
               from floating_ip f left join instance i on i.id = f.attached_instance_id
              where f.tenant_id = $1) as addresses,
            (select json_agg(state order by state) from cn where server_uuid = any($3)) as nodes,
            (select json_agg(array[instances, ram_mb, disk_bytes] order by array_position($3::uuid[], server_uuid))
               from cn_usage where server_uuid = any($3)) as used,
            (select array[instances, disk_bytes] from project_usage where project_id = $2) as counted,
            (select json_agg(saga || ' ' || state order by saga) from saga
              where state not in ('succeeded', 'unwound')
                and refs @> jsonb_build_array(jsonb_build_object('scope', 'tenant', 'id', $1::text))) as at_work`,
    [tenant_id, project_id, nodes],
  );
  return row;
}
