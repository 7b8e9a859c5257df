// What a drain, a drain by label or an evacuation has done, on the page of its operation.
import type { DrainResult } from "../../src/contract/drain.ts";
import type { LabelDrainResult } from "../../src/contract/label-drain.ts";
import type { OperationView } from "../../src/contract/operation.ts";
import { counted } from "../core/text.ts";
import { Link, Section } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import { Staying } from "./node-drain.tsx";
import { operationQuery } from "./operation-query.ts";

export function OperationOutcome({ id }: { readonly id: string }) {
  const { data: operation } = useQuery(operationQuery(id));
  const output = operation?.steps.at(-1)?.output;
  if (operation === undefined || output === null || output === undefined) return null;
  // The server made the output, of the type of the operation's kind.
  if (operation.kind === "cn-drain-label") return <LabelDrained result={output as LabelDrainResult} />;
  return <Drained kind={operation.kind} result={output as DrainResult} />;
}

function Drained({ kind, result }: Pick<OperationView, "kind"> & { readonly result: DrainResult }) {
  const done = kind === "cn-evacuate" ? "Created elsewhere:" : "Moved";
  return (
    <Section title={`${done} ${counted(result.moved, "instance")}`}>
      {result.remaining.length === 0 ? <p>The node has no instance left.</p> : <Staying of={result.remaining} />}
    </Section>
  );
}

function LabelDrained({ result: { drained, not_emptied, not_begun } }: { readonly result: LabelDrainResult }) {
  return (
    <>
      {not_emptied.map(({ server_uuid, hostname, reason, remedy, remaining }) => (
        <Section key={server_uuid} title={`${hostname} is not empty`} count={remaining.length}>
          <p class="sentence bad">{reason}. Remedy: {remedy}</p>
          <Staying of={remaining} />
        </Section>
      ))}
      <Section title="Drained nodes" count={drained.length}>
        <ul class="plain">
          {drained.map(({ server_uuid, hostname, operation_id, moved }) => (
            <li key={server_uuid}>
              <Link to={`/nodes/${server_uuid}`}>{hostname}</Link>
              <span>moved {counted(moved, "instance")}</span>
              <Link to={`/operations/${operation_id}`}>operation</Link>
            </li>
          ))}
        </ul>
      </Section>
      {not_begun.length > 0 && (
        <Section title="Drains that did not begin" count={not_begun.length}>
          <ul class="plain">
            {not_begun.map(({ server_uuid, hostname }) => (
              <li key={server_uuid}>
                <Link to={`/nodes/${server_uuid}`}>{hostname}</Link>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}
