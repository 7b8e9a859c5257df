// A quota beside what is used of it. A project without one has usage too.
import type { Quota, Usage } from "../../../src/contract/tenancy.ts";
import { byteSizeText } from "../../kit/byte-size.ts";
import { EXIT } from "../../kit/exit-code.ts";
import { Failure } from "../../kit/failure.ts";
import type { Io } from "../../kit/io.ts";
import { type Column, tableText } from "../../kit/table.ts";
import { type PlacedProject, projectPath } from "../project/project.ts";

/** The answer of a project without a quota: the same keys, the limits null. */
export type Unlimited = Pick<Quota, "tenant_id" | "project_id" | "used"> & {
  readonly cpu_limit: null;
  readonly memory_bytes: null;
  readonly disk_bytes: null;
  readonly instance_limit: null;
  readonly updated_at: null;
};

export function quotaPath(placed: PlacedProject): string {
  return `${projectPath(placed)}/quota`;
}

/** Null while none is set. */
export async function findQuota(io: Io, placed: PlacedProject): Promise<Quota | null> {
  try {
    return await io.get<Quota>(quotaPath(placed));
  } catch (error) {
    if (error instanceof Failure && error.exit_code === EXIT.not_found) return null;
    throw error;
  }
}

export async function unlimited(io: Io, placed: PlacedProject): Promise<Unlimited> {
  const used = await io.get<Usage>(`${projectPath(placed)}/usage`);
  const none = { cpu_limit: null, memory_bytes: null, disk_bytes: null, instance_limit: null, updated_at: null };
  return { tenant_id: placed.tenant.id, project_id: placed.project.id, ...none, used };
}

type Row = { resource: string; limit: number | null; used: number; text(amount: number): string };

const COLUMNS: readonly Column<Row>[] = [
  ["RESOURCE", ({ resource }) => resource],
  ["LIMIT", ({ limit, text }) => limit === null ? "-" : text(limit)],
  ["USED", ({ used, text }) => text(used)],
  ["PERCENT", ({ limit, used }) => limit === null || limit === 0 ? "-" : `${percentText(used, limit)}%`],
];

export function quotaText({ used, ...quota }: Quota | Unlimited): string {
  return tableText(COLUMNS, [
    { resource: "cpu", limit: quota.cpu_limit, used: used.cpu, text: String },
    { resource: "memory", limit: quota.memory_bytes, used: used.memory_bytes, text: byteSizeText },
    { resource: "disk", limit: quota.disk_bytes, used: used.disk_bytes, text: byteSizeText },
    { resource: "instances", limit: quota.instance_limit, used: used.instances, text: String },
  ]);
}

/** 100 only for what is full, 0 only for what is empty. */
function percentText(used: number, limit: number): string {
  const percent = used * 100 / limit;
  if (percent > 99 && percent < 100) return "99";
  if (percent > 0 && percent < 1) return "<1";
  return String(Math.round(percent));
}
