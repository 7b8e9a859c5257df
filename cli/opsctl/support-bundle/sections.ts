// Defines the sections of a support bundle. The sections about settings, nodes, operations and jobs keep only listed
// members of each record. The section audit-head.json keeps only the head of the audit chain. The other sections keep
// the whole answer.
import type { AuditPage } from "../../../src/contract/audit.ts";
import type { CnView } from "../../../src/contract/cn.ts";
import type { Page } from "../../../src/contract/common.ts";
import type { Job } from "../../../src/contract/job.ts";
import { OPERATION_PAGE_ROWS_MAX, PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import type { OperationSummary } from "../../../src/contract/operation.ts";
import type { SettingView } from "../../../src/contract/setting.ts";
import type { Io } from "../../internal/io.ts";
import { SETTINGS_PATH } from "../config/setting.ts";
import { JOBS_PATH } from "../job/job.ts";
import { OPERATIONS_PATH } from "../../internal/operation/text.ts";

export type Section = {
  /** Name of the file in the archive. */
  readonly file: string;
  /** Returns text, or a value that is written as JSON. */
  read(io: Io): Promise<unknown>;
};

/** Time limit of the doctor's report, for which the server reads its tables. */
const DOCTOR_LIMIT_MS = 120_000;

export const SECTIONS: readonly Section[] = [
  { file: "health.json", read: (io) => io.get("/v1/health") },
  { file: "ready.json", read: (io) => io.get("/readyz") },
  { file: "settings.json", read: settings },
  { file: "nodes.json", read: nodes },
  { file: "operations.json", read: operations },
  { file: "jobs.json", read: jobs },
  { file: "audit-head.json", read: async (io) => (await io.get<AuditPage>("/v1/audit/events", { limit: 1 })).head },
  { file: "metrics.txt", read: (io) => io.send({ method: "GET", path: "/metrics", is_text: true }) },
  {
    file: "doctor.json",
    read: (io) => io.send({ method: "GET", path: "/v1/system/doctor", limit_ms: DOCTOR_LIMIT_MS }),
  },
];

async function settings(io: Io) {
  const all = await io.get<SettingView[]>(SETTINGS_PATH);
  return all.map(({ key, value, default: standard, env_override, restart_required }) => ({
    ...{ key, value, default: standard, env_override, restart_required },
  }));
}

async function nodes(io: Io) {
  const all = await io.all<CnView>("/v1/system/cns");
  const items = all.map((node) => {
    const { server_uuid, hostname, state, role, admin_ip, registered_at, approved_at, last_seen } = node;
    const { last_setup_error, setup_progress } = node;
    const agent = { is_bound: node.bound_api_key_id !== null, has_conflict: node.conflict !== null };
    const times = { registered_at, approved_at, last_seen };
    return { server_uuid, hostname, state, role, admin_ip, ...times, last_setup_error, setup_progress, ...agent };
  });
  return { by_state: counted(items, ({ state }) => state), items };
}

async function operations(io: Io) {
  const all = await io.get<OperationSummary[]>(OPERATIONS_PATH, { limit: OPERATION_PAGE_ROWS_MAX });
  const items = all.map(({ id, kind, state, references, stuck_reason, error, time_created, time_done }) => ({
    ...{ id, kind, state, references, stuck_reason, error, time_created, time_done },
  }));
  return { newest: items.length, by_state: counted(items, ({ state }) => state), items };
}

async function jobs(io: Io) {
  const page = await io.get<Page<Job>>(JOBS_PATH, { limit: PAGE_ROWS_MAX });
  const items = page.items.map((job) => {
    const { id, seq, target_cn_uuid, operation_id, created_at, claimed_at, completed_at, lease_until, tombstone } = job;
    const times = { created_at, claimed_at, completed_at, lease_until };
    return { id, seq, kind: job.kind.kind, ...job.status, target_cn_uuid, operation_id, ...times, tombstone };
  });
  return { newest: items.length, by_status: counted(items, ({ status }) => status), items };
}

function counted<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
}
