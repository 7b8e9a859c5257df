// Opens the fixture for pairs of operations on instances, with two nodes. On one node, an instance runs and another is
// being restarted. On the other node, an instance is stopped. One floating IP is attached to the running instance, and
// one is detached. `workOff` acts as the nodes: it claims and completes their jobs.
import { createdFloatingIp, createdImage, createdInstance, createdSubnet, createdVpc } from "./parent-messages.ts";
import { addNode, type Site } from "./parent-fixture.ts";
import type { TwoEngines } from "./two-engines.ts";

export const INSTANCES = ["runs", "busy", "rests"] as const;
export type InstanceName = (typeof INSTANCES)[number];

export type HostFixture = Site & {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly vpc: string;
  readonly subnet: string;
  readonly image: string;
  readonly nodes: readonly [string, string];
  readonly instances: Readonly<Record<InstanceName, Made>>;
  readonly bound_ip: string;
  readonly free_ip: string;
  /** The id of the operation that restarts the busy instance. */
  readonly restart: string;
  /** The id of the job of `restart`, which the instance's node has claimed. */
  readonly restart_job: string;
};
/** An instance on its node, with one NIC and one disk. */
export type Made = {
  readonly id: string;
  readonly node: string;
  readonly nic: string;
  readonly vpc_id: string;
  readonly disk: string;
};

/** The RAM of each node: more than all instances need. parent-pairs.ts covers a node with too little memory. */
const ROOM_MB = 65_536;
const LEASE_S = 3_600;
const ROUNDS_MAX = 20;
export const LIMIT_MS = 3_600_000;

export async function newHostFixture(two: TwoEngines, site: Site): Promise<HostFixture> {
  const { make, newId } = two;
  const own = { ...site, tenant_id: newId(), project_id: newId(), vpc: newId(), subnet: newId(), image: newId() };
  const { tenant_id, project_id, silo_id, user_id } = own;
  const nodes = [newId(), newId()] as const;
  const [bound_ip, free_ip, main_table] = [newId(), newId(), newId()];
  const tenant = { type: "create", id: tenant_id, silo_id, name: `tenant-${tenant_id}`, description: "" };
  const project = { type: "create", id: project_id, tenant_id, name: `project-${project_id}`, description: "" };
  await Promise.all([
    make({ kind: "tenant", id: tenant_id }, tenant),
    ...nodes.map((node) => addNode(two, { node, user_id, ram_mb: ROOM_MB })),
  ]);
  await make({ kind: "project", id: project_id }, project);
  await Promise.all([
    make({ kind: "vpc", id: own.vpc }, createdVpc(own, { id: own.vpc, main: main_table, name: "vpc" })),
    make({ kind: "image", id: own.image }, createdImage(own, own.image)),
    ...[["bound", bound_ip], ["free", free_ip]].map(([name = "", id = ""]) =>
      make({ kind: "floating-ip", id }, createdFloatingIp(own, { id, name }, newId))
    ),
  ]);
  const subnet = { id: own.subnet, name: "subnet", block: "10.0.1.0/24" };
  await make({ kind: "subnet", id: own.subnet }, createdSubnet({ ...own, main_table }, subnet));
  const [runs, busy, rests] = await Promise.all([
    addInstance(two, { ...own, name: "runs", node: nodes[0] }),
    addInstance(two, { ...own, name: "busy", node: nodes[0] }),
    addInstance(two, { ...own, name: "rests", node: nodes[1] }),
  ]);
  await workOff(two, nodes);
  const restart = newId();
  await Promise.all([
    make({ kind: "instance", id: rests.id }, { type: "stop", operation_id: newId(), limit_ms: LIMIT_MS }),
    make({ kind: "floating-ip", id: bound_ip }, attachment(runs, newId())),
  ]);
  await workOff(two, nodes);
  await make({ kind: "instance", id: busy.id }, { type: "restart", operation_id: restart, limit_ms: LIMIT_MS });
  await two.rest();
  const [job] = await jobsOf(two, nodes);
  if (job === undefined) throw new Error("the restart of the busy instance created no job");
  await two.make({ kind: "job", id: job.id }, { type: "claim", by: job.target_cn, lease_s: LEASE_S });
  return { ...own, nodes, bound_ip, free_ip, restart, restart_job: job.id, instances: { runs, busy, rests } };
}

export function attachment({ id: instance_id, nic: nic_id, vpc_id, node: host_cn_uuid }: Made, operation_id: string) {
  return { type: "attach", nic_id, instance_id, vpc_id, host_cn_uuid, operation_id, limit_ms: LIMIT_MS };
}

type NewInstance = Omit<HostFixture, "nodes" | "instances" | "bound_ip" | "free_ip" | "restart" | "restart_job"> & {
  readonly name: InstanceName;
  readonly node: string;
};

async function addInstance(two: TwoEngines, given: NewInstance): Promise<Made> {
  const message = createdInstance(given, two.newId, given.name);
  const id = String(message["id"]);
  await two.make({ kind: "instance", id }, message);
  const { rows: [made] } = await two.db.query<{ nic: string; vpc_id: string; disk: string }>(
    "select n.id as nic, n.vpc_id, d.id as disk from nic n join disk d using (instance_id) where instance_id = $1",
    [id],
  );
  return { id, node: given.node, ...made! };
}

type Pending = { readonly id: string; readonly target_cn: string; readonly state: string };

/** Lists the open jobs and the job tombstones of the approved nodes, in the order of `seq`. */
async function jobsOf({ db }: TwoEngines, nodes: readonly string[]): Promise<readonly Pending[]> {
  const { rows } = await db.query<Pending>(
    `select j.id, target_cn, j.state from job j join cn on cn.server_uuid = target_cn and cn.state = 'approved'
      where target_cn = any($1) and (j.state in ('pending', 'in_progress') or tombstone) order by j.seq`,
    [nodes],
  );
  return rows;
}

/**
 * Completes the nodes' jobs, confirms tombstones, and continues the operations that wait for jobs, until no job is
 * left. Throws after ROUNDS_MAX rounds.
 */
export async function workOff(two: TwoEngines, nodes: readonly string[]): Promise<void> {
  let refusals: readonly string[] = [];
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await two.rest();
    const jobs = await jobsOf(two, nodes);
    if (jobs.length === 0) return;
    refusals = [];
    for (const { id, target_cn: by, state } of jobs) {
      const to = { kind: "job", id };
      // The completion of a job can cancel the next job of this list, which then refuses its messages. The next round
      // loads the cancelled job again.
      const over = state !== "pending" && state !== "in_progress";
      const claimed = state === "pending" ? await two.send(to, { type: "claim", by, lease_s: LEASE_S }) : null;
      const ended = await two.send(to, over ? { type: "bury", by } : { type: "complete", by, result: null });
      refusals = [...refusals, ...[claimed, ended].flatMap((each) => each?.ok === false ? [each.fault.message] : [])];
    }
  }
  throw new Error(`jobs are still open after ${ROUNDS_MAX} rounds; last refusals: ${refusals.join(", ")}`);
}
