// Drains the nodes with a label, one or several at a time. The page first shows the plan, and then the button that
// starts the drain. The page of the operation shows the result.
import type { LabelDrainStarted } from "../../src/contract/label-drain.ts";
import { LABEL_DRAIN_NODES_MAX } from "../../src/contract/limits.ts";
import { useSignal } from "@preact/signals";
import type { Values } from "../core/action.ts";
import { send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { go } from "../core/router.ts";
import { rootOnly } from "../core/session.ts";
import { counted } from "../core/text.ts";
import { Heading, Link, Section } from "../parts/basics.tsx";
import { Form } from "../parts/form.tsx";
import { OtherNodes, Planned } from "./label-plan.tsx";

const PATH = "/v1/cn-drains";

type Asked = { readonly label: string; readonly max_unavailable: number };

function askedOf({ label = "", max_unavailable = "" }: Values): Asked {
  return { label, max_unavailable: Number(max_unavailable) };
}

function cli({ label, max_unavailable }: Asked, isDry: boolean): string {
  return opsctl("cn drain", [], {
    "--label": label || "KEY=VALUE",
    "--max-unavailable": max_unavailable,
    "--dry-run": isDry,
  });
}

export function LabelDrain() {
  const plan = useSignal<{ readonly asked: Asked; readonly started: LabelDrainStarted } | null>(null);
  return (
    <>
      <Heading title="Drain by label" above={<Link to="/nodes">Nodes</Link>} />
      <p class="dim">
        The nodes are drained in the order of their hostnames. The drain stops at the first node that cannot be emptied.
        Drained nodes stay cordoned.
      </p>
      <Form
        button="Show the plan"
        onlyReads
        fields={[
          { name: "label", label: "Label of the nodes", hint: "KEY=VALUE, or KEY for any value; several with commas" },
          {
            name: "max_unavailable",
            label: "Nodes that are drained at the same time",
            type: "number",
            initial: "1",
            hint: `1 to ${LABEL_DRAIN_NODES_MAX}`,
          },
        ]}
        cli={(values) => cli(askedOf(values), true)}
        onValues={() => (plan.value = null)}
        send={async (values, key) => {
          const asked = askedOf(values);
          const started = await send<LabelDrainStarted>("POST", PATH, { body: { ...asked, dry_run: true }, key });
          plan.value = { asked, started };
        }}
        done={() => {}}
      />
      {plan.value !== null && <Plan {...plan.value} />}
    </>
  );
}

function Plan({ asked, started: { nodes, skipped } }: { readonly asked: Asked; readonly started: LabelDrainStarted }) {
  const refused = rootOnly();
  return (
    <>
      {nodes.length === 0 && <p class="sentence warn">No approved node has the label {asked.label}.</p>}
      {nodes.length > 0 && (
        <Section title="Nodes" count={nodes.length}>
          {nodes.map((node) => <Planned key={node.server_uuid} node={node} />)}
        </Section>
      )}
      <OtherNodes title="Not approved, so not drained" of={skipped} />
      {nodes.length > 0 && (refused === null
        ? (
          <Form
            button={`Drain ${counted(nodes.length, "node")}`}
            fields={[]}
            cli={() => cli(asked, false)}
            send={async (_, key) => {
              const { operation_id } = await send<LabelDrainStarted>("POST", PATH, { body: asked, key });
              return {
                said: "The drain has begun",
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
