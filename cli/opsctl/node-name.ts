// A node may be named by its UUID, a unique prefix of it, or its hostname.
import type { CnView } from "../../src/contract/cn.ts";
import { EXIT } from "../kit/exit-code.ts";
import { Failure, usageFailure } from "../kit/failure.ts";
import type { Io } from "../kit/io.ts";
import { plainText } from "../kit/plain-text.ts";

export const NODES_PATH = "/v1/system/cns";
export const NODE_ARGUMENT = ["<node>", "UUID, unique UUID prefix or hostname"] as const;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PREFIX_CHARS_MIN = 4;
const CANDIDATES_SHOWN = 10;

/** A whole UUID is taken as it is; anything else is looked up in the list of nodes. */
export async function resolveNode(io: Io, name: string): Promise<string> {
  return isNodeId(name) ? name.toLowerCase() : pickNode(await io.all<CnView>(NODES_PATH), name).server_uuid;
}

/** The record of a node. */
export async function findNode(io: Io, name: string): Promise<CnView> {
  if (isNodeId(name)) return await io.get<CnView>(`${NODES_PATH}/${name.toLowerCase()}`);
  return pickNode(await io.all<CnView>(NODES_PATH), name);
}

/** Throws a Failure unless the name fits exactly one of the nodes. */
export function pickNode(nodes: readonly CnView[], name: string): CnView {
  const found = nodes.filter((node) => isNamed(node, name));
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new Failure(`no compute node is called ${name}`, EXIT.not_found);
  const shown = found.slice(0, CANDIDATES_SHOWN).map((node) => `\n  ${node.server_uuid}  ${node.hostname}`);
  const more = found.length > CANDIDATES_SHOWN ? `\n  and ${found.length - CANDIDATES_SHOWN} more` : "";
  throw usageFailure(`${name} fits ${found.length} compute nodes; use the UUID of one:${shown.join("")}${more}`);
}

export function isNodeId(name: string): boolean {
  return UUID.test(name);
}

/** `rack1-n4 (3f2a9c1e-...)`, safe to print. */
export function nodeTitle({ hostname, server_uuid }: Pick<CnView, "hostname" | "server_uuid">): string {
  return `${plainText(hostname)} (${plainText(server_uuid)})`;
}

// A hostname that looks like another node's prefix counts for both: a guess could disable the wrong machine.
function isNamed(node: CnView, name: string): boolean {
  const wanted = name.toLowerCase();
  if (isNodeId(name)) return node.server_uuid.toLowerCase() === wanted;
  return node.hostname.toLowerCase() === wanted ||
    (wanted.length >= PREFIX_CHARS_MIN && node.server_uuid.toLowerCase().startsWith(wanted));
}
