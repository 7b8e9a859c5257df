// Stores the network documents on disk: one file for each VPC, and one with the list of nodes. So the node can
// apply the documents after a boot, even without the control plane.
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { readPrivateFile, writeFileDurably } from "../../cli/internal/private-file.ts";
import { documentProblem } from "./document-check.ts";

export type DocumentStore = {
  all(): readonly NetworkDocument[];
  get(vpc_id: string): NetworkDocument | undefined;
  /** Stores a document. The document is on disk when the promise resolves. */
  put(document: NetworkDocument): Promise<void>;
  remove(vpc_id: string): Promise<void>;
  /** The nodes that may send packets of VPCs to this node: their underlay addresses. Null before the first list. */
  nodes(): readonly string[] | null;
  setNodes(underlay_addresses: readonly string[] | null): Promise<void>;
};

const NODES_FILE = "nodes.json";
const DOCUMENT_FILE = /^vpc-(.+)\.json$/;

/** Returns the folder of the documents in the agent's state directory. */
export function documentsFolder(state_dir: string): string {
  return join(state_dir, "network");
}

/**
 * Opens the store. Skips and logs a file that is damaged or that this agent cannot apply: the control plane sends its
 * document again.
 */
export async function openDocumentStore(folder: string, log: (line: string) => void): Promise<DocumentStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const documents = new Map<string, NetworkDocument>();
  for (const name of await readdir(folder)) {
    if (!DOCUMENT_FILE.test(name)) continue;
    const document = await readJson(join(folder, name), log);
    const problem = document === null ? "it is damaged" : documentProblem(document);
    if (problem === null) documents.set((document as NetworkDocument).vpc_id, document as NetworkDocument);
    else log(`network: ${name} is skipped: ${problem}`);
  }
  let nodes = await readJson(join(folder, NODES_FILE), log) as readonly string[] | null;
  if (!Array.isArray(nodes)) nodes = null;
  const fileOf = (vpc_id: string) => join(folder, `vpc-${vpc_id}.json`);
  return {
    all: () => [...documents.values()],
    get: (vpc_id) => documents.get(vpc_id),
    put: async (document) => {
      await writeFileDurably(fileOf(document.vpc_id), `${JSON.stringify(document)}\n`);
      documents.set(document.vpc_id, document);
    },
    remove: async (vpc_id) => {
      await rm(fileOf(vpc_id), { force: true });
      documents.delete(vpc_id);
    },
    nodes: () => nodes,
    setNodes: async (underlay_addresses) => {
      const path = join(folder, NODES_FILE);
      if (underlay_addresses === null) await rm(path, { force: true });
      else await writeFileDurably(path, `${JSON.stringify(underlay_addresses)}\n`);
      nodes = underlay_addresses;
    },
  };
}

/** Returns the content of a JSON file; null if it does not exist or is damaged. */
async function readJson(path: string, log: (line: string) => void): Promise<unknown> {
  const text = await readPrivateFile(path);
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    log(`network: ${path} is damaged`);
    return null;
  }
}
