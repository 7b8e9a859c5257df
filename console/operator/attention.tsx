// Shows the objects that need an operator's attention: the first rows of each kind, with links to the full lists.
import type { CnView } from "../../src/contract/cn.ts";
import type { Instance } from "../../src/contract/instance.ts";
import type { FleetSummary, NodeRow } from "../../src/contract/node-window.ts";
import type { OperationSummary } from "../../src/contract/operation.ts";
import type { ComponentChildren } from "preact";
import { get } from "../core/client.ts";
import type { Kind } from "../core/kinds.ts";
import type { Query } from "../core/store.ts";
import { counted } from "../core/text.ts";
import { Link, Refused, Section, When } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import { NODES_FRESH_MS } from "./node-rows.ts";

/** The number of rows of each kind. */
const ROWS = 10;

/**
 * A query of the first rows of a list. `select` has the query parameters of the list's route, which filter and sort.
 */
function firstOf<T>(kind: Kind, path: string, select: Readonly<Record<string, string>>): Query<readonly T[]> {
  return {
    key: `first of ${path} ${JSON.stringify(select)}`,
    kinds: [kind],
    fresh_ms: NODES_FRESH_MS,
    read: async (signal) => {
      const answer = await get<T[] | { items: T[] }>(path, { ...select, limit: ROWS }, signal);
      return Array.isArray(answer) ? answer : answer.items;
    },
  };
}

const PENDING = firstOf<CnView>("cn", "/v1/system/cns", { state: "pending" });
const SETUP = firstOf<NodeRow>("cn", "/v1/system/nodes", { state: "awaiting_setup" });
/** Nodes without a problem come last. */
const TROUBLED = firstOf<NodeRow>("cn", "/v1/system/nodes", { sort: "problem" });
const STUCK = firstOf<OperationSummary>("saga", "/v1/operations", { state: "stuck" });
const FAILED = firstOf<Instance>("instance", "/v1/system/instances", { state: "failed" });

export function Attention({ summary }: { readonly summary: FleetSummary | undefined }) {
  const pending = useQuery(PENDING);
  const setup = useQuery(SETUP);
  const troubled = useQuery(TROUBLED);
  const stuck = useQuery(STUCK);
  const failed = useQuery(FAILED);
  const waiting = (pending.data ?? []).flatMap((node) => node.claims.map((claim) => ({ node, claim })));
  const setups = setup.data ?? [];
  // The row of a node that waits for approval or setup also shows the node's problem, so the node has no second row.
  const isWaiting = new Set([...waiting.map(({ node }) => node), ...setups].map(({ server_uuid }) => server_uuid));
  const withProblem = (troubled.data ?? []).filter(({ problem }) => problem !== null);
  const problems = withProblem.filter(({ server_uuid }) => !isWaiting.has(server_uuid));
  const problemOf = new Map(withProblem.map(({ server_uuid, problem }) => [server_uuid, problem]));
  const isRead = [pending, setup, troubled, stuck, failed].every(({ data }) => data !== undefined);
  const shown = waiting.length + setups.length + problems.length + (stuck.data?.length ?? 0) +
    (failed.data?.length ?? 0);
  return (
    <Section title="Needs attention">
      {[pending, setup, troubled, stuck, failed].map((read, index) => <Refused key={index} of={read} />)}
      {isRead && shown === 0 && <p class="dim">Nothing needs attention.</p>}
      <ul class="plain">
        {waiting.map(({ node, claim }) => (
          <li key={`code ${claim.claim_code}`}>
            <Link to={`/nodes/${node.server_uuid}`}>{claim.hostname}</Link>
            <span>
              waits for approval with code <code>{claim.claim_code}</code>
            </span>
            {problemOf.has(node.server_uuid) && <span class="warn">{problemOf.get(node.server_uuid)}</span>}
            <span class="dim">
              expires <When at={claim.claim_code_expires_at} />
            </span>
          </li>
        ))}
        <Rest to="/nodes?state=pending" shown={waiting.length} of={summary?.claims}>registrations wait</Rest>
        {setups.map((node) => (
          <li key={`setup ${node.server_uuid}`}>
            <Link to={`/nodes/${node.server_uuid}?tab=setup`}>{node.hostname}</Link>
            <span>waits for its setup</span>
            {node.problem !== null && <span class="warn">{node.problem}</span>}
          </li>
        ))}
        <Rest
          to="/nodes?state=awaiting_setup"
          shown={setups.length}
          of={summary?.nodes.by_state["awaiting_setup"]}
        >
          nodes wait for their setup
        </Rest>
        {problems.map((node) => (
          <li key={`node ${node.server_uuid}`}>
            <Link to={`/nodes/${node.server_uuid}`}>{node.hostname}</Link>
            <span class="warn">{node.problem}</span>
            <span class="dim">
              last seen <When at={node.last_seen} />
            </span>
          </li>
        ))}
        {withProblem.length === ROWS && (
          <li>
            <Link to="/nodes?sort=problem">All nodes, those with a problem first</Link>
            <span class="dim">{counted(summary?.nodes.silent ?? 0, "silent node")}</span>
          </li>
        )}
        {(stuck.data ?? []).map((operation) => (
          <li key={operation.id}>
            <Link to={`/operations/${operation.id}`}>{operation.kind}</Link>
            <span class="bad">stuck: {operation.stuck_reason}</span>
          </li>
        ))}
        <Rest to="/operations?state=stuck" shown={stuck.data?.length ?? 0} of={summary?.operations.stuck}>
          operations are stuck
        </Rest>
        {(failed.data ?? []).map((instance) => (
          <li key={instance.id}>
            <Link to={`/instances/${instance.id}`}>{instance.name}</Link>
            <span class="bad">failed: {instance.lifecycle.reason}</span>
          </li>
        ))}
        <Rest to="/all-instances?state=failed" shown={failed.data?.length ?? 0} of={summary?.instances["failed"]}>
          instances failed
        </Rest>
      </ul>
    </Section>
  );
}

/** A link to all rows of a kind, if the page does not show all of them. */
function Rest({ to, shown, of, children }: {
  readonly to: string;
  readonly shown: number;
  readonly of: number | undefined;
  readonly children: ComponentChildren;
}) {
  if (shown < ROWS || of === undefined || of <= shown) return null;
  return (
    <li>
      <Link to={to}>{of.toLocaleString("en")} {children}</Link>
    </li>
  );
}
