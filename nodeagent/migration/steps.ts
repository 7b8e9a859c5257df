// Runs the jobs of a migration. docs/reliability.md, "Migration of instances".
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { Job } from "../../src/contract/job.ts";
import type { Agent } from "../agent.ts";
import type { JobContext } from "../job-steps.ts";
import type { VmPlan } from "../driver.ts";
import { linkTo, type Target } from "./link.ts";
import { sha256Hex } from "./listener.ts";
import type { Moving } from "./migrations.ts";

export function movingOf({ kind }: Job): Moving {
  const { instance_id, migration_id, live } = kind;
  if (typeof instance_id !== "string" || typeof migration_id !== "string") {
    throw new Failure("the job names no migration", EXIT.failure);
  }
  return { instance_id, migration_id, live: live === true };
}

async function ticketOf(context: JobContext): Promise<string> {
  const ticket = (await context.blueprint()).migration_ticket;
  if (typeof ticket === "string") return ticket;
  throw new Failure("the control plane gave no ticket for the migration", EXIT.failure);
}

export async function receive(context: JobContext, plan: VmPlan): Promise<unknown> {
  const { agent: { driver, environment, listener }, job } = context;
  await driver.migrations.receive(plan, movingOf(job), sha256Hex(await ticketOf(context)));
  await driver.network.untilRouted(plan.nics.map(({ vpc_id }) => vpc_id), environment.signal);
  return await listener.start();
}

export async function send(context: JobContext): Promise<unknown> {
  const { agent, job } = context;
  const { bandwidth_bytes_per_s, listener } = job.kind;
  const target = listener as Partial<Target> | null | undefined;
  if (
    typeof target?.address !== "string" || typeof target.port !== "number" || typeof target.certificate !== "string"
  ) {
    throw new Failure("the job does not contain the address, the port and the certificate of the target", EXIT.failure);
  }
  const moving = movingOf(job);
  const link = linkTo(target as Target, moving, await ticketOf(context));
  return await agent.driver.migrations.send(moving, link, {
    bandwidth_bytes_per_s: typeof bandwidth_bytes_per_s === "number" ? bandwidth_bytes_per_s : 0,
    signal: agent.environment.signal,
    onProgress: context.onProgress,
    isWanted: context.isWanted,
  });
}

export async function activate(agent: Agent, job: Job): Promise<unknown> {
  return await agent.driver.migrations.activate(movingOf(job));
}
