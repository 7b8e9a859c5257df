import type { CnView } from "../../../src/contract/cn.ts";
import { type AnyCommand, showCommand } from "../../framework.ts";
import { labelText } from "../../internal/labels.ts";
import { plainJson } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { blockText } from "../../internal/table.ts";
import { resolveNode } from "../node-name.ts";
import { claimsText } from "./claim.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one compute node", "cn-17")
    .argument("<node>", "UUID, unique UUID prefix or hostname")
    .action(withIo(async (io, name) => {
      const node = await io.get<CnView>(`/v1/system/cns/${await resolveNode(io, name)}`);
      io.print(node, nodeText(node));
    }));
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
    ...(node.claim_code === null ? [] : claim),
    ...(node.bound_api_key_id === null ? [] : [["bound_api_key_id", node.bound_api_key_id] as const]),
  ]);
  const claims = node.claims.length === 0 ? "" : `\n${claimsText(node)}`;
  return `${block}${claims}`;
}
