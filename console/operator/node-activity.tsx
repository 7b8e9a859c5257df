// Shows the newest operations and jobs of a node in one list, the newest first.
import type { CnView } from "../../src/contract/cn.ts";
import type { JSX } from "preact";
import { Link, Refused, State, When } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import { NEWEST, nodeJobsQuery, operationsOfQuery } from "./node-queries.ts";

type Entry = { readonly id: string; readonly at: string; readonly text: JSX.Element };

export function NodeActivity({ node }: { readonly node: CnView }) {
  const jobs = useQuery(nodeJobsQuery(node.server_uuid));
  const operations = useQuery(operationsOfQuery("cn", node.server_uuid));
  const entries: Entry[] = [
    ...(jobs.data ?? []).map((job) => ({
      id: job.id,
      at: job.created_at,
      text: (
        <>
          <Link to={`/jobs/${job.id}`}>{job.kind.kind} job</Link> <State of={job.status.status} />{" "}
          {job.status.reason !== undefined && <span class="bad">{job.status.reason}</span>}
        </>
      ),
    })),
    ...(operations.data ?? []).map((operation) => ({
      id: operation.id,
      at: operation.time_created,
      text: (
        <>
          <Link to={`/operations/${operation.id}`}>{operation.kind}</Link> <State of={operation.state} />{" "}
          {operation.error !== null && <span class="bad">{operation.error}</span>}
        </>
      ),
    })),
  ];
  const newest = entries.toSorted((a, b) => b.at.localeCompare(a.at)).slice(0, NEWEST);
  return (
    <>
      <Refused of={jobs} />
      {newest.length === 0 && jobs.data !== undefined && operations.data !== undefined && (
        <p class="dim">No operation and no job names this node.</p>
      )}
      <ul class="plain">
        {newest.map(({ id, at, text }) => (
          <li key={id}>
            <span>{text}</span>
            <span class="dim">
              <When at={at} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
