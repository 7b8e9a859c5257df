// Formats enrolment claims as text: the machine that registered, and its differences from the node's record.
import type { CnClaim, CnView } from "../../../src/contract/cn.ts";
import { macsOf } from "../../../src/lib/net/sysinfo-macs.ts";
import { serialOf } from "../../../src/lib/ids/sysinfo-serial.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { blockText } from "../../internal/table.ts";
import { NODES_PATH } from "../node-name.ts";

export type ShownClaim = { readonly claim: CnClaim; readonly node: CnView };

/** Finds the claim with this code, written without a hyphen, among the claims of all nodes; null if no node has it. */
export async function findClaim(io: Io, code: string): Promise<ShownClaim | null> {
  const nodes = await io.all<CnView>(NODES_PATH);
  for (const node of nodes) {
    const claim = node.claims.find(({ claim_code }) => claim_code.replace("-", "") === code);
    // Lists omit sysinfo, which has the serial number and the MACs of the record.
    if (claim !== undefined) return { claim, node: await io.get<CnView>(`${NODES_PATH}/${node.server_uuid}`) };
  }
  return null;
}

/**
 * Returns the number of claims, and whether one differs from the record, for the column CLAIMS. Null without claims.
 */
export function claimsMark({ claims, identity_conflict }: CnView): string | null {
  if (claims.length === 0) return null;
  return identity_conflict ? `${claims.length} (differs)` : String(claims.length);
}

/** Returns the claims of a node, one block each. */
export function claimsText(node: CnView): string {
  return node.claims.map((claim) => `claim ${plainText(claim.claim_code)}:\n${indented(claimBlock(claim, node))}`)
    .join("\n");
}

/** Returns the facts that an operator compares before the approval. */
export function approvalText({ claim, node }: ShownClaim): string {
  const { server_uuid, state, claims } = node;
  const others = claims.length - 1;
  const lines = [
    `Claim ${plainText(claim.claim_code)} of CN ${plainText(server_uuid)} (${plainText(state)}):`,
    indented(claimBlock(claim, node)),
    "Approve it only if the console of this machine shows the code.",
  ];
  if (state === "approved") {
    lines.push(
      "The node is approved already: approving replaces its key, and the agent with the old key is rejected.",
    );
  }
  if (others > 0) lines.push(`${others} other ${others === 1 ? "claim" : "claims"} of this node will be dropped.`);
  return lines.join("\n");
}

function claimBlock(claim: CnClaim, node: CnView): string {
  const record: Readonly<Record<CnClaim["differs"][number], string | null>> = {
    hostname: node.hostname,
    admin_ip: node.admin_ip,
    serial: serialOf(node.sysinfo),
    macs: macsOf(node.sysinfo).join(" ") || null,
  };
  const differs = claim.differs.map((field) => `${field} (the record has ${record[field] ?? "none"})`).join(", ");
  return blockText([
    ["hostname", claim.hostname],
    ["serial", claim.serial],
    ["macs", claim.macs.join(" ")],
    ["admin_ip", claim.admin_ip],
    ["source", claim.source],
    ["expires_at", claim.claim_code_expires_at],
    ["differs in", differs],
  ]);
}

function indented(text: string): string {
  return text.replace(/^/gm, "  ");
}
