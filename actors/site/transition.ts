// The site and its auto-approve window. If the window limits the number of approvals, a budget row has the number of
// approvals that are left. Each approval without a claim code subtracts one from this row, so these approvals cannot
// exceed the limit.
import type { AutoApproveWindow } from "../../src/contract/cn.ts";
import { AUTO_APPROVE_SECS_MAX } from "../../src/contract/limits.ts";
import { addMs, toRfc3339 } from "../../src/lib/text/instant.ts";
import { audit, go, remove, upsert } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";

/** The only row of this kind: the site itself. */
export const SITE = { kind: "site", id: "site" } as const;
const BUDGET = "auto-approve";

export type SiteMessage =
  | {
    readonly type: "open_window";
    readonly duration_secs: number;
    readonly count: number | null;
    readonly opened_by: string;
  }
  | { readonly type: "close_window" }
  | { readonly type: "tick" };

export type SiteState =
  | { readonly state: "window_closed"; readonly id: string }
  | {
    readonly state: "window_open";
    readonly id: string;
    readonly window_opened_at: Date;
    readonly window_expires_at: Date;
    /** The number of approvals that the window allows; null if only the window's time is limited. */
    readonly window_count: number | null;
    readonly window_opened_by: string;
    /** The number of approvals that are left. The view site_loaded joins it from the budget row. */
    readonly window_remaining?: number | null;
  };

type Open = At<SiteState, "window_open">;

export const siteTable: Table<SiteState, SiteMessage> = {
  open_window: { absent: open, window_closed: open, window_open: open },
  // Closing is idempotent: it also succeeds without an open window.
  close_window: { absent: "ignore", window_closed: "ignore", window_open: close },
  tick: { absent: "ignore", window_closed: "ignore", window_open: expire },
};

/** Opens a window. An open window is replaced. */
function open(_s: SiteState | null, m: Of<SiteMessage, "open_window">, now: Date): Out<SiteState> {
  const effective_secs = Math.min(m.duration_secs, AUTO_APPROVE_SECS_MAX);
  const expires_at = addMs(now, effective_secs * 1_000);
  const next: Open = {
    id: SITE.id,
    state: "window_open",
    window_opened_at: now,
    window_expires_at: expires_at,
    window_count: m.count,
    window_opened_by: m.opened_by,
    window_remaining: m.count,
  };
  return go(
    next,
    upsert("budget", ["name"], { name: BUDGET, remaining: m.count, expires_at }),
    audit("auto_approve_set", `Site::"${SITE.id}"`, {
      requested_duration_secs: m.duration_secs,
      effective_duration_secs: effective_secs,
      count: m.count,
    }),
  );
}

function close(s: Open): Out<SiteState> {
  return go(closed(s), remove("budget", { name: BUDGET }), audit("auto_approve_clear", `Site::"${SITE.id}"`));
}

function expire(s: Open, _m: Of<SiteMessage, "tick">, now: Date): Out<SiteState> {
  return now < s.window_expires_at ? { out: "ignore" } : go(closed(s), remove("budget", { name: BUDGET }));
}

function closed(s: Open): SiteState {
  return { id: s.id, state: "window_closed" };
}

/** The view of the window; null when it is closed, expired or used up. */
export function windowView(s: SiteState | null, now: Date): AutoApproveWindow | null {
  if (s?.state !== "window_open" || now >= s.window_expires_at || s.window_remaining === 0) return null;
  return {
    opened_at: toRfc3339(s.window_opened_at),
    expires_at: toRfc3339(s.window_expires_at),
    remaining_count: s.window_remaining ?? null,
    opened_by: s.window_opened_by,
  };
}

export const site: Behavior<SiteState, SiteMessage> = {
  kind: "site",
  table: "site",
  key: "id",
  from: "site_loaded",
  step: (s, m, now) => runTable(siteTable, s, m, now),
  deadline: (s) => (s.state === "window_open" ? s.window_expires_at : null),
  view: (s) => (s.state === "window_open" ? windowView(s, s.window_opened_at) : null),
};
