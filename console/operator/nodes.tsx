// Shows the list of nodes. Its actions approve a node by its claim code, open and close an auto-approve window, and
// lead to drains and upgrades by label.
import type { AutoApproveWindow, CnView } from "../../src/contract/cn.ts";
import { CN_STATES } from "../../src/contract/enums.ts";
import type { NodeRow } from "../../src/contract/node-window.ts";
import { type Action, useActions } from "../core/action.ts";
import { get, send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { narrow, query as urlQuery } from "../core/router.ts";
import { rootOnly } from "../core/session.ts";
import { bytes, counted } from "../core/text.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Heading, Link, Refused, State, When } from "../parts/basics.tsx";
import type { Column } from "../parts/list.tsx";
import { Filters } from "../parts/list-page.tsx";
import { WindowedList } from "../parts/lists.tsx";
import { useQuery } from "../parts/use-query.ts";
import { nodeWindow } from "./node-rows.ts";

const COLUMNS: readonly Column<NodeRow>[] = [
  {
    name: "hostname",
    title: "Hostname",
    sorts: true,
    cell: (node) => <Link to={`/nodes/${node.server_uuid}`} tabIndex={-1}>{node.hostname}</Link>,
  },
  {
    name: "state",
    title: "State",
    sorts: true,
    cell: (node) => (
      <>
        <State of={node.state} /> {node.problem !== null && <span class="warn">{node.problem}</span>}
      </>
    ),
  },
  { name: "role", title: "Role", width: "80px", isWideOnly: true, cell: ({ role }) => role },
  { name: "admin_ip", title: "Address", width: "130px", cell: ({ admin_ip }) => admin_ip },
  { name: "serial", title: "Serial", isWideOnly: true, cell: ({ serial }) => serial },
  {
    name: "cpu",
    title: "Threads",
    width: "92px",
    isNumeric: true,
    isWideOnly: true,
    cell: ({ cpu_threads }) => cpu_threads,
  },
  {
    name: "memory",
    title: "Memory",
    width: "96px",
    isNumeric: true,
    isWideOnly: true,
    cell: ({ ram_mb }) => ram_mb === null ? "" : bytes(ram_mb * 2 ** 20),
  },
  {
    name: "last_seen",
    title: "Last heartbeat",
    width: "150px",
    sorts: true,
    isWideOnly: true,
    cell: (node) => <When at={node.last_seen} />,
  },
];

export function approveAction(code = ""): Action {
  return {
    title: "Approve a node",
    key: "a",
    button: "Approve",
    notice: "First compare the code with the screen of the machine. An approved node belongs to this site.",
    fields: [{ name: "code", label: "Claim code", initial: code, hint: "XXX-XXX, as the node shows it" }],
    refused: rootOnly(),
    cli: ({ code: typed = "" }) => opsctl("cn approve", [typed || "XXX-XXX"]),
    send: async ({ code: typed = "" }, key) => {
      const node = await send<CnView>("POST", "/v1/cn-approvals", { body: { code: typed.trim().toUpperCase() }, key });
      return { said: `${node.hostname} is approved`, to: `/nodes/${node.server_uuid}` };
    },
  };
}

const openWindow: Omit<Action, "refused"> = {
  title: "Open an auto-approve window",
  button: "Open",
  notice:
    "Until the window ends, every node that registers is approved without a code. Nodes that are already waiting " +
    "still need their codes. Open a window only while you install machines.",
  isDangerous: true,
  fields: [
    {
      name: "duration_secs",
      label: "Seconds",
      type: "number",
      initial: "3600",
      hint: "The server limits the window to 24 hours",
    },
    { name: "count", label: "Number of nodes", type: "number", isOptional: true },
  ],
  cli: ({ duration_secs, count }) =>
    opsctl("cn auto-approve open", [], { "--duration-secs": duration_secs, "--count": count }),
  send: async ({ duration_secs = "", count = "" }, key) => {
    const body = { duration_secs: Number(duration_secs), ...(count !== "" && { count: Number(count) }) };
    await send("POST", "/v1/cn-auto-approve", { body, key });
    return { said: "The window is open" };
  },
};

const closeWindow: Omit<Action, "refused"> = {
  title: "Close the auto-approve window",
  button: "Close",
  cli: () => opsctl("cn auto-approve close"),
  send: async () => {
    await send("DELETE", "/v1/cn-auto-approve");
    return { said: "The window is closed" };
  },
};

export function Nodes() {
  const { q = "", state = "", sort = "hostname" }: Partial<Record<string, string>> = Object.fromEntries(urlQuery.value);
  const window = useQuery({
    key: "auto-approve",
    kinds: ["site", "cn"],
    read: (signal) => get<AutoApproveWindow | null>("/v1/cn-auto-approve", undefined, signal),
  });
  const refused = rootOnly();
  useActions([
    approveAction(),
    { ...(window.data ? closeWindow : openWindow), refused },
    { title: "Drain by label", refused, opens: "/drain-by-label" },
    { title: "Upgrade by label", refused, opens: "/upgrade-by-label" },
  ]);
  const all = useQuery(nodeWindow({ q: "", state: "", sort: "hostname" }, 0, 1));
  const isNarrowed = q !== "" || state !== "";
  return (
    <>
      <Heading title="Nodes">
        <p class="count">{all.data === undefined ? "" : counted(all.data.total, "node")}</p>
        <Actions />
      </Heading>
      <Refused of={window} />
      {window.data && (
        <p class="sentence warn">
          Every node that registers is approved. The window ends <When at={window.data.expires_at} />
          {window.data.remaining_count !== null && `, or after ${counted(window.data.remaining_count, "more node")}`}.
        </p>
      )}
      <Filters label="Nodes" states={CN_STATES} hint="Hostname, address, serial, UUID" />
      <WindowedList
        label="Nodes"
        columns={COLUMNS}
        windows={(offset, limit) => nodeWindow({ q, state, sort }, offset, limit)}
        idOf={(node) => node.server_uuid}
        open={(node) => `/nodes/${node.server_uuid}`}
        empty={isNarrowed
          ? (
            <>
              <p>No node matches.</p>
              <button type="button" onClick={() => narrow({ q: undefined, state: undefined })}>Show all</button>
            </>
          )
          : (
            <>
              <p>No node has registered. Start the node agent on a machine; it shows a claim code.</p>
              <AsCommand line="nodeagent run" />
            </>
          )}
      />
      <AsCommand line={opsctl("cn list", [], { "--state": state })} />
    </>
  );
}
