// Shows the setup of a node: the proposed disk layout before the setup, then the progress, and the accepted layout
// after the setup. A second page asks for confirmation of a factory reset, and shows its effects.
import type { CnView } from "../../src/contract/cn.ts";
import { COMPRESSIONS, DISK_LAYOUTS } from "../../src/contract/enums.ts";
import type { LayoutProposal, SetupApproved } from "../../src/contract/setup.ts";
import type { Values } from "../core/action.ts";
import { send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { go } from "../core/router.ts";
import { store } from "../core/store.ts";
import { rootOnly } from "../core/session.ts";
import { Facts, Heading, Link, now, Problem, Refused, Section, When } from "../parts/basics.tsx";
import { say } from "../core/toast.ts";
import { Form } from "../parts/form.tsx";
import { useQuery } from "../parts/use-query.ts";
import { choicesOf } from "./node-actions.ts";
import { nodeInstancesQuery, nodeQuery, proposalQuery } from "./node-queries.ts";

export function NodeSetup({ id }: { readonly id: string }) {
  const { data: node } = useQuery(nodeQuery(id));
  // The page of the node shows why it cannot read the node.
  if (node === undefined) return null;
  if (node.state === "awaiting_setup") return <Proposal node={node} />;
  if (node.state === "setting_up") return <Progress node={node} />;
  return (
    <>
      {node.disk_layout === null
        ? <p class="dim">This node was not set up through the booter.</p>
        : (
          <Section title="Accepted layout">
            <pre>{JSON.stringify(node.disk_layout, null, 2)}</pre>
          </Section>
        )}
      {(node.state === "approved" || node.state === "disabled") && rootOnly() === null && (
        <p>
          <Link to={`/nodes/${node.server_uuid}/factory-reset`}>Reset the node to factory state…</Link>
        </p>
      )}
    </>
  );
}

/**
 * A machine in setup reports every few seconds. The page shows a hint if no report arrives for this time, in
 * milliseconds.
 */
const SILENT_MS = 60_000;

/** The values that the user last sent to approve a setup, by node id. A repeated approval begins with them. */
const answers = new Map<string, Values>();

function Progress({ node: { setup_progress } }: { readonly node: CnView }) {
  if (setup_progress === null) return <p>The setup is approved. The machine has not fetched it yet.</p>;
  const percent = setup_progress.percent ?? 0;
  const isSilent = now.value - Date.parse(setup_progress.updated_at) > SILENT_MS;
  return (
    <>
      {isSilent && (
        <p class="sentence warn">
          The machine last reported <When at={setup_progress.updated_at} />. Look at its screen.
        </p>
      )}
      <div class="bar" role="progressbar" aria-label="Setup" aria-valuenow={percent}>
        <span style={{ width: `${percent}%` }} />
      </div>
      <Facts
        of={{
          "Step": setup_progress.step,
          "Message": setup_progress.message,
          "Percent": setup_progress.percent,
          "Reported": <When at={setup_progress.updated_at} />,
          "Setup run": setup_progress.epoch,
        }}
      />
    </>
  );
}

function Proposal({ node }: { readonly node: CnView }) {
  const proposal = useQuery(proposalQuery(node.server_uuid));
  const { data } = proposal;
  if (data === undefined) return <Refused of={proposal} />;
  const before = answers.get(node.server_uuid);
  const hasFailed = node.last_setup_error !== null;
  return (
    <>
      {hasFailed && (
        <p class="sentence bad">
          {node.setup_progress === null ? "The last setup" : `Setup run ${node.setup_progress.epoch}`} failed:{" "}
          {node.last_setup_error}
        </p>
      )}
      <Refused of={proposal} />
      <DiskMap of={data} />
      {rootOnly() === null && (
        <Section title={hasFailed ? "Try again" : "Approve the setup"}>
          <Form
            button="Destroy the data and set up"
            isDangerous
            fields={[
              {
                name: "disk_layout",
                label: "Layout",
                type: "choice",
                choices: choicesOf(supported(data)),
                initial: before?.["disk_layout"] ?? data.proposal?.layout ?? "single",
              },
              {
                name: "disk_spares",
                label: "Spares",
                type: "number",
                isOptional: true,
                initial: before?.["disk_spares"] ?? "",
              },
              {
                name: "disk_compress",
                label: "Compression",
                type: "choice",
                isOptional: true,
                none: "default",
                choices: choicesOf(COMPRESSIONS),
                initial: before?.["disk_compress"] ?? "",
              },
              {
                name: "hostname",
                label: "Hostname",
                isOptional: true,
                hint: `Default: ${node.hostname}`,
                initial: before?.["hostname"] ?? "",
              },
            ]}
            cli={({ disk_layout, disk_spares, disk_compress, hostname }) =>
              opsctl("cn setup approve", [node.hostname], {
                "--layout": disk_layout,
                "--spares": disk_spares,
                "--compress": disk_compress,
                "--hostname": hostname,
              })}
            send={async (values, key) => {
              answers.set(node.server_uuid, values);
              const { disk_layout, disk_spares = "", disk_compress = "", hostname = "" } = values;
              const body = {
                disk_layout,
                ...(disk_spares !== "" && { disk_spares: Number(disk_spares) }),
                ...(disk_compress !== "" && { disk_compress }),
                ...(hostname !== "" && { hostname }),
              };
              await send<SetupApproved>("POST", `/v1/cns/${node.server_uuid}/approve-setup`, { body, key });
              return { said: `The setup of ${node.hostname} is approved` };
            }}
            done={({ said = "" }) => {
              say(said);
              store.changed("all");
            }}
          />
        </Section>
      )}
    </>
  );
}

function supported({ supported_layouts }: LayoutProposal): readonly string[] {
  return supported_layouts.length > 0 ? supported_layouts : DISK_LAYOUTS;
}

function DiskMap({ of: { disks, proposal, error } }: { readonly of: LayoutProposal }) {
  const destroyed = new Set(proposal?.destroys ?? []);
  const groups = [
    ...(proposal?.vdevs ?? []).map((each, index) => [`${each.type ?? "stripe"} ${index + 1}`, each.disks] as const),
    ["spares", proposal?.spare_disks ?? []] as const,
    ["cache", proposal?.cache_disks ?? []] as const,
  ].filter(([, names]) => names.length > 0);
  const size = (name: string) => disks.find((disk) => disk.name === name)?.size_gb;
  return (
    <Section title="Proposed disk layout">
      {error !== undefined && <p class="sentence bad">{error}</p>}
      {proposal !== undefined && <p>{proposal.layout}, {proposal.capacity_gb.toLocaleString("en")} GB usable</p>}
      <div class="cards">
        {groups.map(([name, names]) => (
          <div class="card" key={name}>
            <span class="dim">{name}</span>
            {names.map((disk) => (
              <span key={disk} class={destroyed.has(disk) ? "bad" : undefined}>
                {disk} {size(disk)} GB{destroyed.has(disk) && ", data is destroyed"}
              </span>
            ))}
          </div>
        ))}
      </div>
    </Section>
  );
}

/** Asks for confirmation of a factory reset. Shows its effects and the instances that prevent it. */
export function FactoryReset({ id }: { readonly id: string }) {
  const { data: node, refusal } = useQuery(nodeQuery(id));
  const placed = useQuery(nodeInstancesQuery(id));
  const { data: instances } = placed;
  const above = <Link to={`/nodes/${id}`}>{node?.hostname ?? "Node"}</Link>;
  if (node === undefined || instances === undefined) {
    return (
      <>
        <Heading title="Factory reset" above={above} />
        {refusal !== undefined && <Problem refusal={refusal} lookedFor={`node ${id}`} />}
        {refusal === undefined && <Refused of={placed} />}
      </>
    );
  }
  return (
    <>
      <Heading title={`Factory reset of ${node.hostname}`} above={above} />
      <p>The node loses its key, its place in the cluster and its accepted setup, and waits for a new setup.</p>
      <p>Its disks stay as they are until the next setup is approved. The audit log keeps its entries.</p>
      <Refused of={placed} />
      {instances.length > 0 && (
        <Section title="Instances on the node" count={instances.length}>
          <p class="sentence warn">
            The server refuses the reset while instances are placed on the node. Delete them, or move them to other
            nodes first.
          </p>
          <ul class="plain">
            {instances.map((each) => (
              <li key={each.id}>
                <Link to={`/instances/${each.id}`}>{each.name}</Link>
                <span class="dim">{each.tenant_name} / {each.project_name}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Form
        button={`Reset ${node.hostname}`}
        isDangerous
        fields={[{ name: "confirm", label: `Type ${node.hostname} to reset it`, mustBe: node.hostname }]}
        cli={() => opsctl("cn factory-reset", [node.hostname])}
        send={async ({ confirm = "" }, key) => {
          await send("POST", `/v1/cns/${id}/factory-reset`, { query: { confirm }, key });
          return { said: `${node.hostname} waits for a new setup` };
        }}
        done={({ said = "" }) => {
          say(said);
          store.changed("all");
          go(`/nodes/${id}?tab=setup`);
        }}
      />
    </>
  );
}
