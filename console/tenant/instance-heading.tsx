// Shows the heading of the pages of one instance, with links between these pages.
import type { Instance } from "../../src/contract/instance.ts";
import { useEffect } from "preact/hooks";
import type { Refusal } from "../core/client.ts";
import { isOperator } from "../core/session.ts";
import { Actions } from "../parts/actions.tsx";
import { Heading, Link, Problem, State } from "../parts/basics.tsx";
import { inProject, keep } from "./place.ts";

const PARTS = [
  ["", "Instance"],
  ["/console", "Console"],
  ["/metrics", "Metrics"],
  ["/screen", "Screen"],
  ["/snapshots", "Snapshots"],
  ["/migrations", "Migrations"],
] as const;

/** Only operators can read migrations. */
const OPERATORS_PART = "Migrations";

export function InstanceHeading({ id, instance, refusal, part }: {
  readonly id: string;
  readonly instance: Instance | undefined;
  readonly refusal: Refusal | undefined;
  /** The shown page, by the text of its link. */
  readonly part: typeof PARTS[number][1];
}) {
  const tenant = instance?.tenant_id;
  const project = instance?.project_id;
  // The navigation shows the pages of the instance's project, even if the user arrives here by a link.
  useEffect(() => {
    if (tenant !== undefined && project !== undefined) keep({ tenant, project });
  }, [tenant, project]);
  if (instance === undefined) {
    return (
      <>
        <Heading title={part} />
        {refusal !== undefined && <Problem refusal={refusal} lookedFor={`instance ${id}`} />}
      </>
    );
  }
  const place = { tenant: instance.tenant_id, project: instance.project_id };
  const title = part === "Instance" ? instance.name : `${instance.name}: ${part.toLowerCase()}`;
  return (
    <>
      <Heading title={title} above={<Link to={inProject(place, "instances")}>Instances</Link>}>
        <State of={instance.lifecycle.state} />
        <Actions visible={4} />
      </Heading>
      {refusal !== undefined && <Problem refusal={refusal} lookedFor={`instance ${id}`} isLate />}
      <nav class="tabs" aria-label="Parts of the instance">
        {PARTS.filter(([, text]) => text !== OPERATORS_PART || isOperator()).map(([end, text]) => (
          <Link key={text} to={`/instances/${id}${end}`} exact>{text}</Link>
        ))}
      </nav>
    </>
  );
}
