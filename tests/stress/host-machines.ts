// Computes which machines the nodes run, from the nodes' reports of completed and undone jobs, and compares these
// machines with the database.
import type { HostFixture } from "./host-fixture.ts";
import type { TwoEngines } from "./two-engines.ts";

/** A report with which a node completed or undid a job. */
type JobEnd = {
  readonly event: "complete" | "bury";
  readonly kind: string;
  readonly node: string;
  readonly payload: {
    readonly instance_id: string;
    readonly floating_ip_id?: string;
    readonly nic_id?: string;
    readonly generation?: number;
  };
};

type Machine = {
  readonly vms: Map<string, "running" | "stopped">;
  /** The floating IPs for which the node answers, by id, with the NIC of each. */
  readonly addresses: Map<
    string,
    { readonly nic_id: string; readonly generation: number; readonly instance_id: string }
  >;
};

/**
 * Lists the differences between database and nodes. Returns [] if a node is not approved: such a node takes no jobs.
 */
export async function disagreements(two: TwoEngines, g: HostFixture): Promise<readonly string[]> {
  const { rows: approved } = await two.db.query(
    "select server_uuid from cn where server_uuid = any($1) and state = 'approved'",
    [g.nodes],
  );
  if (approved.length < g.nodes.length) return [];
  const machines = await machinesOf(two, g);
  return [...await aboutInstances(two, { g, machines }), ...await aboutAddresses(two, { g, machines })];
}

async function machinesOf(two: TwoEngines, g: HostFixture): Promise<ReadonlyMap<string, Machine>> {
  const machines = new Map(g.nodes.map((node): [string, Machine] => [node, { vms: new Map(), addresses: new Map() }]));
  const { rows } = await two.db.query<JobEnd>(
    `select t.event, j.kind, j.target_cn as node, j.payload from transition t join job j on j.id::text = t.actor_id
      where t.actor_kind = 'job' and t.event in ('complete', 'bury') and j.target_cn = any($1) order by t.id`,
    [g.nodes],
  );
  for (const report of rows) {
    const machine = machines.get(report.node);
    if (machine !== undefined) change(machine, report);
  }
  return machines;
}

function change({ vms, addresses }: Machine, { event, kind, payload }: JobEnd): void {
  const { instance_id, floating_ip_id = "", nic_id = "", generation = 0 } = payload;
  const destroy = () => {
    vms.delete(instance_id);
    for (const [id, bound] of addresses) if (bound.instance_id === instance_id) addresses.delete(id);
  };
  const release = () => {
    const bound = addresses.get(floating_ip_id);
    if (bound?.nic_id === nic_id && bound.generation <= generation) addresses.delete(floating_ip_id);
  };
  const bind = () => {
    const bound = addresses.get(floating_ip_id);
    if (bound === undefined || bound.generation <= generation) {
      addresses.set(floating_ip_id, { nic_id, generation, instance_id });
    }
  };
  switch (`${kind} ${event}`) {
    case "provision complete":
    case "start complete":
    case "restart complete":
      return void vms.set(instance_id, "running");
    case "stop complete":
    case "start bury":
      return void vms.set(instance_id, "stopped");
    case "delete complete":
    case "provision bury":
      return destroy();
    case "fip_claim complete":
      return bind();
    case "fip_release complete":
    case "fip_claim bury":
      return release();
    case "fip_release bury":
      return vms.has(instance_id) ? bind() : undefined;
  }
}

type Compared = { readonly g: HostFixture; readonly machines: ReadonlyMap<string, Machine> };

async function aboutInstances(two: TwoEngines, { g, machines }: Compared): Promise<readonly string[]> {
  const { rows } = await two.db.query<{ id: string; name: string; state: string; host_cn_uuid: string }>(
    "select id, name, state, host_cn_uuid from instance where tenant_id = $1",
    [g.tenant_id],
  );
  const wrong = rows.flatMap(({ id, name, state, host_cn_uuid }) => {
    const vm = machines.get(host_cn_uuid)?.vms.get(id) ?? "gone";
    return vm === state || (state === "failed" && vm !== "gone") ? [] : [`${name} is ${state}, and on its node ${vm}`];
  });
  const known = new Set(rows.map(({ id }) => id));
  const left = [...machines.values()].flatMap(({ vms }) => [...vms.keys()].filter((id) => !known.has(id)));
  return left.length === 0 ? wrong : [...wrong, `${left.length} machines of removed instances are left`];
}

async function aboutAddresses(two: TwoEngines, { g, machines }: Compared): Promise<readonly string[]> {
  const { rows } = await two.db.query<{ id: string; name: string; attached_to: string | null }>(
    "select id, name, attached_to from floating_ip where tenant_id = $1",
    [g.tenant_id],
  );
  const held = [...machines.values()].flatMap(({ addresses }) => [...addresses]);
  const known = new Set(rows.map(({ id }) => id));
  return [
    ...rows.flatMap(({ id, name, attached_to }) => {
      const nics = held.filter(([each]) => each === id).map(([, { nic_id }]) => nic_id);
      return nics.join() === (attached_to ?? "")
        ? []
        : [`${name} is attached to ${attached_to}, and on nodes to ${nics}`];
    }),
    ...held.filter(([id]) => !known.has(id)).map(() => "a node answers for a removed address"),
  ];
}
