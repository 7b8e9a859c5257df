// Reads and formats a quota and its usage. If no quota is set, the limits are the site's default limits.
import { QUOTA_LIMIT_MAX } from "../../src/contract/limits.ts";
import type { Limits, Quota, TenantQuota, Usage, UsageView } from "../../src/contract/tenancy.ts";
import { byteSizeText } from "./byte-size.ts";
import { EXIT } from "./exit-code.ts";
import { Failure } from "./failure.ts";
import type { Io } from "./io.ts";
import { type Column, tableText } from "./table.ts";

/** The quota of a tenant or a project, or its effective limits if no quota is set. */
export type Shown = Limits & {
  readonly tenant_id: string;
  readonly project_id?: string;
  readonly used: Usage;
  readonly updated_at: string | null;
};

/** The tenant's quota, which also limits its projects. */
export type Cap = Pick<UsageView, "limits"> & { readonly used: Usage };

type Of = { readonly path: string; readonly tenant_id: string; readonly project_id?: string };

/** Returns the quota, or null if none is set. */
export async function findQuota(io: Pick<Io, "get">, { path }: Pick<Of, "path">): Promise<Quota | TenantQuota | null> {
  return await unlessAbsent(io.get<Quota | TenantQuota>(`${path}/quota`));
}

/** Returns the effective limits and the usage of a tenant or project without a quota. Older servers send no limits. */
export async function withoutQuota(io: Pick<Io, "get">, { path, tenant_id, project_id }: Of): Promise<Shown> {
  const { limits, ...used } = await io.get<Usage & Partial<UsageView>>(`${path}/usage`);
  const of = { tenant_id, ...(project_id !== undefined && { project_id }) };
  return { ...of, ...(limits ?? NONE), used, updated_at: null };
}

const NONE: Limits = { cpu_limit: null, memory_bytes: null, disk_bytes: null, instance_limit: null };

/**
 * Returns the tenant's limits and usage; null if the tenant has no limits, or if the server does not count usage by
 * tenant.
 */
export async function capOf(io: Pick<Io, "get">, tenant_id: string): Promise<Cap | null> {
  const found = await unlessAbsent(io.get<UsageView>(`/v1/tenants/${tenant_id}/usage`));
  if (found === null) return null;
  const { limits, ...used } = found;
  return isLimited(limits) ? { limits, used } : null;
}

export function isLimited(limits: Limits): boolean {
  return [limits.cpu_limit, limits.memory_bytes, limits.disk_bytes, limits.instance_limit].some((each) =>
    each !== null && each !== QUOTA_LIMIT_MAX
  );
}

async function unlessAbsent<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Failure && error.exit_code === EXIT.not_found) return null;
    throw error;
  }
}

type Amount = { readonly limit: number | null; readonly used: number };
type Row = Amount & { readonly resource: string; readonly cap: Amount | null; text(amount: number): string };

const COLUMNS: readonly Column<Row>[] = [
  ["RESOURCE", ({ resource }) => resource],
  ["LIMIT", limitText],
  ["USED", ({ used, text }) => text(used)],
  [
    "PERCENT",
    ({ limit, used }) =>
      limit === null || limit === 0 || limit === QUOTA_LIMIT_MAX ? "-" : `${percentText(used, limit)}%`,
  ],
];
const CAPPED: readonly Column<Row>[] = [
  ...COLUMNS,
  ["TENANT_LIMIT", ({ cap, text }) => cap === null ? "-" : limitText({ limit: cap.limit, text })],
  ["TENANT_USED", ({ cap, text }) => cap === null ? "-" : text(cap.used)],
];

/** Returns "-" if no limit is set. A quota with a limit of QUOTA_LIMIT_MAX is set, but does not limit. */
function limitText({ limit, text }: Pick<Row, "limit" | "text">): string {
  if (limit === null) return "-";
  return limit === QUOTA_LIMIT_MAX ? "unlimited" : text(limit);
}

/** Formats a quota. `cap` adds the columns of the project's tenant. */
export function quotaText(quota: Shown | Quota | TenantQuota, cap: Cap | null = null): string {
  const { used } = quota;
  const of = (limit: keyof Limits, what: keyof Usage): Amount | null =>
    cap === null ? null : { limit: cap.limits[limit], used: cap.used[what] };
  const rows: Row[] = [
    { resource: "cpu", limit: quota.cpu_limit, used: used.cpu, cap: of("cpu_limit", "cpu"), text: String },
    {
      resource: "memory",
      limit: quota.memory_bytes,
      used: used.memory_bytes,
      cap: of("memory_bytes", "memory_bytes"),
      text: byteSizeText,
    },
    {
      resource: "disk",
      limit: quota.disk_bytes,
      used: used.disk_bytes,
      cap: of("disk_bytes", "disk_bytes"),
      text: byteSizeText,
    },
    {
      resource: "instances",
      limit: quota.instance_limit,
      used: used.instances,
      cap: of("instance_limit", "instances"),
      text: String,
    },
  ];
  return tableText(cap === null ? COLUMNS : CAPPED, rows);
}

/** Returns a percentage. It is 100 only if the limit is used up, and 0 only if nothing is used. */
function percentText(used: number, limit: number): string {
  const percent = used * 100 / limit;
  if (percent > 99 && percent < 100) return "99";
  if (percent > 0 && percent < 1) return "<1";
  return String(Math.round(percent));
}
