import { type AnyCommand, group } from "../cli/framework.ts";
import { VERSION } from "../cli/version.ts";
import { check } from "./check.ts";
import { run } from "./run.ts";

export function buildAgent(): AnyCommand {
  const root = group("nodeagent", "Run the agent of a Berth compute node", [run(), check()]);
  root.version(VERSION, "-V, --version", "print the version");
  return root;
}
