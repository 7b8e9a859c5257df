// Shows why a node does not work: the server's findings, each with advice, and links to the evidence. Shows nothing for
// a healthy node.
import type { CnView } from "../../src/contract/cn.ts";
import { sentence } from "../core/text.ts";
import { Copyable, Link, Refused } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import { diagnosisQuery, operationsOfQuery } from "./node-queries.ts";

/** Matches advice that is only a command line. Advice in words has a comma or a semicolon. */
const COMMAND = /^opsctl [^,;]+$/;

export function Diagnosis({ node }: { readonly node: CnView }) {
  const diagnosis = useQuery(diagnosisQuery(node.server_uuid));
  return (
    <>
      <Refused of={diagnosis} />
      {(diagnosis.data?.findings ?? []).map(({ level, text, mend }) => (
        <div key={text} class={level === "stops" ? "sentence bad" : "sentence warn"}>
          <p>{text}</p>
          {mend !== null &&
            (COMMAND.test(mend) ? <Copyable text={mend} label="the command" /> : <p class="dim">{sentence(mend)}</p>)}
        </div>
      ))}
      <Evidence node={node} />
    </>
  );
}

/** Links to the objects that the findings are about. */
function Evidence({ node }: { readonly node: CnView }) {
  const operations = useQuery(operationsOfQuery("cn", node.server_uuid));
  const stuck = operations.data?.find(({ state }) => state === "stuck");
  const needsSetup = node.state === "awaiting_setup" || node.last_setup_error !== null;
  return (
    <>
      <Refused of={operations} />
      {(stuck !== undefined || needsSetup) && (
        <p>
          {needsSetup && <Link to={`/nodes/${node.server_uuid}?tab=setup`}>Setup and disk layout</Link>}{" "}
          {stuck !== undefined && (
            <Link to={`/operations/${stuck.id}`}>The operation {stuck.kind}, which is stuck</Link>
          )}
        </p>
      )}
    </>
  );
}
