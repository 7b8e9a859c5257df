// Runs a command on nodes over the system's ssh, so that the user's ssh agent, certificates and jump hosts work. Nodes
// with QEMU accept the SSH keys in the setting cn.root_authorized_keys.
import { readFile } from "node:fs/promises";
import { type AnyCommand, command, each, wholeNumber } from "../../../framework.ts";
import { EXIT } from "../../../internal/exit-code.ts";
import { unreadable } from "../../../internal/file-problem.ts";
import { Failure, usageFailure } from "../../../internal/failure.ts";
import type { Io } from "../../../internal/io.ts";
import { withIo } from "../../../internal/run.ts";
import { inParallel } from "../../../internal/in-parallel.ts";
import { type Job, type NodeResult, runOnNode } from "./node-run.ts";
import { scriptCommand } from "./ssh-argv.ts";
import { targetsOf } from "./target.ts";

const JOBS_DEFAULT = 16;
const LIMIT_S_DEFAULT = 600;
const CONNECT_LIMIT_S_DEFAULT = 10;

export function exec(): AnyCommand {
  return command(
    "exec",
    "Run a command on nodes over ssh; exit code 1 if it fails on any node",
    "--nodes cn-17,cn-18 -- uptime",
  )
    .argument("[command...]", "command for the node's shell, or the arguments of --script; put -- in front")
    .option("--nodes <nodes>", "nodes, separated by commas; may be repeated; by default every approved node", each)
    .option("--script <file>", "copy this file to each node and run it there")
    .option("--jobs <number>", "number of nodes at a time", wholeNumber(1), JOBS_DEFAULT)
    .option("--user <name>", "user to log in as", "root")
    .option("--ssh-option <option>", "ssh -o option, for example Port=2222; may be repeated", each)
    .option("--connect-timeout <seconds>", "time limit to connect", wholeNumber(1), CONNECT_LIMIT_S_DEFAULT)
    .option("--timeout <seconds>", "time limit per node", wholeNumber(1), LIMIT_S_DEFAULT)
    .addHelpText(
      "after",
      "\nssh cannot ask questions here: load your key into the ssh agent, and add the nodes' host keys to known_hosts first.",
    )
    .action(withIo(async (io, words, options) => {
      const { input, remote } = await remoteCommand(words, options.script);
      const job: Job = {
        connect: { user: options.user, connect_limit_s: options.connectTimeout, options: options.sshOption ?? [] },
        remote,
        input,
        limit_s: options.timeout,
      };
      const names = (options.nodes ?? []).flatMap((text) => text.split(",")).filter((name) => name !== "");
      if (options.nodes !== undefined && names.length === 0) {
        throw usageFailure("--nodes is empty; name at least one node, or omit it for all approved nodes");
      }
      const targets = await targetsOf(io, names);
      const results = await inParallel(options.jobs, targets, (target) => runOnNode(io, target, job));
      if (io.environment.signal.aborted) throw new Failure("interrupted", EXIT.interrupted);
      report(io, results);
    }));
}

async function remoteCommand(words: readonly string[], script: string | undefined) {
  if (script === undefined) {
    if (words.length === 0) throw usageFailure("there is no command; give one after --, or a file with --script");
    return { remote: words.join(" "), input: null };
  }
  const input = await readFile(script).catch((error) => {
    throw unreadable(script, "--script", error);
  });
  return { remote: scriptCommand(input.length, words), input };
}

function report(io: Io, results: readonly NodeResult[]): void {
  if (io.json) io.print({ items: results }, "");
  const failed = results.filter(({ error }) => error !== null);
  if (failed.length === 0) return;
  const each = failed.map(({ node, error }) => `\n  ${node}: ${error}`).join("");
  throw new Failure(`failed on ${failed.length} of ${results.length} nodes:${each}`, EXIT.failure);
}
