// The drain of a node: where its instances would go, and the start. The page of the operation shows its progress.
import type { DrainResult, DrainStarted } from "../../src/contract/drain.ts";
import type { OperationView } from "../../src/contract/operation.ts";
import type { DrainPreview } from "../../src/contract/placement.ts";
import { send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { go } from "../core/router.ts";
import { rootOnly } from "../core/session.ts";
import type { Query } from "../core/store.ts";
import { counted } from "../core/text.ts";
import { AsCommand, Heading, Link, Problem, Section } from "../parts/basics.tsx";
import { Form } from "../parts/form.tsx";
import { useQuery } from "../parts/use-query.ts";
import { nodeQuery } from "./node-queries.ts";

/** The preview is a POST that changes nothing, because it places all instances of the node. */
function drainQuery(id: string): Query<DrainPreview> {
  return {
    key: `node ${id} drain`,
    kinds: ["cn", "instance"],
    read: () => send<DrainPreview>("POST", `/v1/cns/${id}/drain/preview`),
  };
}

export function NodeDrain({ id }: { readonly id: string }) {
  const { data: node, refusal } = useQuery(nodeQuery(id));
  const { data: plan, refusal: unplanned } = useQuery(drainQuery(id));
  const problem = refusal ?? unplanned;
  const name = node?.hostname ?? "";
  return (
    <>
      <Heading title="Drain" above={<Link to={`/nodes/${id}`}>{name}</Link>} />
      {problem !== undefined && <Problem refusal={problem} />}
      {plan !== undefined && <Plan plan={plan} />}
      {plan !== undefined && rootOnly() === null
        ? (
          <Form
            button="Drain"
            fields={[]}
            cli={() => opsctl("cn drain", [name])}
            send={async (_, key) => {
              const started = await send<DrainStarted>("POST", `/v1/cns/${id}/drain`, { body: {}, key });
              return { to: `/operations/${started.operation_id}` };
            }}
            done={({ to = `/nodes/${id}` }) => go(to)}
          >
            <p>
              The node is cordoned and its instances move one after another. Abandon the operation to begin no more
              migrations; the node stays cordoned.
            </p>
          </Form>
        )
        : <AsCommand line={opsctl("cn drain-preview", [name])} />}
    </>
  );
}

function Plan(
  { plan: { instances_on_cn, placeable, not_placeable, quorum_at_risk } }: { readonly plan: DrainPreview },
) {
  return (
    <>
      {instances_on_cn === 0 && <p class="sentence">The node has no instances. A drain only cordons it.</p>}
      {quorum_at_risk.length > 0 && (
        <p class="sentence warn">
          These instances look like members of a quorum: {quorum_at_risk.join(", ")}. Move them one at a time.
        </p>
      )}
      <Section title="Would move" count={placeable.length}>
        <ul class="plain">
          {placeable.map(({ instance_id, instance_name, target_cn_uuid, target_cn_hostname }) => (
            <li key={instance_id}>
              <Link to={`/instances/${instance_id}`}>{instance_name}</Link>
              <span class="dim">to</span>
              <Link to={`/nodes/${target_cn_uuid}`}>{target_cn_hostname}</Link>
            </li>
          ))}
        </ul>
      </Section>
      {not_placeable.length > 0 && (
        <Section title="Would stay" count={not_placeable.length}>
          <Staying of={not_placeable} />
        </Section>
      )}
    </>
  );
}

/** What a drain has moved, and which instances it left on the node. */
export function DrainOutcome({ operation: { kind, steps } }: { readonly operation: OperationView }) {
  const output = kind === "cn-drain" ? steps.at(-1)?.output as DrainResult | null | undefined : null;
  if (output === null || output === undefined) return null;
  return (
    <Section title={`Moved ${counted(output.moved, "instance")}`}>
      {output.remaining.length === 0 ? <p>The node has no instance left.</p> : <Staying of={output.remaining} />}
    </Section>
  );
}

function Staying({ of }: { readonly of: DrainResult["remaining"] }) {
  return (
    <ul class="plain">
      {of.map(({ instance_id, instance_name, reason, remedy }) => (
        <li key={instance_id}>
          <Link to={`/instances/${instance_id}`}>{instance_name}</Link>
          <p>
            <span class="bad">{reason}</span>: <span class="dim">{remedy}</span>
          </p>
        </li>
      ))}
    </ul>
  );
}
