// Shows the drain of a node: the targets of its instances, and the button that starts the drain. The page of the
// operation shows the progress.
import type { DrainResult, DrainStarted } from "../../src/contract/drain.ts";
import type { DrainPreview } from "../../src/contract/placement.ts";
import { send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { go } from "../core/router.ts";
import { rootOnly } from "../core/session.ts";
import type { Query } from "../core/store.ts";
import { AsCommand, Heading, Link, Problem, Section } from "../parts/basics.tsx";
import { Form } from "../parts/form.tsx";
import { useQuery } from "../parts/use-query.ts";
import { nodeQuery } from "./node-queries.ts";

/** The preview changes nothing. It is a POST because the server computes a placement for all instances of the node. */
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
      <Heading title="Drain" above={<Link to={`/nodes/${id}`}>{name || "Node"}</Link>} />
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
              return { said: `The drain of ${name} has begun`, to: `/operations/${started.operation_id}` };
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
        <Moving of={placeable} />
      </Section>
      {not_placeable.length > 0 && (
        <Section title="Would stay" count={not_placeable.length}>
          <Staying of={not_placeable} />
        </Section>
      )}
    </>
  );
}

/** The instances that would leave a node, with their targets. */
export function Moving({ of }: { readonly of: DrainPreview["placeable"] }) {
  return (
    <ul class="plain">
      {of.map(({ instance_id, instance_name, target_cn_uuid, target_cn_hostname }) => (
        <li key={instance_id}>
          <span>
            <Link to={`/instances/${instance_id}`}>{instance_name}</Link> <span class="dim">to</span>{" "}
            <Link to={`/nodes/${target_cn_uuid}`}>{target_cn_hostname}</Link>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The instances that stay on a node, with the reasons. */
export function Staying({ of }: { readonly of: DrainResult["remaining"] }) {
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
