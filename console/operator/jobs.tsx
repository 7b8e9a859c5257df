// Shows the jobs of nodes, and one job.
import { JOB_STATUSES } from "../../src/contract/enums.ts";
import type { Page } from "../../src/contract/common.ts";
import type { Job } from "../../src/contract/job.ts";
import { useMemo } from "preact/hooks";
import { get } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { query as urlQuery } from "../core/router.ts";
import { AsCommand, Copyable, Facts, Heading, Link, Problem, Section, State, When } from "../parts/basics.tsx";
import { createdColumn } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Named } from "../parts/named.tsx";
import { useQuery } from "../parts/use-query.ts";
import { hostnamesQuery, type Names, NO_NAMES } from "./directory.ts";

/** Returns the reason of the job's status, or else its step with the completed share. Empty if the job has neither. */
export function progressText({ status, progress }: Pick<Job, "status" | "progress">): string {
  if (status.reason !== undefined || progress === null) return status.reason ?? "";
  return progress.percent === null ? progress.step : `${progress.step} ${progress.percent} %`;
}

const columnsWith = (hostnames: Names): readonly Column<Job>[] => [
  {
    name: "kind",
    title: "Kind",
    sorts: true,
    text: ({ kind }) => kind.kind,
    cell: (job) => <Link to={`/jobs/${job.id}`} tabIndex={-1}>{job.kind.kind}</Link>,
  },
  {
    name: "state",
    title: "State",
    sorts: true,
    text: ({ status }) => status.status,
    cell: ({ status }) => <State of={status.status} />,
  },
  {
    name: "progress",
    title: "Progress",
    isWideOnly: true,
    text: progressText,
    cell: progressText,
  },
  {
    name: "node",
    title: "Node",
    isWideOnly: true,
    text: ({ target_cn_uuid: id }) => hostnames.get(id ?? "") ?? id,
    cell: ({ target_cn_uuid: id }) =>
      id === null ? "" : <Link to={`/nodes/${id}`} tabIndex={-1}>{hostnames.get(id) ?? id}</Link>,
  },
  createdColumn(),
];

/** The largest number of jobs in the list. */
const NEWEST = 200;

export function Jobs() {
  const state = urlQuery.value.get("state") ?? "";
  const { data: hostnames = NO_NAMES } = useQuery(hostnamesQuery);
  const columns = useMemo(() => columnsWith(hostnames), [hostnames]);
  return (
    <ListPage<Job>
      title="Jobs"
      noun="job"
      query={{
        key: `jobs ${state}`,
        kinds: ["job"],
        read: async (signal) =>
          (await get<Page<Job>>("/v1/system/jobs", { limit: NEWEST, status: state }, signal)).items,
      }}
      limit={{ rows: NEWEST, which: "newest" }}
      columns={columns}
      idOf={({ id }) => id}
      open={({ id }) => `/jobs/${id}`}
      states={JOB_STATUSES}
      empty={<p>No node has run a job. A job appears when an instance is created.</p>}
      cli={opsctl("job list", [], { "--status": state })}
    />
  );
}

export function JobPage({ id }: { readonly id: string }) {
  const { data: job, refusal } = useQuery({
    key: `job ${id}`,
    kinds: ["job"],
    read: (signal) => get<Job>(`/v1/system/jobs/${id}`, undefined, signal),
  });
  const above = <Link to="/jobs">Jobs</Link>;
  if (job === undefined) {
    return (
      <>
        <Heading title="Job" above={above} />
        {refusal !== undefined && <Problem refusal={refusal} lookedFor={`job ${id}`} />}
      </>
    );
  }
  return (
    <>
      <Heading title={`${job.kind.kind} job`} above={above}>
        <State of={job.status.status} />
      </Heading>
      {refusal !== undefined && <Problem refusal={refusal} lookedFor={`job ${id}`} isLate />}
      {job.status.reason !== undefined && <p class="sentence bad">{job.status.reason}</p>}
      <Facts
        of={{
          "Node": job.target_cn_uuid === null ? null : <Named scope="cn" id={job.target_cn_uuid} />,
          "Operation": <Named scope="operation" id={job.operation_id} />,
          "Progress": progressText({ status: { status: job.status.status }, progress: job.progress }),
          "Created": <When at={job.created_at} />,
          "Claimed": <When at={job.claimed_at} />,
          "Ended": <When at={job.completed_at} none="not yet" />,
          "Lease ends": <When at={job.lease_until} none="no lease" />,
          "Must be undone": job.tombstone ? "yes" : "no",
          "UUID": <Copyable text={job.id} label="the UUID" />,
        }}
      />
      <Section title="Work">
        <pre>{JSON.stringify(job.kind, null, 2)}</pre>
      </Section>
      {job.result !== null && (
        <Section title="Result">
          <pre>{JSON.stringify(job.result, null, 2)}</pre>
        </Section>
      )}
      <AsCommand line={opsctl("job show", [job.id])} />
    </>
  );
}
