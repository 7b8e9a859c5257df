// Shows one node: its problems, and tabs with its facts, hardware, instances, setup, placement, load and activity.
import type { CnView } from "../../src/contract/cn.ts";
import type { PlacedInstance } from "../../src/contract/instance.ts";
import { useActions } from "../core/action.ts";
import { opsctl } from "../core/command.ts";
import { useKeys } from "../core/keys.ts";
import { go, path, query as urlQuery } from "../core/router.ts";
import { bytes, counted } from "../core/text.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Copyable, Facts, Heading, Link, Problem, Refused, State, When } from "../parts/basics.tsx";
import { Later } from "../parts/later.tsx";
import { Named } from "../parts/named.tsx";
import { useQuery } from "../parts/use-query.ts";
import { NodeActivity } from "./node-activity.tsx";
import { nodeActions } from "./node-actions.ts";
import { nodeInstancesQuery, nodeQuery, placementQuery } from "./node-queries.ts";
import { Diagnosis } from "./diagnosis.tsx";

const TABS = ["overview", "hardware", "instances", "setup", "placement", "load", "activity"] as const;

/**
 * Returns the tab in the address. The handlers of keys call this function again, because two keys may arrive between
 * two renders.
 */
const shownTab = () => TABS.find((each) => each === urlQuery.value.get("tab")) ?? "overview";

/** Loads the code of a tab that is seldom opened. */
const part = (name: "NodeHardware" | "NodeLoadTab" | "NodeSetup", id: string) => async () => {
  const View = (await import("./more-pages.ts"))[name];
  return () => <View id={id} />;
};

export function Node({ id }: { readonly id: string }) {
  const { data: node, refusal } = useQuery(nodeQuery(id));
  const placement = useQuery(placementQuery(id));
  const tab = shownTab();
  useActions(node === undefined ? [] : nodeActions(node, placement));
  const show = (next: string) => go(`${path.value}?tab=${next}`, "replace");
  const step = (by: number) => {
    const at = (TABS.indexOf(shownTab()) + by + TABS.length) % TABS.length;
    show(TABS[at] ?? tab);
  };
  useKeys({ "[": () => step(-1), "]": () => step(1) });
  if (node === undefined) {
    return (
      <>
        <Heading title="Node" above={<Link to="/nodes">Nodes</Link>} />
        {refusal !== undefined && <Problem refusal={refusal} lookedFor={`node ${id}`} />}
      </>
    );
  }
  return (
    <>
      <Heading title={node.hostname} above={<Link to="/nodes">Nodes</Link>}>
        <State of={node.state} />
        <Actions />
      </Heading>
      {refusal !== undefined && <Problem refusal={refusal} lookedFor={`node ${id}`} isLate />}
      <Diagnosis node={node} />
      <nav class="tabs" aria-label="Parts of the node">
        {TABS.map((each) => (
          <button key={each} type="button" aria-pressed={each === tab} onClick={() => show(each)}>{each}</button>
        ))}
      </nav>
      {tab === "overview" && <Overview node={node} />}
      {tab === "hardware" && <Later key={tab} load={part("NodeHardware", id)} isPart />}
      {tab === "instances" && <Instances id={id} />}
      {tab === "setup" && <Later key={tab} load={part("NodeSetup", id)} isPart />}
      {tab === "placement" && <Placement id={id} />}
      {tab === "load" && <Later key={tab} load={part("NodeLoadTab", id)} isPart />}
      {tab === "activity" && <NodeActivity node={node} />}
      <AsCommand line={opsctl("cn show", [node.hostname])} />
    </>
  );
}

function Overview({ node }: { readonly node: CnView }) {
  return (
    <Facts
      of={{
        "Address": node.admin_ip,
        "Role": node.role,
        "Labels": pairsOf(node.labels),
        "Last heartbeat": <When at={node.last_seen} />,
        "Agent": node.agent_version,
        "Registered": <When at={node.registered_at} />,
        "Approved": <When at={node.approved_at} none="not yet" />,
        "UUID": <Copyable text={node.server_uuid} label="the UUID" />,
        "Key": node.bound_api_key_id === null ? null : <code>{node.bound_api_key_id}</code>,
      }}
    />
  );
}

function pairsOf(pairs: Readonly<Record<string, string>>): string {
  return Object.entries(pairs).map(([name, value]) => `${name}=${value}`).join(", ");
}

function Instances({ id }: { readonly id: string }) {
  const instances = useQuery(nodeInstancesQuery(id));
  const { data } = instances;
  if (data === undefined) return <Refused of={instances} />;
  const sum = (of: (each: PlacedInstance) => number) => data.reduce((total, each) => total + of(each), 0);
  return (
    <>
      <Refused of={instances} />
      <p class="dim">
        {data.length === 0
          ? "No instance is on this node."
          : `${counted(sum(({ cpu }) => cpu), "vCPU")}, ${bytes(sum(({ memory_bytes }) => memory_bytes))} of memory, ${
            bytes(sum(({ disk_bytes }) => disk_bytes))
          } of disk`}
      </p>
      <ul class="plain">
        {data.map((each) => (
          <li key={each.id}>
            <Link to={`/instances/${each.id}`}>{each.name}</Link>
            <State of={each.lifecycle.state} />
            <span class="dim">{each.silo_name} / {each.tenant_name} / {each.project_name}</span>
            <span>{counted(each.cpu, "vCPU")}, {bytes(each.memory_bytes)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Placement({ id }: { readonly id: string }) {
  const placement = useQuery(placementQuery(id));
  const { data } = placement;
  if (data === undefined) return <Refused of={placement} />;
  const named = (scope: string, uuid: string | null) => uuid === null ? null : <Named scope={scope} id={uuid} />;
  const yes = (is: boolean, reason: string | null) => is ? `yes${reason === null ? "" : `: ${reason}`}` : "no";
  return (
    <>
      <Refused of={placement} />
      <Facts
        of={{
          "Cordoned": yes(data.cordoned, data.cordoned_reason),
          "Reserved": yes(data.reserved, data.reserved_reason),
          "Fault domain": data.fault_domain,
          "Pinned to silo": named("silo", data.pinned_silo_uuid),
          "Pinned to tenant": named("tenant", data.pinned_tenant_uuid),
          "Overprovision CPU": data.overprovision_cpu ?? "default",
          "Overprovision memory": data.overprovision_ram ?? "default",
          "Overprovision disk": data.overprovision_disk ?? "default",
          "Reservoir": data.reservoir_percent ?? "default",
          "Traits": pairsOf(data.traits),
          "Note": data.note,
        }}
      />
    </>
  );
}
