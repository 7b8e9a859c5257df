// Simulates the machine of a light agent (agents-node.ts). The machine stores only the id and the state of each
// instance. A job does no work, and ends at once with success or failure.
import type { Blueprint, Job } from "../../src/contract/job.ts";

export type LightMachine = {
  /**
   * Does a job. Returns null, or the reason if the job fails. Reads the blueprint only if the job needs a blueprint.
   */
  work(job: Job, blueprint: () => Promise<Blueprint | null>): Promise<string | null>;
  /** Undoes the node's part of a cancelled job. */
  undo(job: Job): void;
  /** Returns the ids of the instances. */
  names(): readonly string[];
  /** Returns the instances for a status report. */
  vms(): Readonly<Record<string, { readonly state: string }>>;
};

export function lightMachine(): LightMachine {
  const states = new Map<string, "running" | "stopped">();

  function change(id: string, state: "running" | "stopped"): string | null {
    if (!states.has(id)) return "there is no such instance on this node";
    states.set(id, state);
    return null;
  }

  return {
    async work({ kind }, blueprint) {
      const id = String(kind["instance_id"]);
      switch (kind.kind) {
        case "provision": {
          const plan = await blueprint();
          if (plan === null || plan.instance === null) return "the instance is gone";
          if (plan.nics.length === 0 || plan.disks.length === 0) return "the blueprint has no NIC or no disk";
          states.set(id, "running");
          return null;
        }
        case "start":
        case "restart":
        case "reset":
          return change(id, "running");
        case "stop":
          return change(id, "stopped");
        case "delete":
          states.delete(id);
          return null;
        default:
          return "this agent does not know this kind of job";
      }
    },
    undo({ kind }) {
      const id = String(kind["instance_id"]);
      if (kind.kind === "provision") states.delete(id);
      if (kind.kind === "start") change(id, "stopped");
    },
    names: () => [...states.keys()],
    vms: () => Object.fromEntries([...states].map(([id, state]) => [id, { state }])),
  };
}
