// Shows the result of a drain, an evacuation, or a drain or upgrade by label, on the page of its operation.
import type { DrainResult } from "../../src/contract/drain.ts";
import type { LabelDrainResult } from "../../src/contract/label-drain.ts";
import type { LabelUpgradeResult } from "../../src/contract/label-upgrade.ts";
import type { OperationView } from "../../src/contract/operation.ts";
import { counted } from "../core/text.ts";
import { Link, Section } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import { OtherNodes } from "./label-plan.tsx";
import { Staying } from "./node-drain.tsx";
import { operationQuery } from "./operation-query.ts";

export function OperationOutcome({ id }: { readonly id: string }) {
  const { data: operation } = useQuery(operationQuery(id));
  const output = operation?.steps.at(-1)?.output;
  if (operation === undefined || output === null || output === undefined) return null;
  // The output has the type that the server defines for this kind of operation.
  if (operation.kind === "cn-upgrade-label") return <LabelUpgraded result={output as LabelUpgradeResult} />;
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
      <Done title="Drained nodes" of={drained} />
      <OtherNodes title="Drains that did not begin" of={not_begun} />
    </>
  );
}

function LabelUpgraded({ result: { upgraded, not_upgraded, not_begun } }: { readonly result: LabelUpgradeResult }) {
  return (
    <>
      {not_upgraded.map(({ server_uuid, hostname, operation_id, reason, remedy }) => (
        <Section key={server_uuid} title={`${hostname} is not upgraded`}>
          <p class="sentence bad">{reason}. Remedy: {remedy}</p>
          <Link to={`/operations/${operation_id}`}>operation</Link>
        </Section>
      ))}
      <Done title="Upgraded nodes" of={upgraded} />
      <OtherNodes title="Upgrades that did not begin" of={not_begun} />
    </>
  );
}

function Done({ title, of }: { readonly title: string; readonly of: LabelDrainResult["drained"] }) {
  return (
    <Section title={title} count={of.length}>
      <ul class="plain">
        {of.map(({ server_uuid, hostname, operation_id, moved }) => (
          <li key={server_uuid}>
            <Link to={`/nodes/${server_uuid}`}>{hostname}</Link>
            <span>moved {counted(moved, "instance")}</span>
            <Link to={`/operations/${operation_id}`}>operation</Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
