// Reads the records of a site in the form of a manifest: names identify the records, also in references.
import type { ExternalSubnet, NetworkPool, NicTag } from "../../../src/contract/external-network.ts";
import type { SettingView } from "../../../src/contract/setting.ts";
import type { Project, Silo, Tenant } from "../../../src/contract/tenancy.ts";
import { canonicalJson } from "../../../src/lib/text/canonical-json.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import type { Io } from "../../internal/io.ts";
import { entryOf } from "../../internal/manifest/kind.ts";
import type { Existing } from "../../internal/manifest/plan.ts";
import { findQuota } from "../../internal/quota.ts";
import { readPolicy } from "../cn/boot/policy/policy.ts";
import { EXTERNAL_SUBNETS_PATH } from "../external-subnet/subnet.ts";
import { POOLS_PATH } from "../network-pool/pool.ts";
import { TAGS_PATH } from "../nic-tag/tag.ts";
import { SETTINGS_PATH } from "../config/setting.ts";
import { tenantsPath } from "../tenant/tenant.ts";
import { allSilos } from "../silo/silo.ts";
import { DEFAULT_TENANT, kindOf, type ListName } from "./kinds.ts";

export const REQUESTS_AT_A_TIME = 8;

type Values = Readonly<Record<string, unknown>>;

/** The part of a site to read. */
export type Part = {
  wants(list: ListName): boolean;
  /** Whether to read the tenants of the silo with this name, and the records that belong to them. */
  wantsSilo(name: string): boolean;
};

/** Reads the records of the wanted lists, and of the lists that they refer to. */
export async function readSite(io: Io, { wants, wantsSilo }: Part): Promise<Existing[]> {
  const some = (...lists: readonly ListName[]) => lists.some(wants);
  const networks = some("nic_tags", "external_subnets", "network_pools");
  const silos = await allSilos(io);
  const chosen = some("tenants", "projects", "quotas") ? silos.filter(({ name }) => wantsSilo(name)) : [];
  const [tenancy, external, settings, policy] = await Promise.all([
    readTenancy(io, chosen, wants("quotas")),
    networks ? readNetworks(io) : null,
    wants("settings") ? io.get<SettingView[]>(SETTINGS_PATH) : [],
    wants("boot_policy") ? readPolicy(io) : null,
  ]);
  const silo_names = new Map(silos.map(({ id, name }) => [id, name]));
  return [
    ...silos.map((silo) => record("silos", silo.id, described(silo))),
    ...tenancy,
    ...(external === null ? [] : networkRecords(external, silo_names)),
    ...settings.map(settingRecord),
    ...(policy === null ? [] : [record("boot_policy", "", { ...policy.policy })]),
  ];
}

/**
 * Returns the record of a setting. If an environment variable of the server overrides the setting, the server does not
 * show the stored value, so the plan does not remove the setting.
 */
function settingRecord({ key, value, default: usual, env_override }: SettingView): Existing {
  if (env_override !== null) {
    const no_effect =
      `the environment variable ${env_override} of the server overrides the manifest; remove the variable, or the setting from the manifest`;
    return { ...record("settings", key, { key, value }, false), no_effect };
  }
  return record("settings", key, { key, value }, canonicalJson(value ?? null) !== canonicalJson(usual ?? null));
}

async function readTenancy(io: Io, silos: readonly Silo[], quotas: boolean): Promise<Existing[]> {
  const found_tenants = await inParallel(REQUESTS_AT_A_TIME, silos, ({ id }) => io.get<Tenant[]>(tenantsPath(id)));
  const tenants = silos.flatMap((silo, at) => found_tenants[at]!.map((tenant) => ({ silo, tenant })));
  const projects = await inParallel(
    REQUESTS_AT_A_TIME,
    tenants,
    ({ tenant }) => io.get<Project[]>(`/v1/tenants/${tenant.id}/projects`),
  );
  const records = tenants.flatMap(({ silo, tenant }, at) => [
    // The default tenant is created and deleted with its silo.
    record("tenants", tenant.id, { silo: silo.name, ...described(tenant) }, tenant.name !== DEFAULT_TENANT),
    ...projects[at]!.map((project) =>
      record("projects", project.id, {
        silo: silo.name,
        tenant: tenant.name,
        ...described(project),
        labels: project.labels,
      })
    ),
  ]);
  const limited = tenants.flatMap(({ silo, tenant }, at) => [
    { path: `/v1/tenants/${tenant.id}`, of: { silo: silo.name, tenant: tenant.name } },
    ...projects[at]!.map(({ id, name }) => ({
      path: `/v1/tenants/${tenant.id}/projects/${id}`,
      of: { silo: silo.name, tenant: tenant.name, project: name },
    })),
  ]);
  const found = quotas ? await inParallel(REQUESTS_AT_A_TIME, limited, (each) => findQuota(io, each)) : [];
  return [
    ...records,
    ...found.flatMap((quota, at) => {
      if (quota === null) return [];
      const { cpu_limit, memory_bytes, disk_bytes, instance_limit } = quota;
      const { path, of } = limited[at]!;
      return [record("quotas", path, { ...of, cpu_limit, memory_bytes, disk_bytes, instance_limit })];
    }),
  ];
}

type Networks = {
  readonly tags: readonly NicTag[];
  readonly subnets: readonly ExternalSubnet[];
  readonly pools: readonly NetworkPool[];
};

async function readNetworks(io: Io): Promise<Networks> {
  const [tags, subnets, pools] = await Promise.all([
    io.all<NicTag>(TAGS_PATH),
    io.all<ExternalSubnet>(EXTERNAL_SUBNETS_PATH),
    io.all<NetworkPool>(POOLS_PATH),
  ]);
  return { tags, subnets, pools };
}

function networkRecords({ tags, subnets, pools }: Networks, silo_names: ReadonlyMap<string, string>): Existing[] {
  const names = new Map(subnets.map(({ id, name }) => [id, name]));
  const owners = (ids: readonly string[]) => ids.map((id) => silo_names.get(id) ?? id);
  return [
    ...tags.map((tag) => record("nic_tags", tag.id, { ...described(tag), mtu: tag.mtu })),
    ...subnets.map(({ id, kind: _kind, created_at: _created_at, owner_silos, ...values }) =>
      record("external_subnets", id, { ...values, owner_silos: owners(owner_silos) })
    ),
    ...pools.map(({ id, networks, owner_silos, ...pool }) =>
      record("network_pools", id, {
        ...described(pool),
        networks: networks.map((network) => names.get(network) ?? network),
        owner_silos: owners(owner_silos),
      })
    ),
  ];
}

function described({ name, description }: Pick<Silo | Tenant, "name" | "description">): Values {
  return { name, description };
}

function record(list: ListName, id: string, values: Values, removable = true): Existing {
  return { ...entryOf(kindOf(list), values), id, removable };
}
