// The limits of a project. Commits check them only when an instance, a disk or a snapshot is created, or when an
// instance or a disk grows. So a limit below the current usage does not affect existing objects. The table
// project_usage counts the usage, with or without a quota.
import type { QuotaBody } from "../../src/contract/tenancy.ts";
import { conflict } from "../../src/contract/fault.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { type SetValue, type UnsetValue, value, type ValueState } from "../record/value.ts";

type Columns = QuotaBody & { readonly project_id: string; readonly tenant_id: string };

export type QuotaMessage = SetValue<Columns> | UnsetValue;

export type QuotaState = ValueState<Columns & { readonly updated_at: Date }>;

export const quota = value<QuotaState, QuotaMessage>({
  kind: "quota",
  table: "quota",
  key: "project_id",
  resource: ({ project_id }) => `Project::"${project_id}"`,
  set: {
    action: "quota_set",
    row: ({ type: _type, ...columns }, now) => ({ ...columns, updated_at: now }),
    note: ({ state: _state, project_id: _project, updated_at: _at, ...columns }) => columns,
  },
  unset: { action: "quota_delete", absent: "missing", note: ({ tenant_id }) => ({ tenant_id }) },
  view: ({ state: _state, updated_at, ...columns }) => ({ ...columns, updated_at: toRfc3339(updated_at) }),
  constraints: { quota_project_id_fkey: conflict("the project was deleted") },
});
