// Shows the operations, and one operation with its steps. A tenant sees only its own operations.
import { OPERATION_STATES } from "../../src/contract/enums.ts";
import type { OperationStep, OperationSummary } from "../../src/contract/operation.ts";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { useActions } from "../core/action.ts";
import { get, send } from "../core/client.ts";
import { command, opsctl } from "../core/command.ts";
import { kindText, mostSpecific, nameQuery, type Ref, shortId } from "../core/names.ts";
import { query as urlQuery } from "../core/router.ts";
import { isOperator, rootOnly } from "../core/session.ts";
import type { Query } from "../core/store.ts";
import { words } from "../core/text.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Copyable, Facts, Heading, Link, Problem, Section, State, When } from "../parts/basics.tsx";
import type { Column } from "../parts/list.tsx";
import { Later } from "../parts/later.tsx";
import { Named, openPageOf } from "../parts/named.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { useQuery } from "../parts/use-query.ts";
import { firstInstancesQuery, hostnamesQuery, type Names, NO_NAMES, noHostnames } from "./directory.ts";
import { operationQuery } from "./operation-query.ts";

/** The largest number of operations in the list. The page of an object may show older operations of that object. */
const NEWEST = 200;

/** A name is read this long after its row has appeared, in milliseconds. A fast scroll reads no names. */
const REST_MS = 150;

/** Takes a name that was read for one row. Null while the names of the first instances are not known. */
type OnName = ((id: string, name: string) => void) | null;

const columnsWith = (names: Names, onName: OnName): readonly Column<OperationSummary>[] => [
  {
    name: "kind",
    title: "Operation",
    sorts: true,
    text: ({ kind }) => kind,
    cell: ({ id, kind }) => <Link to={`/operations/${id}`} tabIndex={-1}>{kind}</Link>,
  },
  { name: "state", title: "State", sorts: true, text: ({ state }) => state, cell: ({ state }) => <State of={state} /> },
  {
    name: "reason",
    title: "Reason",
    isWideOnly: true,
    text: ({ stuck_reason, error }) => stuck_reason ?? error,
    cell: ({ stuck_reason, error }) => stuck_reason ?? error,
  },
  {
    name: "about",
    title: "About",
    isWideOnly: true,
    text: ({ references }) => references.map(({ scope, id }) => `${scope} ${id} ${names.get(id) ?? ""}`).join(" "),
    cell: ({ references }) => <About of={references} names={names} onName={onName} />,
  },
  {
    name: "created",
    title: "Started",
    width: "110px",
    sorts: true,
    text: ({ time_created }) => time_created,
    cell: ({ time_created }) => <When at={time_created} />,
  },
];

type AboutProps = { readonly of: OperationSummary["references"]; readonly names: Names; readonly onName: OnName };

/** The most specific object of an operation, as a link to its page. */
function About({ of, names, onName }: AboutProps) {
  const object = mostSpecific(of);
  if (object === undefined) return null;
  const text = `${kindText(object.scope)} ${names.get(object.id) ?? shortId(object.id)}`;
  const to = openPageOf(object, of);
  return (
    <>
      {to === null ? text : <Link to={to} tabIndex={-1}>{text}</Link>}
      {object.scope === "instance" && !names.has(object.id) && onName !== null && (
        <ReadName of={object} onName={onName} />
      )}
    </>
  );
}

/** Reads the name of an object whose row is on screen. A deleted object has no name. Shows nothing itself. */
function ReadName({ of, onName }: { readonly of: Ref; readonly onName: NonNullable<OnName> }) {
  const { data: name } = useQuery({ ...nameQuery(of), rest_ms: REST_MS });
  useEffect(() => {
    if (name != null) onName(of.id, name);
  }, [of.id, name]);
  return null;
}

function operationsQuery(state: string): Query<OperationSummary[]> {
  return {
    key: `operations ${state}`,
    kinds: ["saga"],
    read: (signal) => get<OperationSummary[]>("/v1/operations", { limit: NEWEST, state }, signal),
  };
}

