// Compares the instances in the database with the answers that clients got and with the VMs that nodes run.
import type { FleetReport } from "../bench/agents-process.ts";
import type { Created } from "../bench/creates-client.ts";
import type { DbClient } from "../../src/db/pool.ts";

export type Found = {
  readonly id: string;
  readonly name: string;
  readonly host_cn_uuid: string | null;
};

export async function findInstances(db: DbClient): Promise<Found[]> {
  return (await db.query<Found>("select id, name, host_cn_uuid from instance")).rows;
}

/**
 * Lists violations. Each acknowledged instance must exist once, with the acknowledged id. No instance may exist that
 * was refused for lack of room or that no client requested. No create may fail for another reason, or have an unknown
 * outcome.
 */
export function clientViolations(all: readonly Created[], instances: readonly Found[]): string[] {
  const by_name = Map.groupBy(instances, ({ name }) => name);
  const names = new Set(all.map(({ name }) => name));
  const unrequested = instances.filter(({ name }) => !names.has(name)).map(({ name }) => `no client requested ${name}`);
  return [
    ...unrequested,
    ...all.flatMap(({ name, outcome, id, said }) => {
      const found = by_name.get(name) ?? [];
      if (found.length > 1) return [`${name} exists ${found.length} times`];
      switch (outcome) {
        case "acknowledged":
          return found[0]?.id === id ? [] : [`${name} was acknowledged as ${id}, but ${found[0]?.id ?? "none"} exists`];
        case "no_room":
          return found.length === 0 ? [] : [`${name} was refused but exists as ${found[0]?.id}`];
        case "failed":
        case "unknown":
          return [`${name}: ${outcome}: ${said ?? "never answered"}`];
      }
    }),
  ];
}

/**
 * Lists violations of the rule that each node runs exactly the instances that the database places on it. Also lists the
 * statuses with which servers refused requests of agents, except 409, 429 and server errors.
 */
export function nodeViolations({ vms, refused }: FleetReport, instances: readonly Found[]): string[] {
  const on = Map.groupBy(instances, ({ host_cn_uuid }) => host_cn_uuid);
  return [
    ...Object.entries(vms).flatMap(([node, ids]) => {
      const expected = (on.get(node) ?? []).map(({ id }) => id);
      const missing = expected.filter((id) => !ids.includes(id)).map((id) => `${node} does not run ${id}`);
      const extra = ids.filter((id) => !expected.includes(id)).map((id) =>
        `${node} runs ${id}, which is placed elsewhere`
      );
      return [...missing, ...extra];
    }),
    ...Object.entries(refused).filter(([status]) => Number(status) < 500 && status !== "429" && status !== "409")
      .map(([status, count]) => `agents were refused with ${status}, ${count} times`),
  ];
}
