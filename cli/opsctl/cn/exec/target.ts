// Finds the nodes that a command runs on, and their addresses.
import { isIP } from "node:net";
import type { CnView } from "../../../../src/contract/cn.ts";
import { EXIT } from "../../../internal/exit-code.ts";
import { Failure } from "../../../internal/failure.ts";
import type { Io } from "../../../internal/io.ts";
import { NODES_PATH, pickNode } from "../../node-name.ts";

export type Target = {
  readonly server_uuid: string;
  /** The hostname, with the start of the UUID if two nodes share it. */
  readonly title: string;
  /** Null if the node has no usable address. */
  readonly admin_ip: string | null;
};

const UUID_CHARS_SHOWN = 8;

/** Returns the named nodes, each once; without names, every approved node. */
export async function targetsOf(io: Io, names: readonly string[]): Promise<Target[]> {
  const all = await io.all<CnView>(NODES_PATH, names.length === 0 ? { state: "approved" } : {});
  const nodes = names.length === 0 ? all : [...new Set(names.map((name) => pickNode(all, name)))];
  if (nodes.length === 0) throw new Failure("no compute node is approved; run: opsctl cn list", EXIT.not_found);
  const shared = (hostname: string) => nodes.filter((node) => node.hostname === hostname).length > 1;
  return nodes.map(({ server_uuid, hostname, admin_ip }) => ({
    server_uuid,
    title: shared(hostname) ? `${hostname}/${server_uuid.slice(0, UUID_CHARS_SHOWN)}` : hostname,
    // ssh would read any other text as a host name or an option.
    admin_ip: admin_ip !== null && isIP(admin_ip) !== 0 ? admin_ip : null,
  }));
}
