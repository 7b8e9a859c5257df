// Shows the fleet in numbers, and the objects that need an operator's attention: nodes that wait for approval or for
// their setup, nodes with a problem, stuck operations and failed instances. The server counts the objects, so the page
// stays fast with 10,000 nodes.
import type { FleetSummary } from "../../src/contract/node-window.ts";
import { CN_STATES, INSTANCE_STATES } from "../../src/contract/enums.ts";
import { useActions } from "../core/action.ts";
import { get } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import type { Query } from "../core/store.ts";
import { words } from "../core/text.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Heading, Link, Problem, Section } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import { Attention } from "./attention.tsx";
import { approveAction } from "./nodes.tsx";
import { NODES_FRESH_MS } from "./node-rows.ts";

const summaryQuery: Query<FleetSummary> = {
  key: "summary",
  kinds: ["cn", "instance", "saga", "tenant"],
  fresh_ms: NODES_FRESH_MS,
  read: (signal) => get<FleetSummary>("/v1/system/summary", undefined, signal),
};

export function Overview() {
  const { data: summary, refusal } = useQuery(summaryQuery);
  useActions([approveAction()]);
  return (
    <>
      <Heading title="Overview">
        <Actions />
      </Heading>
      {refusal !== undefined && <Problem refusal={refusal} />}
      <Attention summary={summary} />
      <Counts title="Nodes" to="/nodes" states={CN_STATES} of={summary?.nodes.by_state} />
      <Counts title="Instances" to="/all-instances" states={INSTANCE_STATES} of={summary?.instances} />
      <AsCommand line={opsctl("doctor")} />
    </>
  );
}

function Counts({ title, to, states, of }: {
  readonly title: string;
  readonly to: string;
  readonly states: readonly string[];
  readonly of: Readonly<Record<string, number>> | undefined;
}) {
  const total = of === undefined ? undefined : Object.values(of).reduce((sum, count) => sum + count, 0);
  return (
    <Section title={title} count={total}>
      <div class="cards" aria-busy={of === undefined}>
        {states.map((state) => (
          <div class="card" key={state}>
            <strong>{of === undefined ? "–" : (of[state] ?? 0).toLocaleString("en")}</strong>
            <Link to={`${to}?state=${state}`} exact>{words(state)}</Link>
          </div>
        ))}
      </div>
    </Section>
  );
}
