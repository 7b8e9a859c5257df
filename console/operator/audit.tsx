// Shows the audit chain, newest first. The server searches the chain.
import type { AuditEvent, AuditPage } from "../../src/contract/audit.ts";
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { type Opening, useActions } from "../core/action.ts";
import { actorText } from "../core/audit-actor.ts";
import { objectText } from "../core/audit-object.ts";
import { auditFlags, type AuditSearch, auditSearchOf } from "../core/audit-search.ts";
import { get } from "../core/client.ts";
import { opsctl, tenantctl } from "../core/command.ts";
import { narrow, query as urlQuery } from "../core/router.ts";
import type { Query } from "../core/store.ts";
import { counted } from "../core/text.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Heading, Link, State, When } from "../parts/basics.tsx";
import type { Column } from "../parts/list.tsx";
import { Filters } from "../parts/list-page.tsx";
import { RowList } from "../parts/lists.tsx";
import { useQuery } from "../parts/use-query.ts";
import { type Names, useUsernames } from "./directory.ts";

/**
 * The list begins with one step, and the user can add steps. A step adds at most this many older events to the list.
 */
const STEP_EVENTS = 500;
/**
 * The largest number of requests in one step. Each request searches at most 10,000 events. So a step ends even if no
 * event matches.
 */
const REQUESTS_MAX = 5;
/** The search begins this long after the last key press, in milliseconds. */
const REST_MS = 200;

const columnsWith = (usernames: Names): readonly Column<AuditEvent>[] => [
  {
    name: "seq",
    title: "Number",
    width: "88px",
    isNumeric: true,
    isWideOnly: true,
    sorts: true,
    text: ({ seq }) => seq,
    cell: ({ seq }) => seq,
  },
  {
    name: "action",
    title: "Action",
    sorts: true,
    text: ({ action }) => action,
    cell: ({ action, seq }) => <Link to={`/audit/${seq}`} tabIndex={-1}>{action}</Link>,
  },
  {
    name: "decision",
    title: "Decision",
    width: "130px",
    text: ({ decision }) => decision,
    cell: ({ decision }) => <State of={decision} />,
  },
  {
    name: "actor",
    title: "Actor",
    isWideOnly: true,
    text: ({ actor }) => actorText(actor, usernames),
    cell: ({ actor }) => actorText(actor, usernames),
  },
  {
    name: "resource",
    title: "Object",
    isWideOnly: true,
    text: ({ resource }) => resource,
    cell: ({ resource }) => <span title={resource ?? undefined}>{objectText(resource)}</span>,
  },
  {
    name: "request",
    title: "Request",
    isWideOnly: true,
    text: ({ request_id }) => request_id,
    cell: ({ request_id }) => <code>{request_id}</code>,
  },
  { name: "time", title: "Time", width: "110px", text: ({ ts }) => ts, cell: ({ ts }) => <When at={ts} /> },
];

/** The columns of a tenant's audit. Only the site's chain has a page for each event. */
const tenantColumnsWith = (usernames: Names) =>
  columnsWith(usernames).map((column) =>
    column.name === "action" ? { ...column, cell: ({ action }: AuditEvent) => action } : column
  );

/** Opens the verification of the site's chain. */
export const verify: Opening = { title: "Verify the chain", opens: "/audit-verification" };

type Found = { readonly events: readonly AuditEvent[]; readonly before_seq: number | null };

/** Searches older events until the steps have their events or have sent their requests, or the chain ends. */
function found(tenant: string | null, search: AuditSearch, steps: number): Query<Found> {
  const path = tenant === null ? "/v1/audit/events" : `/v1/tenants/${tenant}/audit/events`;
  const order = tenant === null ? "desc" : undefined;
  return {
    key: `audit ${tenant} ${JSON.stringify(search)} ${steps}`,
    kinds: [],
    rest_ms: Object.keys(search).length > 0 ? REST_MS : 0,
    ...(steps === 1 && { fresh_ms: 5_000 }),
    read: async (signal) => {
      const events: AuditEvent[] = [];
      let before_seq: number | undefined;
      for (let request = 0; request < steps * REQUESTS_MAX; request++) {
        const limit = Math.min(STEP_EVENTS, steps * STEP_EVENTS - events.length);
        const page = await get<AuditPage>(path, { order, limit, before_seq, ...search }, signal);
        events.push(...page.events);
        if (page.next_before_seq === null) return { events, before_seq: null };
        before_seq = page.next_before_seq;
        if (events.length >= steps * STEP_EVENTS) break;
      }
      return { events, before_seq: before_seq ?? null };
    },
  };
}

/** The audit of the site, or of one tenant. */
export function Audit({ tenant = null }: { readonly tenant?: string | null }) {
  const text = urlQuery.value.get("find") ?? "";
  const parsed = auditSearchOf(text);
  const search = typeof parsed === "string" ? {} : parsed;
  // A new search begins with one step.
  const asked = useSignal({ text, steps: 1 });
  const steps = asked.value.text === text ? asked.value.steps : 1;
  const query = found(tenant, search, steps);
  const { data, busy, refusal } = useQuery(query);
  const actors = new Set(data?.events.flatMap(({ actor }) => "user_id" in actor ? actor.user_id : []));
  const usernames = useUsernames(actors);
  const columns = useMemo(() => (tenant === null ? columnsWith : tenantColumnsWith)(usernames), [tenant, usernames]);
  useActions(tenant === null ? [verify] : []);
  return (
    <>
      <Heading title="Audit">
        <p class="count">{data === undefined ? "" : counted(data.events.length, "event")}</p>
        <Actions />
      </Heading>
      <Filters label="Audit" name="find" hint="action:instance_create decision:deny" />
      {typeof parsed === "string"
        ? <p class="hint" role="status">{parsed}. The list shows the newest events.</p>
        : (
          <p class="hint">
            <code>action:</code> <code>actor:</code> <code>object:</code> <code>request:</code> <code>decision:</code>
            {" "}
            <code>since:</code> <code>until:</code>. An action needs its complete name; for an object, a part is enough.
          </p>
        )}
      <RowList
        label="Audit"
        columns={columns}
        listKey={`audit ${text}`}
        rows={data?.events}
        busy={busy}
        refusal={refusal}
        idOf={({ seq }) => String(seq)}
        {...(tenant === null && { open: ({ seq }: AuditEvent) => `/audit/${seq}` })}
        empty={<Nothing search={search} oldest={data?.before_seq ?? null} />}
      />
      {data !== undefined && data.before_seq !== null && (
        <p>
          <button type="button" onClick={() => (asked.value = { text, steps: steps + 1 })}>
            Older than event {data.before_seq}
          </button>
        </p>
      )}
      <AsCommand
        line={tenant === null
          ? opsctl("audit list", [], auditFlags(search))
          : tenantctl("audit list", [], auditFlags(search))}
      />
    </>
  );
}

/**
 * Names the filters that no event matches, with a button that removes them. `oldest` is the number of the oldest event
 * that was searched; null if all events were searched.
 */
function Nothing({ search, oldest }: { readonly search: AuditSearch; readonly oldest: number | null }) {
  const filters = Object.entries(search).map(([name, value]) => `${name} ${value}`);
  if (filters.length === 0) return <p>There are no events.</p>;
  return (
    <>
      <p>No event {oldest === null ? "" : `from number ${oldest} on `}has {filters.join(" and ")}.</p>
      <button type="button" onClick={() => narrow({ find: undefined })}>Show all</button>
    </>
  );
}
