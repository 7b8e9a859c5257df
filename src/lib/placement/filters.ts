// Lists the filters by name. Every filter runs on every node, even if another filter has already rejected the node, so
// that a report shows all reasons.
import type { FilterResult } from "../../contract/placement.ts";
import { PLACEMENT_FILTERS, type PlacementFilter } from "../../contract/enums.ts";
import * as capacity from "./capacity-filters.ts";
import { affinityRequired } from "./group.ts";
import * as migration from "./migration-filters.ts";
import type { PlacementRequest } from "./request.ts";
import type { NodeSnapshot } from "./snapshot.ts";
import * as nodeState from "./node-filters.ts";
import type { Filter } from "./verdict.ts";

const FILTERS: Readonly<Record<PlacementFilter, Filter>> = {
  "cn-approved-and-live": nodeState.approvedAndLive,
  "cn-not-in-avoid-list": nodeState.notInAvoidList,
  "cn-capacity-present": nodeState.capacityPresent,
  "cn-role-matches": nodeState.roleMatches,
  "cn-not-reserved": nodeState.notReserved,
  "cn-not-cordoned": nodeState.notCordoned,
  "cn-not-evacuating": nodeState.notEvacuating,
  "cn-scope-match": nodeState.scopeMatch,
  "cn-platform-min": nodeState.platformMin,
  "cn-traits-required": nodeState.traitsRequired,
  "cn-nic-tags": capacity.nicTags,
  "cn-underlay": capacity.underlay,
  "cn-zpool-has-space": capacity.poolHasSpace,
  "cn-ram-available": capacity.ramAvailable,
  "cn-cpu-available": capacity.cpuAvailable,
  "cn-numa-fits": capacity.numaFits,
  "cn-device-available": capacity.deviceAvailable,
  "cn-hvm-supported": capacity.hvmSupported,
  "cn-affinity-required": affinityRequired,
  "cn-bhyve-compatible": migration.bhyveCompatible,
  "cn-cpu-feature-superset": migration.cpuFeatureSuperset,
  "cn-time-synced": migration.timeSynced,
  "cn-zfs-compatible": migration.zfsCompatible,
};

/** Returns the results of all filters for a node, in the order of PLACEMENT_FILTERS. */
export function filterResults(node: NodeSnapshot, request: PlacementRequest, now: Date): FilterResult[] {
  return PLACEMENT_FILTERS.map((filter_name) => ({ filter_name, ...FILTERS[filter_name](node, request, now) }));
}