export function Operations() {
  const program = isOperator() ? "opsctl" : "tenantctl";
  const state = urlQuery.value.get("state") ?? "";
  const { data: hostnames = NO_NAMES } = useQuery(isOperator() ? hostnamesQuery : noHostnames);
  const { data: instances } = useQuery(firstInstancesQuery());
  // The names of other instances are read when their rows are on screen, because each name needs one request.
  const [others, setOthers] = useState<Names>(NO_NAMES);
  const onName = useCallback((id: string, name: string) => setOthers((known) => new Map([...known, [id, name]])), []);
  const columns = useMemo(
    () => columnsWith(new Map([...hostnames, ...others, ...instances ?? []]), instances === undefined ? null : onName),
    [hostnames, instances, others],
  );
  return (
    <ListPage<OperationSummary>
      title="Operations"
      noun="operation"
      query={operationsQuery(state)}
      limit={{ rows: NEWEST, which: "newest" }}
      columns={columns}
      idOf={({ id }) => id}
      open={({ id }) => `/operations/${id}`}
      states={OPERATION_STATES}
      empty={<p>No operation has run. An operation starts when a node joins or an instance is created.</p>}
      cli={command([program, "operation", "list"], isOperator() ? { "--state": state } : {})}
    />
  );
}

/** The kinds of operations whose result the page shows. */
const WITH_OUTCOME = ["cn-drain", "cn-drain-label", "cn-upgrade-label", "cn-evacuate"];
const outcome = (id: string) => async () => {
  const { OperationOutcome } = await import("./more-pages.ts");
  return () => <OperationOutcome id={id} />;
};

/** The largest number of objects whose names the page asks for, with one request each. */
const NAMES_MAX = 12;

export function Operation({ id }: { readonly id: string }) {
  const { data: operation, refusal } = useQuery(operationQuery(id));
  const canEnd = operation !== undefined && ["running", "unwinding", "stuck", "pending"].includes(operation.state);
  useActions(
    operation === undefined || !isOperator() ? [] : [{
      title: "Abandon",
      notice: "Cancels the current step and undoes the earlier steps.",
      isDangerous: true,
      refused: rootOnly() ?? (canEnd ? null : `The operation has ended: ${words(operation.state)}`),
      cli: () => opsctl("operation abandon", [id]),
      send: async (_, key) => {
        await send("POST", `/v1/operations/${id}/abandon`, { key });
      },
    }],
  );
  const above = <Link to="/operations">Operations</Link>;
  if (operation === undefined) {
    return (
      <>
        <Heading title="Operation" above={above} />
        {refusal !== undefined && <Problem refusal={refusal} lookedFor={`operation ${id}`} />}
      </>
    );
  }
  const { completed_steps, total_steps } = operation.progress;
  return (
    <>
      <Heading title={operation.kind} above={above}>
        <State of={operation.state} />
        <Actions />
      </Heading>
      {refusal !== undefined && <Problem refusal={refusal} lookedFor={`operation ${id}`} isLate />}
      {operation.stuck_reason !== null && <p class="sentence bad">Stuck: {operation.stuck_reason}</p>}
      {operation.error !== null && <p class="sentence bad">{operation.error}</p>}
      <Facts
        of={{
          "Started": <When at={operation.time_created} />,
          "Ended": <When at={operation.time_done} none="not yet" />,
          "Steps": `${completed_steps} of ${total_steps}`,
          "UUID": <Copyable text={operation.id} label="the UUID" />,
        }}
      />
      <Section title="About">
        <ul class="plain">
          {operation.references.map(({ scope, id: object }, index) => (
            <li key={`${scope} ${object}`}>
              <span>
                <span class="dim">{kindText(scope)}</span> {index < NAMES_MAX
                  ? <Named scope={scope} id={object} others={operation.references} unnamed={shortId(object)} />
                  : shortId(object)}
              </span>
              <code class="dim">{object}</code>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Steps" count={total_steps}>
        <ol class="plain">{operation.steps.map((step) => <Step key={step.index} step={step} />)}</ol>
      </Section>
      {WITH_OUTCOME.includes(operation.kind) && <Later load={outcome(id)} isPart />}
      <AsCommand line={command([isOperator() ? "opsctl" : "tenantctl", "operation", "show", operation.id])} />
    </>
  );
}

function Step({ step }: { readonly step: OperationStep }) {
  const trouble = step.undo_error ?? step.error_message;
  return (
    <li>
      <span>{step.index + 1}. {words(step.name)}</span>
      <State of={step.status} />
      {step.job_id !== null && isOperator() && <Link to={`/jobs/${step.job_id}`}>job</Link>}
      {trouble !== null && <span class="bad">{trouble}</span>}
      <span class="dim">
        <When at={step.ended_at ?? step.started_at} none="" />
      </span>
    </li>
  );
}
