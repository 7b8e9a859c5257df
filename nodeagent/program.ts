import { addHidden, type AnyCommand, group } from "../cli/framework.ts";
import { VERSION } from "../cli/version.ts";
import { check } from "./check.ts";
import { netboot } from "./netboot/commands.ts";
import { network } from "./network-commands.ts";
import { run } from "./run.ts";
import { serveGuestsCommand } from "./serve-guests.ts";

export function buildAgent(): AnyCommand {
  const root = group("nodeagent", "Run the agent of a Berth compute node", [run(), check(), network()]);
  addHidden(root, serveGuestsCommand());
  addHidden(root, netboot());
  root.version(VERSION, "-V, --version", "print the version");
  return root;
}
