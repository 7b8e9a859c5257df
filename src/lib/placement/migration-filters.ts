// Filters for moving an instance to another node. They skip every request that does not move an instance. The first
// three filters apply only to a live migration.
import type { CapacityReport } from "../../contract/agent.ts";
import { INSTANCE_POOL, TSC_OFFSET_NS_MAX } from "../../contract/limits.ts";
import type { PlacementRequest } from "./request.ts";
import { ACCEPT, type Filter, reject, SKIP, type Verdict } from "./verdict.ts";

type Compare = (here: CapacityReport, there: CapacityReport, request: PlacementRequest) => Verdict;

const moving = (which: "live" | "any", compare: Compare): Filter => ({ capacity }, request) => {
  const { migration } = request;
  if (migration === undefined || capacity === null || (which === "live" && !migration.live)) return SKIP;
  return compare(migration.from, capacity, request);
};

/** cn-bhyve-compatible: for a running bhyve guest, both nodes have the same version of the VMM protocol. */
export const bhyveCompatible = moving("live", (here, there, { brand }) => {
  if (brand !== "bhyve") return SKIP;
  const [from, to] = [here.vmm_protocol_version, there.vmm_protocol_version];
  return from === to ? ACCEPT : reject(`its VMM protocol is ${to ?? "unknown"}, not ${from ?? "unknown"}`);
});

/** cn-cpu-feature-superset: the target's CPU has every feature of the present node's CPU. */
export const cpuFeatureSuperset = moving("live", (here, there) => {
  const missing = here.cpu_features.filter((feature) => !there.cpu_features.includes(feature));
  return missing.length > 0 ? reject(`its CPU lacks ${missing.join(", ")}`) : ACCEPT;
});

/**
 * cn-time-synced: the clocks of both nodes are at most TSC_OFFSET_NS_MAX apart. Nodes with QEMU report no offset,
 * because the guest's clock moves with its memory. If neither node reports an offset, the filter accepts.
 */
export const timeSynced = moving("live", (here, there) => {
  if (here.tsc_offset_ns === null && there.tsc_offset_ns === null) return ACCEPT;
  if (here.tsc_offset_ns === null) return reject("the present node does not report the offset of its clock");
  if (there.tsc_offset_ns === null) return reject("it does not report the offset of its clock");
  const apart_ns = Math.abs(here.tsc_offset_ns - there.tsc_offset_ns);
  return apart_ns > TSC_OFFSET_NS_MAX
    ? reject(`its clock is ${apart_ns} ns off, more than ${TSC_OFFSET_NS_MAX}`)
    : ACCEPT;
});

/**
 * cn-zfs-compatible: the pools for instances on both nodes have the same compression, encryption and record size. If
 * neither node reports these properties, the filter accepts.
 */
export const zfsCompatible = moving("any", (here, there, { disk_bytes }) => {
  if (disk_bytes <= 0) return SKIP;
  if (!there.zpools.some(({ name }) => name === INSTANCE_POOL)) return reject(`it has no pool ${INSTANCE_POOL}`);
  const [from, to] = [here.zpool_props[INSTANCE_POOL], there.zpool_props[INSTANCE_POOL]];
  if (from === undefined || to === undefined) {
    return from === to ? ACCEPT : reject("the properties of its pool are unknown");
  }
  const keys = ["compression", "encryption", "recordsize_bytes"] as const;
  const other = keys.find((key) => from[key] !== to[key]);
  return other === undefined ? ACCEPT : reject(`${other} of its pool is ${to[other]}, not ${from[other]}`);
});
