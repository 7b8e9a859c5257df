// Shows the migrations of an instance between nodes, for operators: the progress of a running migration, the results of
// earlier migrations, and the button that starts one.
import type { Instance } from "../../src/contract/instance.ts";
import type { MigrateBody, Migration, MigrationStarted } from "../../src/contract/migration.ts";
import type { NodeWindow } from "../../src/contract/node-window.ts";
import { type Action, useActions } from "../core/action.ts";
import { get, Refusal, send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { rootOnly } from "../core/session.ts";
import type { Query } from "../core/store.ts";
import { bytes, words } from "../core/text.ts";
import { AsCommand, Facts, Link, Problem, Section, State, When } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import { nodeQuery } from "./node-queries.ts";
import { InstanceHeading } from "../tenant/instance-heading.tsx";
import { instanceQuery } from "../tenant/queries.ts";

/**
 * The page reads the progress again after this time in milliseconds, because the source reports the progress every few
 * seconds.
 */
const FRESH_MS = 2_000;
/** The largest number of nodes that a search for a hostname reads. */
const NODES_READ = 50;

function migrationsQuery(id: string): Query<Migration[]> {
  return {
    key: `migrations of ${id}`,
    kinds: ["instance", "saga", "job"],
    fresh_ms: FRESH_MS,
    read: (signal) => get<Migration[]>(`/v1/instances/${id}/migrations`, undefined, signal),
  };
}

export function InstanceMigrations({ id }: { readonly id: string }) {
  const { data: instance, refusal } = useQuery(instanceQuery(id));
  const { data: migrations, refusal: unread } = useQuery(migrationsQuery(id));
  useActions(instance === undefined ? [] : [migrateAction(instance)]);
  return (
    <>
      <InstanceHeading id={id} instance={instance} refusal={refusal} part="Migrations" />
      {unread !== undefined && instance !== undefined && <Problem refusal={unread} />}
      {migrations?.length === 0 && <p>The instance has not moved between nodes.</p>}
      {(migrations ?? []).map((migration) => <Move key={migration.id} migration={migration} />)}
      <AsCommand line={opsctl("instance migrations", [instance?.name ?? id])} />
    </>
  );
}

function Move({ migration }: { readonly migration: Migration }) {
  const { id, state, live, progress, reason, sent_bytes, downtime_ms, created_at, ended_at } = migration;
  const percent = progress?.percent ?? null;
  return (
    <Section title={live ? "Live migration" : "Migration of the stopped instance"}>
      {reason !== null && <p class="sentence bad">{reason}</p>}
      {ended_at === null && (
        <div>
          <p role="status">
            {progress === null ? "The source node has not started to send." : words(progress.step)}
            {percent !== null && ` ${Math.round(percent)} %`}
          </p>
          {percent !== null && (
            <div class="bar">
              <span style={{ width: `${percent}%` }} />
            </div>
          )}
        </div>
      )}
      <Facts
        of={{
          "State": <State of={state} />,
          "From": <NodeName id={migration.source_server_uuid} />,
          "To": <NodeName id={migration.target_server_uuid} />,
          "Pause of the guest": downtime_ms === null ? null : `${downtime_ms} ms`,
          "Sent": sent_bytes === null ? null : bytes(sent_bytes),
          "Started": <When at={created_at} />,
          "Ended": <When at={ended_at} none="not yet" />,
          "Operation": <Link to={`/operations/${id}`}>{id}</Link>,
        }}
      />
    </Section>
  );
}

function NodeName({ id }: { readonly id: string }) {
  const { data: node } = useQuery(nodeQuery(id));
  return <Link to={`/nodes/${id}`}>{node?.hostname ?? id}</Link>;
}

function migrateAction({ id, name, lifecycle: { state } }: Instance): Action {
  return {
    title: "Migrate",
    key: "i",
    notice: state === "running"
      ? "The instance moves with its memory, disks and addresses. The guest is paused for a moment."
      : "The instance moves with its disks and addresses.",
    fields: [{ name: "target", label: "Node", isOptional: true, hint: "Hostname or UUID; empty for the best node" }],
    refused: rootOnly() ??
      (["running", "stopped"].includes(state)
        ? null
        : `The instance is ${words(state)}; migrate it while it is running or stopped`),
    cli: ({ target }) => opsctl("instance migrate", [name], { "--target": target }),
    send: async ({ target = "" }, key) => {
      const body: MigrateBody = target === "" ? {} : { target_server_uuid: await nodeOf(target) };
      const { operation_id } = await send<MigrationStarted>("POST", `/v1/instances/${id}/migrate`, { body, key });
      return { said: `${name} is moving (operation ${operation_id})` };
    },
  };
}

async function nodeOf(text: string): Promise<string> {
  const { items } = await get<NodeWindow>("/v1/system/nodes", { q: text, limit: NODES_READ });
  const found = items.find(({ hostname, server_uuid }) => text === hostname || text.toLowerCase() === server_uuid);
  if (found === undefined) throw new Refusal(404, `target: no node has the hostname or UUID ${text}`);
  return found.server_uuid;
}
