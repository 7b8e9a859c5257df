// Shows the evacuation of a dead node: the instances that will be created again on other nodes, the instances that
// remain, and the button that starts the evacuation.
import type { EvacuateStarted } from "../../src/contract/drain.ts";
import { useSignal } from "@preact/signals";
import { send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { go } from "../core/router.ts";
import { rootOnly } from "../core/session.ts";
import type { Query } from "../core/store.ts";
import { Heading, Link, Problem, Section, When } from "../parts/basics.tsx";
import { Form } from "../parts/form.tsx";
import { useQuery } from "../parts/use-query.ts";
import { Moving, Staying } from "./node-drain.tsx";
import { nodeQuery } from "./node-queries.ts";

/** The plan changes nothing. It is a POST because the server computes a placement for all instances of the node. */
function planQuery(id: string, lose_local_disks: boolean): Query<EvacuateStarted> {
  return {
    key: `node ${id} evacuation ${lose_local_disks}`,
    kinds: ["cn", "instance"],
    read: () => send<EvacuateStarted>("POST", `/v1/cns/${id}/evacuate`, { body: { lose_local_disks, dry_run: true } }),
  };
}

export function NodeEvacuate({ id }: { readonly id: string }) {
  const isLosing = useSignal(false);
  const { data: node, refusal } = useQuery(nodeQuery(id));
  const { data: plan, refusal: unplanned } = useQuery(planQuery(id, isLosing.value));
  const problem = refusal ?? unplanned;
  const name = node?.hostname ?? "";
  const refused = rootOnly();
  return (
    <>
      <Heading title="Evacuate" above={<Link to={`/nodes/${id}`}>{name || "Node"}</Link>} />
      {problem !== undefined && <Problem refusal={problem} />}
      <p>
        Use this page only for a node that is dead and powered off. Its instances are created on other nodes from their
        images, with their names and addresses. The node stays cordoned.
      </p>
      {node !== undefined && (
        <p class="dim">
          Last heartbeat: <When at={node.last_seen} />
        </p>
      )}
      {plan !== undefined && <Plan plan={plan} isLosing={isLosing.value} />}
      {node !== undefined && (refused === null
        ? (
          <Form
            button={`Evacuate ${name}`}
            isDangerous
            fields={[
              { name: "lose", label: "Lose the data of its local disks", type: "toggle" },
              { name: "confirm", label: `Type ${name} to confirm that it is powered off`, mustBe: name },
            ]}
            onValues={({ lose }) => (isLosing.value = lose === "true")}
            cli={({ lose }) =>
              opsctl("cn evacuate", [name], { "--fenced": true, "--lose-local-disks": lose === "true" })}
            send={async ({ lose }, key) => {
              const body = { fenced: true, lose_local_disks: lose === "true" };
              const { operation_id } = await send<EvacuateStarted>("POST", `/v1/cns/${id}/evacuate`, { body, key });
              const to = operation_id === null ? `/nodes/${id}` : `/operations/${operation_id}`;
              return { said: `The evacuation of ${name} has begun`, to };
            }}
            done={({ to = `/nodes/${id}` }) => go(to)}
          />
        )
        : <p class="sentence warn">{refused}</p>)}
    </>
  );
}

function Plan({ plan: { instances_on_cn, placeable, not_placeable }, isLosing }: {
  readonly plan: EvacuateStarted;
  readonly isLosing: boolean;
}) {
  if (instances_on_cn === 0) return <p class="sentence">The node has no instances.</p>;
  return (
    <>
      {placeable.length > 0 && (
        <Section title="Would be created again on another node" count={placeable.length}>
          {isLosing && <p class="sentence bad">The data on the disks of these instances is lost.</p>}
          <Moving of={placeable} />
        </Section>
      )}
      {not_placeable.length > 0 && (
        <Section title="Would remain" count={not_placeable.length}>
          <Staying of={not_placeable} />
        </Section>
      )}
    </>
  );
}
