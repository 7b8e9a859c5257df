// The limits of a project. They bind what is created from now on: setting one below what is used refuses nothing that
// exists. How much is used is counted beside it, whether or not there is a quota (project_usage).
import type { Quota, QuotaBody, Usage } from "../../src/contract/tenancy.ts";
import { conflict } from "../../src/contract/fault.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { audit, go } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

export type QuotaMessage =
  | ({ readonly type: "set"; readonly project_id: string; readonly tenant_id: string } & QuotaBody)
  | { readonly type: "unset" };

export type QuotaState = {
  readonly state: "set";
  readonly project_id: string;
  readonly tenant_id: string;
  readonly cpu_limit: number;
  readonly memory_bytes: number;
  readonly disk_bytes: number;
  readonly instance_limit: number;
  readonly updated_at: Date;
};

export const quotaTable: Table<QuotaState, QuotaMessage> = {
  set: { absent: set, set },
  unset: { absent: "missing", set: unset },
};

function set(_s: QuotaState | null, m: Of<QuotaMessage, "set">, now: Date): Out<QuotaState> {
  const { type: _type, ...limits } = m;
  const { project_id, tenant_id, ...note } = limits;
  return go(
    { ...limits, state: "set", updated_at: now },
    audit("quota_set", `Project::"${project_id}"`, { tenant_id, ...note }),
  );
}

function unset(s: At<QuotaState, "set">): Out<QuotaState> {
  return go<QuotaState>(null, audit("quota_delete", `Project::"${s.project_id}"`, { tenant_id: s.tenant_id }));
}

export function quotaView(s: QuotaState, used: Usage): Quota {
  const { state: _state, updated_at, ...limits } = s;
  return { ...limits, used, updated_at: toRfc3339(updated_at) };
}

export const quota: Behavior<QuotaState, QuotaMessage> = {
  kind: "quota",
  table: "quota",
  key: "project_id",
  step: (s, m, now) => runTable(quotaTable, s, m, now),
  deadline: () => null,
  view: ({ state: _state, updated_at, ...limits }) => ({ ...limits, updated_at: toRfc3339(updated_at) }),
  constraints: { quota_project_id_fkey: conflict("the project is gone") },
};
