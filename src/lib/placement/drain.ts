// Previews the nodes to which the instances of a node would move if the node were drained. The preview places one
// instance after another. Each placement takes capacity, so no capacity is promised twice. The largest instances are
// placed first, because they have the fewest targets.
//
// One placement reads every node of the site, which takes up to 0.1 s with 10,000 nodes. So each preview gets a
// function `pause`, with which the process does other work between two placements.
import type {
  DrainPreview,
  ExplainReport,
  FilterResult,
  NodeReport,
  NotPlaceableInstance,
  PlaceableInstance,
} from "../../contract/placement.ts";
import type { CapacityReport } from "../../contract/agent.ts";
import type { InstanceBrand, InstanceState, PlacementFilter } from "../../contract/enums.ts";
import { type Group, wantedGroup } from "./group.ts";
import { pick } from "./pick.ts";
import type { Profile } from "./profile.ts";
import { type BridgedNodes, type PlacementRequest, sizesOf } from "./request.ts";
import { hasProcessors, type NodeSnapshot, type Snapshot, withInstance } from "./snapshot.ts";

/** An instance on the node: `cpu` in vCPUs, `disk_bytes` the sum of all its disks. */
export type HostedInstance = {
  readonly id: string;
  readonly name: string;
  readonly tenant_id: string;
  readonly silo_id: string;
  readonly project_id: string;
  readonly state: InstanceState;
  readonly host_cn_uuid: string | null;
  readonly brand: InstanceBrand;
  readonly cpu: number;
  readonly memory_bytes: number;
  readonly disk_bytes: number;
  readonly min_platform: string | null;
  readonly group: Group | null;
  /**
   * For each NIC tag of the instance's floating IPs: the nodes with a bridge for the tag. Only these nodes can carry
   * the addresses. Omits a tag if the instance's own node has no bridge for it, because the addresses do not work there
   * either. Empty for an evacuation, because the instance is down.
   */
  readonly bridged_nodes: BridgedNodes;
};

/** The node to be drained, and its instances. */
export type Drained = {
  readonly server_uuid: string;
  /** The node's own capacity report, or null. A running instance can move only to a node with compatible hardware. */
  readonly capacity: CapacityReport | null;
  readonly instances: readonly HostedInstance[];
};

/** Returns the placement request for an existing instance. */
function requestOf(instance: HostedInstance, leaves: string | undefined): PlacementRequest {
  const { id, tenant_id, silo_id, brand, min_platform, bridged_nodes } = instance;
  return {
    ...sizesOf(instance),
    role: "tenant",
    brand,
    min_platform,
    tenant_id,
    silo_id,
    instance_id: id,
    avoid_cn: [],
    nic_tags: Object.keys(bridged_nodes),
    bridged_nodes,
    group: wantedGroup(instance.group, { instance_id: id, ...leaves !== undefined && { leaves } }),
  };
}

/**
 * Returns the placement request for an instance that moves from this node.
 * @param leaves - The id of the node if it is being drained. The other instances of a group will also leave this node.
 */
export function movingRequest(
  from: Pick<Drained, "capacity">,
  instance: HostedInstance,
  leaves?: string,
): PlacementRequest {
  return { ...requestOf(instance, leaves), ...movingFrom(from, instance) };
}

/** Previews a drain. The snapshot may contain the drained node, which is never a target. */
export async function previewDrain(
  drained: Drained,
  snapshot: Snapshot,
  profile: Profile,
  pause: () => Promise<void>,
): Promise<DrainPreview> {
  return (await previewDrains([drained], snapshot, profile, pause))[0]!;
}

/**
 * Previews the drains of several nodes, one after another. None of these nodes is a target. Each placed instance also
 * reduces the free capacity for the instances of later nodes.
 */
export async function previewDrains(
  drained: readonly Drained[],
  snapshot: Snapshot,
  profile: Profile,
  pause: () => Promise<void>,
): Promise<DrainPreview[]> {
  const emptied = new Set(drained.map(({ server_uuid }) => server_uuid));
  let left: Snapshot = { ...snapshot, nodes: snapshot.nodes.filter(({ server_uuid }) => !emptied.has(server_uuid)) };
  /** For each placed instance of a placement group, by its id: the node on which the preview placed it. */
  const placed = new Map<string, NodeSnapshot>();
  const previews: DrainPreview[] = [];
  for (const node of drained) {
    const planned = await placeInstances(node, { targets: left, placed }, profile, pause);
    left = planned.left;
    previews.push(planned.preview);
  }
  return previews;
}

/**
 * Places the instances of a node on the nodes of the snapshot. Returns the preview, and the free capacity that is left.
 */
async function placeInstances(
  drained: Drained,
  { targets, placed }: { readonly targets: Snapshot; readonly placed: Map<string, NodeSnapshot> },
  profile: Profile,
  pause: () => Promise<void>,
): Promise<{ preview: DrainPreview; left: Snapshot }> {
  const placeable: PlaceableInstance[] = [];
  const not_placeable: NotPlaceableInstance[] = [];
  let left = targets;
  for (const instance of [...drained.instances].sort(larger)) {
    await pause();
    const group = movedGroup(instance.group, placed);
    const targetsOf = (state: InstanceState) =>
      pick(movingRequest(drained, { ...instance, state, group }, drained.server_uuid), left, profile).report;
    const report = targetsOf(instance.state);
    const target = report.per_cn[0];
    if (target?.accepted) {
      const { server_uuid, hostname } = target;
      placeable.push({ ...rowOf(instance), target_cn_uuid: server_uuid, target_cn_hostname: hostname });
      if (group !== null) placed.set(instance.id, left.nodes.find((node) => node.server_uuid === server_uuid)!);
      left = withInstance(left, server_uuid, { ...sizesOf(instance), ...ownerOf(instance), count: 1 });
    } else {
      not_placeable.push({
        ...rowOf(instance),
        reason: whyNot(report.per_cn),
        remedy: outnumbers(instance, left) ? fewerVcpus(instance) : remedy(instance, report, targetsOf),
      });
    }
  }
  const quorum_at_risk = drained.instances.map(({ name }) => name).filter(looksLikeQuorum).sort();
  const preview: DrainPreview = {
    instances_on_cn: drained.instances.length,
    placeable,
    not_placeable,
    capacity_ok: drained.instances.length > 0 && not_placeable.length === 0,
    quorum_ok: quorum_at_risk.length === 0,
    quorum_at_risk,
  };
  return { preview, left };
}

