// Shows the firewall of a VPC: its rules in the order of evaluation, and a form that checks whether a packet would
// pass.
import type { FirewallRuleSet } from "../../src/contract/firewall.ts";
import type { FirewallRule, FirewallRuleBody, Vpc } from "../../src/contract/network.ts";
import { useSignal } from "@preact/signals";
import {
  FIREWALL_ACTIONS,
  FIREWALL_DIRECTIONS,
  FIREWALL_PROTOCOLS,
  PACKET_PROTOCOLS,
} from "../../src/contract/enums.ts";
import type { Action, Values } from "../core/action.ts";
import { ask, type Refusal, refusalOf, send } from "../core/client.ts";
import { useId, useLayoutEffect } from "preact/hooks";
import { tenantctl } from "../core/command.ts";
import { decidingRule, evaluationOrder, type Packet, packetOf } from "../core/firewall.ts";
import { bodyOf, changesOf, draftOf, type DraftRow, hiddenChangesOf } from "../core/firewall-draft.ts";
import { askBeforeLeaving } from "../core/router.ts";
import { labelAction } from "../core/labels.ts";
import { writersOnly } from "../core/session.ts";
import { type Query, store } from "../core/store.ts";
import { counted } from "../core/text.ts";
import { say } from "../core/toast.ts";
import { Problem, Section } from "../parts/basics.tsx";
import { LabelsText } from "../parts/labels-text.tsx";
import { RowActions } from "../parts/row-actions.tsx";
import { FirewallTable } from "./firewall-table.tsx";
import { useQuery } from "../parts/use-query.ts";

const choices = (names: readonly string[]) => names.map((value) => ({ value, label: value }));

type Read = { readonly rules: readonly FirewallRule[]; readonly etag: string };
type Draft = { readonly base: Read; readonly rows: readonly DraftRow[] };

export function firewallQuery(vpc: string): Query<Read> {
  return {
    key: `firewall ${vpc}`,
    kinds: ["firewall-rule"],
    read: async (signal) => {
      const { body, headers } = await ask<FirewallRuleSet>("GET", `/v1/vpcs/${vpc}/firewall-rules`, { signal });
      return { rules: evaluationOrder(body.items), etag: headers.get("etag") ?? "*" };
    },
  };
}

/** Sets the labels of a rule. The other fields of a rule are changed by an edit of the whole firewall. */
export function labelRule({ id, name, labels }: FirewallRule, vpc: string): Action {
  const argv = ["tenantctl", "firewall-rule", "update", name];
  return labelAction({ path: `/v1/firewall-rules/${id}`, argv, flags: { "--vpc": vpc }, labels, name: `rule ${name}` });
}

export function Firewall({ vpc }: { readonly vpc: Vpc }) {
  const { data, refusal } = useQuery(firewallQuery(vpc.id));
  const draft = useSignal<Draft | null>(null);
  const asked = useSignal<Packet | string | null>(null);
  const rules = data?.rules ?? [];
  const rows = draft.value?.rows ?? rules.map(draftOf);
  const packet = asked.value;
  const deciding = packet === null || typeof packet === "string" ? null : decidingRule(rules, packet);
  const edit = (next: readonly DraftRow[]) => {
    if (data === undefined) return;
    const base = draft.value?.base ?? data;
    // Without changes, the table shows the server's rules again.
    draft.value = changesOf(base.rules, next).length === 0 ? null : { base, rows: next };
  };
  const mayAdd = data !== undefined && writersOnly() === null;
  const add = () =>
    edit([...rows, {
      key: crypto.randomUUID(),
      name: "",
      direction: "inbound",
      priority: "100",
      action: "allow",
      protocol: "tcp",
      source_cidr: "",
      destination_cidr: "",
      destination_ports: "",
    }]);
  return (
    <Section title="Firewall rules" count={rows.length}>
      {refusal !== undefined && <Problem refusal={refusal} isLate={data !== undefined} />}
      {rows.length > 0 && (
        <FirewallTable
          rows={rows}
          deciding={deciding?.id}
          edit={writersOnly() === null ? edit : null}
          labelsOf={(key) => <RuleLabels rule={rules.find(({ id }) => id === key)} vpc={vpc.name} />}
        />
      )}
      {rows.length === 0 && data !== undefined && <p class="dim">The VPC has no rule.</p>}
      <p>
        <button type="button" aria-disabled={!mayAdd} onClick={() => mayAdd && add()}>
          Add a rule
        </button>
      </p>
      {draft.value !== null && data !== undefined && (
        <Changes vpc={vpc} draft={draft.value} now={data} set={(next) => (draft.value = next)} />
      )}
      <WouldPass
        ask={(next) => (asked.value = next)}
        answer={packet === null || typeof packet === "string"
          ? packet
          : deciding === null
          ? "No rule matches. Then outbound packets pass. Inbound packets pass only from the blocks of the VPC."
          : `${deciding.action === "allow" ? "Passes" : "Is dropped"}: the rule ${deciding.name} decides.`}
      />
    </Section>
  );
}

/** A rule that is not applied yet has no labels. */
function RuleLabels({ rule, vpc }: { readonly rule: FirewallRule | undefined; readonly vpc: string }) {
  if (rule === undefined) return null;
  return (
    <>
      <LabelsText labels={rule.labels} />
      <RowActions actions={[labelRule(rule, vpc)]} />
    </>
  );
}

