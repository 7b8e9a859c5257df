// Upgrades the nodes with a label to a platform image, one or several at a time. The page first shows the plan, and
// then the button that starts the upgrade. The page of the operation shows the result.
import type { UpgradeReboot } from "../../src/contract/enums.ts";
import type { LabelUpgradeStarted } from "../../src/contract/label-upgrade.ts";
import { LABEL_DRAIN_NODES_MAX } from "../../src/contract/limits.ts";
import { useSignal } from "@preact/signals";
import type { Values } from "../core/action.ts";
import { send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { go } from "../core/router.ts";
import { rootOnly } from "../core/session.ts";
import { counted } from "../core/text.ts";
import { Heading, Link, Problem, Section } from "../parts/basics.tsx";
import { Form } from "../parts/form.tsx";
import { useQuery } from "../parts/use-query.ts";
import { stagedImagesQuery } from "./node-queries.ts";
import { OtherNodes, Planned } from "./label-plan.tsx";

const PATH = "/v1/cn-upgrades";

type Asked = {
  readonly label: string;
  readonly platform_image: string;
  readonly max_unavailable: number;
  readonly reboot: UpgradeReboot;
};

function askedOf({ label = "", platform_image = "", max_unavailable = "", reboot = "" }: Values): Asked {
  const who = reboot === "operator" ? "operator" : "agent";
  return { label, platform_image, max_unavailable: Number(max_unavailable), reboot: who };
}

function cli({ label, platform_image, max_unavailable, reboot }: Asked, isDry: boolean): string {
  return opsctl("cn upgrade", [], {
    "--label": label || "KEY=VALUE",
    "--platform": platform_image || "STAMP",
    "--max-unavailable": max_unavailable,
    "--reboot": reboot,
    "--dry-run": isDry,
  });
}

export function LabelUpgrade() {
  const plan = useSignal<{ readonly asked: Asked; readonly started: LabelUpgradeStarted } | null>(null);
  const { data: staged, refusal } = useQuery(stagedImagesQuery);
  const stamps = [...new Set((staged ?? []).map(({ stamp }) => stamp))].sort().reverse();
  return (
    <>
      <Heading title="Upgrade by label" above={<Link to="/nodes">Nodes</Link>} />
      <p class="dim">
        The nodes are upgraded in the order of their hostnames: a node is drained, gets the platform image and restarts.
        It is uncordoned when it reports the image, but a node that was cordoned before stays cordoned. After the first
        failure, no other node begins.
      </p>
      {refusal !== undefined && <Problem refusal={refusal} />}
      {staged !== undefined && stamps.length === 0 && (
        <p class="sentence warn">No booter has staged a platform image.</p>
      )}
      {staged !== undefined && stamps.length > 0 && (
        <Form
          button="Show the plan"
          onlyReads
          fields={[
            {
              name: "label",
              label: "Label of the nodes",
              hint: "KEY=VALUE, or KEY for any value; several with commas",
            },
            {
              name: "platform_image",
              label: "Platform image",
              type: "choice",
              choices: stamps.map((value) => ({ value, label: value })),
              initial: stamps[0] ?? "",
            },
            {
              name: "max_unavailable",
              label: "Nodes that are upgraded at the same time",
              type: "number",
              initial: "1",
              hint: `1 to ${LABEL_DRAIN_NODES_MAX}`,
            },
            {
              name: "reboot",
              label: "The machines are restarted",
              type: "choice",
              choices: [{ value: "agent", label: "by their agents" }, {
                value: "operator",
                label: "by you with their BMCs",
              }],
              initial: "agent",
            },
          ]}
          cli={(values) => cli(askedOf(values), true)}
          onValues={() => (plan.value = null)}
          send={async (values, key) => {
            const asked = askedOf(values);
            const started = await send<LabelUpgradeStarted>("POST", PATH, { body: { ...asked, dry_run: true }, key });
            plan.value = { asked, started };
          }}
          done={() => {}}
        />
      )}
      {plan.value !== null && <Plan {...plan.value} />}
    </>
  );
}

function Plan({ asked, started }: { readonly asked: Asked; readonly started: LabelUpgradeStarted }) {
  const { nodes, current, skipped, unfit } = started;
  const refused = rootOnly() ?? (unfit.length === 0 ? null : "First fix the nodes that cannot be upgraded");
  const isNone = nodes.length + current.length + unfit.length === 0;
  return (
    <>
      {isNone && <p class="sentence warn">No approved node has the label {asked.label}.</p>}
      <OtherNodes
        title="Cannot be upgraded"
        of={unfit.map(({ reason, remedy, ...node }) => ({ ...node, said: `${reason}. Remedy: ${remedy}` }))}
      />
      {nodes.length > 0 && (
        <Section title="Nodes" count={nodes.length}>
          {nodes.map((node) => (
            <Planned
              key={node.server_uuid}
              node={node}
              more={<span class="dim">, now {node.platform_image ?? "without a reported image"}</span>}
            />
          ))}
        </Section>
      )}
      <OtherNodes title="Run the image already" of={current} />
      <OtherNodes title="Not approved, so not upgraded" of={skipped} />
      {nodes.length > 0 && (refused === null
        ? (
          <Form
            button={`Upgrade ${counted(nodes.length, "node")}`}
            fields={[]}
            cli={() => cli(asked, false)}
            send={async (_, key) => {
              const { operation_id } = await send<LabelUpgradeStarted>("POST", PATH, { body: asked, key });
              return {
                said: "The upgrade has begun",
                to: operation_id === null ? "/nodes" : `/operations/${operation_id}`,
              };
            }}
            done={({ to = "/nodes" }) => go(to)}
          />
        )
        : <p class="sentence warn">{refused}</p>)}
    </>
  );
}