/** Returns the group as it would be after the preview's moves. */
function movedGroup(group: Group | null, placed: ReadonlyMap<string, NodeSnapshot>): Group | null {
  if (group === null) return null;
  const members = group.members.map((member) => {
    const node = placed.get(member.instance_id);
    if (node === undefined) return member;
    return { ...member, server_uuid: node.server_uuid, fault_domain: node.placement.fault_domain };
  });
  return { ...group, members };
}

function movingFrom(
  { capacity }: Pick<Drained, "capacity">,
  { state }: HostedInstance,
): Pick<PlacementRequest, "migration"> {
  return capacity === null ? {} : { migration: { from: capacity, live: state === "running" } };
}

function ownerOf({ tenant_id, silo_id }: HostedInstance) {
  return { tenant_id, silo_id };
}

function larger(a: HostedInstance, b: HostedInstance): number {
  return b.memory_bytes - a.memory_bytes || b.cpu - a.cpu || b.disk_bytes - a.disk_bytes || (a.id < b.id ? -1 : 1);
}

/** Returns the fields that the entries of both lists of a preview have. */
export function rowOf(instance: HostedInstance) {
  return {
    instance_id: instance.id,
    instance_name: instance.name,
    instance_tenant_id: instance.tenant_id,
    instance_project_id: instance.project_id,
    instance_cpu: instance.cpu,
    instance_ram_mb: sizesOf(instance).ram_mb,
  };
}

/** Maximum number of nodes that a reason names. The explanation of a placement names all nodes. */
const NODES_NAMED_MAX = 3;

/**
 * Returns why these nodes rejected an instance, such as `cn-2: it is cordoned (cn-not-cordoned)`. The name of the
 * filter is in brackets. The text names only the NODES_NAMED_MAX nodes with the fewest reasons.
 */
export function whyNot(nodes: readonly NodeReport[]): string {
  if (nodes.length === 0) return "there is no other approved node";
  const nearest = nodes.toSorted((a, b) => rejections(a).length - rejections(b).length);
  const named = nearest.slice(0, NODES_NAMED_MAX).map((node) => {
    const reasons = rejections(node).map(({ filter_name, reason }) => `${reason ?? "rejected"} (${filter_name})`);
    return `${node.hostname}: ${reasons.join(", ")}`;
  });
  const more = nodes.length - named.length;
  return [...named, ...more > 0 ? [`and ${more} more ${more === 1 ? "node" : "nodes"}`] : []].join("; ");
}

function rejections({ filter_results }: NodeReport): FilterResult[] {
  return filter_results.filter(({ verdict }) => verdict === "reject");
}

/**
 * Returns whether every node with a capacity report has fewer processors than the instance has vCPUs. Then none of them
 * can take the instance, even with more room. Returns false if no node has a report.
 */
function outnumbers(instance: HostedInstance, { nodes }: Snapshot): boolean {
  const sizes = sizesOf(instance);
  const reports = nodes.flatMap(({ capacity }) => capacity ?? []);
  return reports.length > 0 && !reports.some((report) => hasProcessors(report, sizes));
}

function fewerVcpus({ cpu }: HostedInstance): string {
  return `add a node with ${cpu} processors, or stop the instance and give it fewer vCPUs`;
}

/** Commands by filter. If only this filter rejected a node, the command lets the node take the instance. */
const WAY_IN: Partial<Record<PlacementFilter, (hostname: string) => string>> = {
  "cn-not-cordoned": (hostname) => `opsctl cn uncordon ${hostname}`,
  "cn-not-reserved": (hostname) => `opsctl cn placement set ${hostname} --reserved false`,
};

/**
 * Returns a text about what an operator can do so that the instance can move. Some filters apply only to running
 * instances, so a stopped instance may have a target.
 */
function remedy(
  { id, state }: HostedInstance,
  { per_cn }: ExplainReport,
  targetsOf: (state: InstanceState) => ExplainReport,
): string {
  const [target] = state === "running" ? targetsOf("stopped").per_cn : [];
  if (target?.accepted) return `if you stop it, ${target.hostname} can take it`;
  for (const node of per_cn) {
    const [only, other] = rejections(node);
    const command = only === undefined || other !== undefined ? undefined : WAY_IN[only.filter_name];
    if (command !== undefined) return `after ${command(node.hostname)}, ${node.hostname} can take it`;
  }
  return `make room on another node; opsctl placement explain ${id} shows why each node is rejected`;
}

/** Common names of services with a quorum. */
const QUORUM =
  /(?:^|[^a-z])(?:vault|etcd|consul|nomad|zookeeper|zk|raft|patroni|galera|mongo(?:db)?|cockroach(?:db)?|rqlite|kafka|redis-sentinel|ceph-mon)(?:[^a-z]|$)/i;

/**
 * Returns whether an instance's name looks like a member of a service with a quorum. The service can fail if two
 * members are down at the same time.
 */
export function looksLikeQuorum(name: string): boolean {
  return QUORUM.test(name);
}
