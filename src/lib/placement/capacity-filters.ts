// Filters on a node's capacity. These filters skip a node without a capacity report, because the filter
// cn-capacity-present rejects such a node.
import { CPU_UNITS_PER_VCPU, INSTANCE_POOL } from "../../contract/limits.ts";
import { cpuRoom, diskRoom, hasProcessors, ramRoom, type Room } from "./snapshot.ts";
import { ACCEPT, type Filter, reject, SKIP, type Verdict } from "./verdict.ts";

/** cn-nic-tags: the node offers every requested tag, and has a bridge for each tag of the instance's floating IPs. */
export const nicTags: Filter = ({ server_uuid, capacity }, { nic_tags: wanted = [], bridged_nodes = {} }) => {
  if (wanted.length === 0 || capacity === null) return SKIP;
  const missing = wanted.filter((tag) => !capacity.nic_tags.includes(tag));
  if (missing.length > 0) return reject(`it does not offer NIC tag ${missing.join(", ")}`);
  const bare = wanted.filter((tag) => bridged_nodes[tag]?.includes(server_uuid) === false);
  return bare.length > 0
    ? reject(`it has no bridge for NIC tag ${bare.join(", ")}, which a floating IP needs`)
    : ACCEPT;
};

/** cn-underlay: the node's underlay (the network between the nodes) has every requested address family. */
export const underlay: Filter = ({ capacity }, { underlay: wanted = ["v4"] }) => {
  if (wanted.length === 0 || capacity === null) return SKIP;
  const missing = wanted.filter((family) => !capacity.underlay[`ip${family}`]);
  return missing.length > 0 ? reject(`its underlay has no IP${missing.join(", IP")}`) : ACCEPT;
};

/** cn-zpool-has-space: all disks of the instance fit into the pool for instances. */
export const poolHasSpace: Filter = (node, { disk_bytes }) => {
  if (disk_bytes <= 0 || node.capacity === null) return SKIP;
  const room = diskRoom(node, node.capacity);
  if (room === null) return reject(`it has no pool ${INSTANCE_POOL}`);
  return fits(room, disk_bytes, "bytes of disk");
};

/** cn-ram-available: the instance's memory fits into the node's unallocated memory. */
export const ramAvailable: Filter = (node, { ram_mb }) =>
  node.capacity === null ? SKIP : fits(ramRoom(node, node.capacity), ram_mb, "MiB of memory");

/**
 * cn-cpu-available: the node has a logical processor for each vCPU of the instance, and the instance's CPU units fit
 * into the node's unallocated CPU units.
 */
export const cpuAvailable: Filter = (node, { cpu_units }) => {
  const { capacity } = node;
  if (capacity === null) return SKIP;
  if (hasProcessors(capacity, { cpu_units })) return fits(cpuRoom(node, capacity), cpu_units, "CPU units");
  const has = capacity.cpu_threads_logical;
  return reject(`it has ${has} ${has === 1 ? "processor" : "processors"}, ${cpu_units / CPU_UNITS_PER_VCPU} wanted`);
};

function fits(room: Room, wanted: number, unit: string): Verdict {
  if (room.left >= wanted) return ACCEPT;
  return reject(`${whole(room.left)} ${unit} left of ${whole(room.total)}, ${wanted} wanted`);
}

function whole(value: number): number {
  return Math.max(0, Math.floor(value));
}

/** cn-numa-fits: an instance may use the memory of several NUMA nodes, so this filter rejects no node. */
export const numaFits: Filter = ({ capacity }) => capacity === null ? SKIP : ACCEPT;

/** cn-device-available: enough devices of each kind, and of the model if given, are free. */
export const deviceAvailable: Filter = ({ capacity }, { devices: wanted = [] }) => {
  if (wanted.length === 0 || capacity === null) return SKIP;
  for (const { kind, model, count } of wanted) {
    const free = capacity.devices.filter((each) => each.kind === kind && (model === undefined || each.model === model))
      .reduce((sum, { free_count }) => sum + free_count, 0);
    if (free < count) return reject(`${free} ${model ?? kind} free, ${count} wanted`);
  }
  return ACCEPT;
};

/** cn-hvm-supported: the node supports hardware virtualisation, which only the brand bhyve requires. */
export const hvmSupported: Filter = ({ capacity }, { brand }) => {
  if (brand !== "bhyve" || capacity === null) return SKIP;
  return capacity.hvm_supported ? ACCEPT : reject("it has no hardware virtualisation");
};
