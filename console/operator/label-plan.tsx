// Shows the parts that the plan of a drain by label and the plan of an upgrade by label have in common.
import type { DrainPreview } from "../../src/contract/placement.ts";
import type { CnState } from "../../src/contract/enums.ts";
import type { ComponentChildren } from "preact";
import { counted } from "../core/text.ts";
import { Link, Section, State } from "../parts/basics.tsx";
import { Moving, Staying } from "./node-drain.tsx";

type Node = { readonly server_uuid: string; readonly hostname: string };

/**
 * Shows which instances of a node would move, with their targets, and which would stay, with the reasons. `more` is
 * shown beside the hostname.
 */
export function Planned(
  { node: { server_uuid, hostname, preview }, more }: {
    readonly node: Node & { readonly preview: DrainPreview };
    readonly more?: ComponentChildren;
  },
) {
  const { instances_on_cn, placeable, not_placeable, quorum_at_risk } = preview;
  return (
    <details>
      <summary>
        <Link to={`/nodes/${server_uuid}`}>{hostname}</Link> <State of={not_placeable.length === 0 ? "ok" : "reject"} />
        {" "}
        <span class="dim">
          {placeable.length} of {counted(instances_on_cn, "instance")} can move
        </span>
        {more}
      </summary>
      {quorum_at_risk.length > 0 && (
        <p class="sentence warn">These instances look like members of a quorum: {quorum_at_risk.join(", ")}.</p>
      )}
      {not_placeable.length > 0 && <Staying of={not_placeable} />}
      <Moving of={placeable} />
    </details>
  );
}

export type OtherNode = Node & { readonly state?: CnState; readonly said?: string };

/** The nodes that the plan leaves out, each with its state or the reason. Shows nothing for an empty list. */
export function OtherNodes({ title, of }: { readonly title: string; readonly of: readonly OtherNode[] }) {
  if (of.length === 0) return null;
  return (
    <Section title={title} count={of.length}>
      <ul class="plain">
        {of.map(({ server_uuid, hostname, state, said }) => (
          <li key={server_uuid}>
            <Link to={`/nodes/${server_uuid}`}>{hostname}</Link>
            {state !== undefined && <State of={state} />}
            {said !== undefined && <span>{said}</span>}
          </li>
        ))}
      </ul>
    </Section>
  );
}
