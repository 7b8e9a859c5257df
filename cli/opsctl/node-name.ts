// Finds a node by its UUID, a unique prefix of the UUID, or its hostname.
import type { CnView } from "../../src/contract/cn.ts";
import type { Question } from "../internal/confirmation.ts";
import type { Io } from "../internal/io.ts";
import { plainText } from "../internal/plain-text.ts";
import { isUuid, pickRecord, type RecordKind } from "../internal/record-name.ts";

export const NODES_PATH = "/v1/system/cns";
export const NODE_ARGUMENT = ["<node>", "UUID, unique UUID prefix or hostname"] as const;
export const NODES_ARGUMENT = ["<node...>", "UUID, unique UUID prefix or hostname"] as const;

const NODE: RecordKind<CnView> = {
  one: "compute node",
  many: "compute nodes",
  list: "opsctl cn list",
  id: (node) => node.server_uuid,
  title: (node) => node.hostname,
  isCalled: (node, name) => node.hostname.toLowerCase() === name.toLowerCase(),
};

/** Returns the UUID of a node. A complete UUID needs no request; any other name is looked up in the list of nodes. */
export async function resolveNode(io: Io, name: string): Promise<string> {
  return isUuid(name) ? name.toLowerCase() : pickNode(await io.all<CnView>(NODES_PATH), name).server_uuid;
}

/** Returns the whole record of a node, including fields that lists omit. */
export async function findNode(io: Io, name: string): Promise<CnView> {
  return await io.get<CnView>(`${NODES_PATH}/${await resolveNode(io, name)}`);
}

/** Returns the node that matches the name. Throws a Failure unless there is exactly one. */
export function pickNode(nodes: readonly CnView[], name: string): CnView {
  return pickRecord(nodes, name, NODE);
}

/** Returns `rack1-n4 (3f2a9c1e-...)`, safe to print. */
export function nodeTitle({ hostname, server_uuid }: Pick<CnView, "hostname" | "server_uuid">): string {
  return `${plainText(hostname)} (${plainText(server_uuid)})`;
}

/** Returns the question before a dangerous action on a node. The operator answers with the node's hostname or UUID. */
export async function askAbout(io: Io, server_uuid: string, warning: (title: string) => string): Promise<Question> {
  const node = await findNode(io, server_uuid);
  return { warning: warning(nodeTitle(node)), names: [node.hostname, node.server_uuid] };
}
