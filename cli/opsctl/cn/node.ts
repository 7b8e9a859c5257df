// Defines how commands list and print compute nodes.
import type { CnView } from "../../../src/contract/cn.ts";
import { CN_STATES } from "../../../src/contract/enums.ts";
import { CN_SYSINFO_PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import { oneOf } from "../../framework.ts";
import type { Io } from "../../internal/io.ts";
import { LABEL_FILTER_OPTION, labelFilter, labelText } from "../../internal/labels.ts";
import { plainJson } from "../../internal/plain-text.ts";
import { AGE_COLUMN, blockText, type Column, ID_COLUMN, STATE_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { findNode, NODE_ARGUMENT, NODES_PATH } from "../node-name.ts";
import type { Listing, Showing } from "../record/kind.ts";
import { claimsMark, claimsText } from "./claim.ts";
import { READY_NODES_MAX, readyTexts } from "./ready.ts";

type Options = { readonly state?: string; readonly label?: Parameters<typeof labelFilter>[0] };

export const NODE: Listing<CnView> & Showing<CnView> = {
  one: "compute node",
  many: "compute nodes",
  argument: NODE_ARGUMENT,
  sample: "cn-17",
  summaries: { list: "List compute nodes" },
  list_sample: "--state approved",
  selectors: (made) =>
    made.addOption(oneOf("--state <state>", "only nodes in this state", CN_STATES)).option(...LABEL_FILTER_OPTION),
  columns: columnsFor,
  all: async (io, _, { options }) => {
    const { state, label } = options as Options;
    // A data format such as --json prints complete records, which may be large. So a page has fewer records.
    const whole = io.json ? { include: "sysinfo", limit: CN_SYSINFO_PAGE_ROWS_MAX } : {};
    return await io.all<CnView>(NODES_PATH, { state, label: labelFilter(label), ...whole });
  },
  find: (io, name) => findNode(io, name),
  record: (node) => node,
  text: nodeText,
};

async function columnsFor(io: Io, nodes: readonly CnView[]): Promise<readonly Column<CnView>[]> {
  const ready = io.is_data || nodes.length > READY_NODES_MAX ? null : await readyTexts(io, nodes);
  if (nodes.length > READY_NODES_MAX && !io.is_data) {
    io.note(`READY is shown for at most ${READY_NODES_MAX} nodes; narrow the list, or run: opsctl cn doctor NODE`);
  }
  const ready_column: Column<CnView> = [
    "READY",
    ({ server_uuid }) => ready?.get(server_uuid),
    { ...STATE_COLUMN, stays: true },
  ];
  const claims_column: Column<CnView> = ["CLAIMS", claimsMark];
  return [
    ["NAME", (node) => node.hostname],
    ["ID", (node) => node.server_uuid, ID_COLUMN],
    ["STATE", (node) => node.state, STATE_COLUMN],
    ["LAST_SEEN", (node) => node.last_seen, AGE_COLUMN],
    ["AGE", (node) => node.registered_at, AGE_COLUMN],
    ["ROLE", (node) => node.role],
    ["ADMIN_IP", (node) => node.admin_ip],
    ["VERSION", (node) => node.agent_version],
    ...(nodes.some(needsLook) ? [claims_column] : []),
    ...(nodes.some(({ conflict }) => conflict !== null) ? [CONFLICT_COLUMN] : []),
    // Without -o wide, READY is the last column. Its text can be long, and a narrow terminal truncates the widest
    // cells.
    ...(ready === null ? [] : [ready_column]),
    ["LABELS", (node) => labelText(node.labels), WIDE_COLUMN],
    ["REGISTERED_AT", (node) => node.registered_at, WIDE_COLUMN],
  ];
}

/** Shown only if a second machine announced the UUID of a listed node. */
const CONFLICT_COLUMN: Column<CnView> = [
  "CONFLICT",
  ({ conflict }) => conflict === null ? null : `${conflict.hostname} ${conflict.macs.join(" ")}`,
];

/**
 * Returns whether an operator must compare claims: the node has several claims, a claim differs from the node's record,
 * or the node has a claim and is not pending.
 */
function needsLook({ state, claims, identity_conflict }: CnView): boolean {
  return claims.length > 1 || identity_conflict || (claims.length === 1 && state !== "pending");
}

/** Returns the fields of a node and its sysinfo. */
export function nodeText(node: CnView): string {
  return `${nodeBlock(node)}\nsysinfo:\n${plainJson(node.sysinfo).replace(/^/gm, "  ")}`;
}

// The claim code is shown only while the node has one, the key id only when a key is bound.
export function nodeBlock(node: CnView): string {
  const claim = [["claim_code", node.claim_code], ["claim_code_expires_at", node.claim_code_expires_at]] as const;
  const block = blockText([
    ["state", node.state],
    ["role", node.role],
    ["labels", labelText(node.labels) || null],
    ["hostname", node.hostname],
    ["admin_ip", node.admin_ip],
    ["registered_at", node.registered_at],
    ["approved_at", node.approved_at],
    ["last_seen", node.last_seen],
    ["agent_version", node.agent_version],
    ...(node.claim_code === null ? [] : claim),
    ...(node.bound_api_key_id === null ? [] : [["bound_api_key_id", node.bound_api_key_id] as const]),
  ]);
  const claims = node.claims.length === 0 ? "" : `\n${claimsText(node)}`;
  return `${block}${claims}`;
}
