// Filters on a node's state and on the rules that operators set for it.
import { CN_LIVE_S } from "../../contract/limits.ts";
import { ACCEPT, type Filter, reject, SKIP } from "./verdict.ts";

/** cn-approved-and-live: the node is approved and was seen within the last CN_LIVE_S seconds. */
export const approvedAndLive: Filter = ({ state, last_seen }, _request, now) => {
  if (state !== "approved") return reject(`it is ${state}`);
  if (last_seen === null) return reject("it was never seen");
  const ago_s = (now.getTime() - last_seen.getTime()) / 1_000;
  return ago_s > CN_LIVE_S ? reject(`last seen ${Math.floor(ago_s)} s ago, more than ${CN_LIVE_S}`) : ACCEPT;
};

/** cn-not-in-avoid-list: the request's avoid_cn does not list the node. */
export const notInAvoidList: Filter = ({ server_uuid }, { avoid_cn }) => {
  if (avoid_cn.length === 0) return SKIP;
  return avoid_cn.includes(server_uuid) ? reject("the request avoids it") : ACCEPT;
};

/** cn-capacity-present: the node has reported its capacity. */
export const capacityPresent: Filter = ({ capacity }) =>
  capacity === null ? reject("it has not reported its capacity") : ACCEPT;

/** cn-role-matches: the node has the requested role or the role `both`. */
export const roleMatches: Filter = ({ role }, request) =>
  role === request.role || role === "both" ? ACCEPT : reject(`its role is ${role}, not ${request.role}`);

/** cn-not-reserved: no operator has reserved the node. */
export const notReserved: Filter = ({ placement: { reserved, reserved_reason } }) =>
  reserved ? reject(because("an operator reserved it", reserved_reason)) : ACCEPT;

/** cn-not-cordoned: the node is not cordoned. */
export const notCordoned: Filter = ({ placement: { cordoned, cordoned_reason } }) =>
  cordoned ? reject(because("it is cordoned", cordoned_reason)) : ACCEPT;

/**
 * The reason with which a drain, an evacuation or an upgrade cordons its node. It stays until the node is uncordoned.
 */
export const DRAIN = "drain";

/** cn-not-evacuating: the node is not cordoned with the reason DRAIN. */
export const notEvacuating: Filter = ({ placement: { cordoned, cordoned_reason } }) =>
  cordoned && cordoned_reason === DRAIN ? reject("it is being emptied") : ACCEPT;

/**
 * cn-scope-match: the node is not pinned to another silo or tenant. A node that is pinned to a tenant accepts only that
 * tenant, even if it is also pinned to a silo.
 */
export const scopeMatch: Filter = ({ placement }, { silo_id, tenant_id }) => {
  const { pinned_silo_uuid: silo, pinned_tenant_uuid: tenant } = placement;
  if (tenant !== null && tenant !== tenant_id) return reject(`it is pinned to tenant ${tenant}`);
  if (silo !== null && silo !== silo_id) return reject(`it is pinned to silo ${silo}`);
  return ACCEPT;
};

/**
 * cn-platform-min: the node's platform is at least as new as the requested platform. Stamps are dates in a sortable
 * form, so comparing texts compares dates.
 */
export const platformMin: Filter = ({ capacity }, { min_platform }) => {
  if (min_platform === null || capacity === null) return SKIP;
  const { platform_version } = capacity;
  return platform_version < min_platform
    ? reject(`its platform ${platform_version} is older than ${min_platform}`)
    : ACCEPT;
};

/** cn-traits-required: the node has every requested trait, with the same value. */
export const traitsRequired: Filter = ({ traits }, { traits: wanted = {} }) => {
  const entries = Object.entries(wanted);
  if (entries.length === 0) return SKIP;
  for (const [key, value] of entries) {
    if (!Object.hasOwn(traits, key)) return reject(`it has no trait ${key}`);
    if (traits[key] !== value) return reject(`its trait ${key} is ${traits[key]}, not ${value}`);
  }
  return ACCEPT;
};

function because(what: string, reason: string | null): string {
  return reason === null ? what : `${what}: ${reason}`;
}
