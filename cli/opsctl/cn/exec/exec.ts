// Runs a command on nodes over the system's own ssh, so that agents, certificates and jump hosts work as they do for the
// user. The keys are the operator's; nodes take them from the setting cn.root_authorized_keys.
import { readFile } from "node:fs/promises";
import { type AnyCommand, command, each, wholeNumber } from "../../../framework.ts";
import { EXIT } from "../../../internal/exit-code.ts";
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
  return command("exec", "Run a command on nodes over ssh; exit code 1 when it failed on any")
    .argument("[command...]", "command for the node's shell; with --script, arguments of the script. Put -- before it")
    .option("--nodes <nodes>", "nodes, separated by commas; may be repeated; left out, every approved node", each)
    .option("--script <file>", "copy this file to each node and run it there")
    .option("--jobs <number>", "how many nodes at a time", wholeNumber(1), JOBS_DEFAULT)
    .option("--user <name>", "user to log in as", "root")
    .option("--ssh-option <option>", "option for ssh -o, for example Port=2222; may be repeated", each)
    .option("--connect-timeout <seconds>", "longest time to connect", wholeNumber(1), CONNECT_LIMIT_S_DEFAULT)
    .option("--timeout <seconds>", "longest time on one node", wholeNumber(1), LIMIT_S_DEFAULT)
    .addHelpText("after", "\nssh asks nothing here: keys come from your agent, host keys must be known already.")
    .action(withIo(async (io, argv, options) => {
      const { input, remote } = await whatToRun(argv, options.script);
      const job: Job = {
        connect: { user: options.user, connect_limit_s: options.connectTimeout, options: options.sshOption ?? [] },
        remote,
        input,
        limit_s: options.timeout,
      };
      const names = (options.nodes ?? []).flatMap((text) => text.split(",")).filter((name) => name !== "");
      if (options.nodes !== undefined && names.length === 0) throw usageFailure("--nodes names no node");
      const targets = await targetsOf(io, names);
      const results = await inParallel(options.jobs, targets, (target) => runOnNode(io, target, job));
      if (io.environment.signal.aborted) throw new Failure("interrupted", EXIT.interrupted);
      report(io, results);
    }));
}

async function whatToRun(argv: readonly string[], script: string | undefined) {
  if (script === undefined) {
    if (argv.length === 0) throw usageFailure("name a command to run, or a file with --script");
    return { remote: argv.join(" "), input: null };
  }
  const input = await readFile(script).catch((error) => {
    throw new Failure(`cannot read ${script}: ${(error as Error).message}`, EXIT.failure);
  });
  return { remote: scriptCommand(input.length, argv), input };
}

function report(io: Io, results: readonly NodeResult[]): void {
  if (io.json) io.print({ items: results }, "");
  const failed = results.filter(({ error }) => error !== null);
  if (failed.length === 0) return;
  const each = failed.map(({ node, error }) => `\n  ${node}: ${error}`).join("");
  throw new Failure(`failed on ${failed.length} of ${results.length} nodes:${each}`, EXIT.failure);
}
