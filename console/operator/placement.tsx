// Shows on which node an instance would be placed, and why. Lists for each node the verdicts of the filters, rejections
// first, and the scores.
import type { NodeReport, PlacementExplanation } from "../../src/contract/placement.ts";
import { useSignal } from "@preact/signals";
import { run } from "../core/action.ts";
import { CN_ROLES, type PlacementFilter } from "../../src/contract/enums.ts";
import { send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { query as urlQuery } from "../core/router.ts";
import type { Query } from "../core/store.ts";
import { bytes, counted, parseBytes, words } from "../core/text.ts";
import { Heading, Link, Section, State } from "../parts/basics.tsx";
import { Form } from "../parts/form.tsx";
import { useQuery } from "../parts/use-query.ts";
import { choicesOf, holdAction } from "./node-actions.ts";
import { tenantField, tenantIdOf, tenantPath, tenantQuery, type TenantRow, tenantsQuery } from "./tenants.tsx";

const NO_TENANT: Query<TenantRow | null> = { key: "no tenant", kinds: [], read: () => Promise.resolve(null) };

export function Placement() {
  const { data: tenants = [] } = useQuery(tenantsQuery());
  const answer = useSignal<PlacementExplanation | null>(null);
  const asked = useSignal<unknown>(null);
  const explain = async () => {
    const body = asked.peek();
    answer.value = await send<PlacementExplanation>("POST", "/v1/system/placement/explain", { body });
  };
  // For operators, the form that creates an instance links here with its CPU, memory and tenant.
  const { cpu = "1", memory = "1 GiB", disk = "", tenant = "" }: Partial<Record<string, string>> = Object.fromEntries(
    urlQuery.value,
  );
  const { data: linked, refusal } = useQuery(tenant === "" ? NO_TENANT : tenantQuery(tenant));
  // The form waits for the tenant's name. If the name cannot be read, the form shows the tenant as in the link.
  const isRead = tenant === "" || linked !== undefined || refusal !== undefined;
  return (
    <>
      <Heading title="Placement" />
      <p class="dim">
        The page shows where an instance of this size would be placed now, and why other nodes are rejected. It creates
        nothing.
      </p>
      {isRead && (
        <Form
          button="Explain"
          onlyReads
          fields={[
            { name: "cpu", label: "vCPUs", type: "number", initial: cpu },
            { name: "memory", label: "Memory", type: "bytes", initial: memory },
            { name: "disk", label: "All disks", type: "bytes", isOptional: true, initial: disk },
            tenantField(tenants, {
              initial: linked == null ? tenant : tenantPath(linked),
              hint: "SILO/TENANT or UUID. Without a tenant, nodes that are pinned to a tenant or silo are rejected",
            }),
            { name: "role", label: "Role", type: "choice", initial: "tenant", choices: choicesOf(CN_ROLES) },
          ]}
          cli={(values) =>
            opsctl("placement explain", [], {
              "--cpu": values["cpu"],
              "--memory": values["memory"]?.replaceAll(" ", ""),
              "--disk": values["disk"]?.replaceAll(" ", ""),
              "--tenant": values["tenant"]?.trim(),
              "--role": values["role"],
            })}
          send={async (values) => {
            const text = values["tenant"]?.trim() ?? "";
            const tenant_id = text === "" ? "" : await tenantIdOf(text);
            asked.value = {
              cpu: Number(values["cpu"]),
              memory_bytes: parseBytes(values["memory"] ?? ""),
              role: values["role"],
              ...(values["disk"] !== "" && { disk_bytes: parseBytes(values["disk"] ?? "") }),
              ...(tenant_id !== "" && { tenant_id }),
            };
            await explain();
          }}
          done={() => {}}
        />
      )}
      {answer.value !== null && <Explanation of={answer.value} again={explain} />}
    </>
  );
}

type Again = { readonly again: () => Promise<void> };

function Explanation({ of, again }: Again & { readonly of: PlacementExplanation }) {
  const chosen = of.per_cn.find(({ server_uuid }) => server_uuid === of.chosen);
  const counts = Object.entries(of.reject_counts).toSorted(([, a], [, b]) => b - a);
  return (
    <>
      <p class={chosen === undefined ? "sentence bad" : "sentence ok"}>
        {chosen === undefined
          ? `No node can take ${counted(of.request.cpu_units / 100, "vCPU")} and ${
            bytes(of.request.ram_mb * 2 ** 20)
          }. Nodes checked: ${of.per_cn.length}.`
          : (
            <>
              It would be placed on <Link to={`/nodes/${chosen.server_uuid}`}>{chosen.hostname}</Link>.
            </>
          )}
      </p>
      {counts.length > 0 && (
        <Section title="Rejections by filter">
          <ul class="plain">
            {counts.map(([filter, count]) => (
              <li key={filter}>
                {filter}
                <span>{counted(count, "node")}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Nodes" count={of.per_cn.length}>
        {of.per_cn.map((node) => <NodeVerdict key={node.server_uuid} node={node} again={again} />)}
      </Section>
    </>
  );
}

const ORDER = { reject: 0, accept: 1, skip: 2 } as const;

function NodeVerdict({ node, again }: Again & { readonly node: NodeReport }) {
  const filters = node.filter_results.toSorted((a, b) => ORDER[a.verdict] - ORDER[b.verdict]);
  const refusal = filters.find(({ verdict }) => verdict === "reject");
  const rejects = (filter: PlacementFilter) =>
    filters.some(({ filter_name, verdict }) => filter_name === filter && verdict === "reject");
  const holds = [
    holdAction(node, "cordoned", rejects("cn-not-cordoned")),
    holdAction(node, "reserved", rejects("cn-not-reserved")),
  ];
  return (
    <details>
      <summary>
        <Link to={`/nodes/${node.server_uuid}`}>{node.hostname}</Link>{" "}
        <State of={node.accepted ? "accept" : "reject"} />{" "}
        <span class="dim">
          {refusal === undefined
            ? `score ${node.total_score?.toFixed(2)}`
            : `${refusal.filter_name}: ${refusal.reason}`}
        </span>
      </summary>
      <div class="actions">
        {holds.map((hold) => (
          <button
            key={hold.title}
            type="button"
            aria-disabled={hold.refused !== null}
            title={hold.refused ?? undefined}
            onClick={() => run({ ...hold, send: (values, key) => hold.send(values, key).then(again) })}
          >
            {hold.title}
          </button>
        ))}
      </div>
      <ul class="plain">
        {filters.map(({ filter_name, verdict, reason }) => (
          <li key={filter_name}>
            {filter_name}
            <State of={verdict} />
            <span class="dim">{reason}</span>
          </li>
        ))}
        {node.scorer_results.map(({ name, raw, weight, contribution }) => (
          <li key={name}>
            {words(name)}
            <span class="dim">{raw.toFixed(2)} × {weight}</span>
            <span>{contribution.toFixed(2)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