/** The changes that are not applied yet. One request applies all of them, or none. */
function Changes({ vpc, draft: { base, rows }, now, set }: {
  readonly vpc: Vpc;
  readonly draft: Draft;
  readonly now: Read;
  readonly set: (draft: Draft | null) => void;
}) {
  const id = useId();
  const refusal = useSignal<Refusal | null>(null);
  const busy = useSignal(false);
  const mine = changesOf(base.rules, rows);
  const theirs = base.etag === now.etag
    ? []
    : [...changesOf(base.rules, now.rules.map(draftOf)), ...hiddenChangesOf(base.rules, now.rules)];
  // A layout effect runs before the user can leave the page.
  useLayoutEffect(() => {
    askBeforeLeaving(id, mine.length > 0 ? "The firewall is not applied. Leave the page?" : null);
    return () => askBeforeLeaving(id, null);
  }, [mine.length]);
  if (mine.length === 0) return null;
  const apply = async (ifMatch: string) => {
    if (busy.value) return;
    busy.value = true;
    refusal.value = null;
    try {
      const path = `/v1/vpcs/${vpc.id}/firewall-rules`;
      await send("PUT", path, { body: bodyOf(base.rules, now.rules, rows), ifMatch, key: crypto.randomUUID() });
      set(null);
      say("The firewall is applied");
    } catch (error) {
      refusal.value = refusalOf(error);
    } finally {
      busy.value = false;
      store.changed(new Set(["firewall-rule"]));
    }
  };
  return (
    <div class="sentence warn" role="group" aria-label="Changes">
      <p>{counted(mine.length, "change")}, not applied yet</p>
      <ul>{mine.map((change) => <li key={change}>{change}</li>)}</ul>
      {theirs.length > 0 && (
        <>
          <p>Meanwhile someone else changed the firewall</p>
          <ul>{theirs.map((change) => <li key={change}>{change}</li>)}</ul>
        </>
      )}
      {refusal.value !== null && <Problem refusal={refusal.value} />}
      <footer>
        <button type="button" onClick={() => set(null)}>Discard</button>{" "}
        <button type="button" class="primary" aria-disabled={busy.value} onClick={() => void apply(now.etag)}>
          {theirs.length > 0 ? "Apply over their changes" : "Apply"}
        </button>
      </footer>
    </div>
  );
}

function WouldPass({ ask, answer }: {
  /** Called with the packet, or with a sentence that describes a mistake. Called with null when the form changes. */
  readonly ask: (packet: Packet | string | null) => void;
  readonly answer: string | null;
}) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const data = new FormData(event.currentTarget);
    const text = (name: string) => String(data.get(name) ?? "").trim();
    ask(packetOf({
      direction: FIREWALL_DIRECTIONS.find((each) => each === text("direction")) ?? "inbound",
      protocol: PACKET_PROTOCOLS.find((each) => each === text("protocol")) ?? "tcp",
      source: text("source"),
      destination: text("destination"),
      port: text("port"),
    }));
  };
  return (
    <form class="filters" onSubmit={submit} onInput={() => ask(null)} aria-label="Would this packet pass?">
      <select name="direction" aria-label="Direction">
        {FIREWALL_DIRECTIONS.map((each) => <option key={each}>{each}</option>)}
      </select>
      <select name="protocol" aria-label="Protocol">
        {PACKET_PROTOCOLS.map((each) => <option key={each}>{each}</option>)}
      </select>
      <input name="source" aria-label="From" placeholder="from 198.51.100.7" size={18} required />
      <input name="destination" aria-label="To" placeholder="to 10.0.1.5" size={18} required />
      <input name="port" aria-label="Port" placeholder="port" inputMode="numeric" size={6} />
      <button type="submit">Would this pass?</button>
      <output>{answer}</output>
    </form>
  );
}

/** Creates a rule of a VPC. */
export function ruleAction(vpc: Vpc): Action {
  return {
    title: "Create a firewall rule",
    key: "f",
    button: "Create",
    fields: [
      { name: "name", label: "Name" },
      {
        name: "direction",
        label: "Direction",
        type: "choice",
        choices: choices(FIREWALL_DIRECTIONS),
        initial: "inbound",
      },
      { name: "action", label: "Action", type: "choice", choices: choices(FIREWALL_ACTIONS), initial: "allow" },
      {
        name: "priority",
        label: "Priority",
        type: "number",
        initial: "100",
        hint: "0 to 65535; higher numbers are evaluated first",
      },
      { name: "protocol", label: "Protocol", type: "choice", choices: choices(FIREWALL_PROTOCOLS), initial: "tcp" },
      { name: "source_cidr", label: "From", isOptional: true, hint: "A CIDR block; empty for any" },
      { name: "destination_cidr", label: "To", isOptional: true, hint: "A CIDR block; empty for any" },
      { name: "destination_ports", label: "Ports", isOptional: true, hint: "22 or 8000-8080; only for tcp and udp" },
    ],
    refused: writersOnly(),
    cli: (values) =>
      tenantctl("firewall-rule create", [], {
        "--vpc": vpc.name,
        "--name": values["name"] || "NAME",
        "--action": values["action"],
        "--direction": values["direction"],
        "--priority": values["priority"],
        "--protocol": values["protocol"],
        "--source-cidr": values["source_cidr"],
        "--destination-cidr": values["destination_cidr"],
        "--destination-ports": values["destination_ports"],
      }),
    send: async (values, key) => {
      await send("POST", "/v1/firewall-rules", {
        query: { vpc: vpc.id, project: vpc.project_id },
        body: ruleOf(values),
        key,
      });
    },
  };
}

/** Returns the body of one new rule; the server checks it. */
function ruleOf({ priority = "", destination_ports = "", ...values }: Values): Partial<FirewallRuleBody> {
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
  const [low = "", high = low] = destination_ports.split("-");
  return {
    ...given,
    priority: Number(priority),
    ...(destination_ports !== "" && { destination_ports: { low: Number(low), high: Number(high) } }),
  };
}
