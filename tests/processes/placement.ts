// Places an instance on a node through the engine's own commit call: the lock `cn:<id>`, then the guard that the node is
// approved, then the row.
import { CommitError, type Unit } from "../../actors/engine/store.ts";
import { behaviors } from "../../actors/registry.ts";
import { fault } from "../../src/contract/fault.ts";
import type { Db } from "../../src/db/pool.ts";
import { createStore } from "../../src/db/store.ts";
import { productionPorts } from "../../src/workers/ports.ts";

export type Placement = {
  place(node: string): Promise<"placed" | "refused">;
};

export function createPlacement(db: Db): Placement {
  const store = createStore(db, behaviors);
  const { newId } = productionPorts();
  return {
    async place(node) {
      const unit = placementUnit(node, newId);
      for (;;) {
        try {
          const [result] = await store.commit([unit]);
          if (result?.status !== "done") throw new Error(`an unconditional unit ended as ${result?.status}`);
          return result.choice === 0 ? "placed" : "refused";
        } catch (error) {
          if (!(error instanceof CommitError && error.reason === "busy")) throw error;
        }
      }
    },
  };
}

function placementUnit(server_uuid: string, newId: () => string): Unit {
  const row = {
    id: newId(),
    incarnation: newId(),
    version: 1,
    wake_at: null,
    state: "pending",
    host_cn_uuid: server_uuid,
  };
  const not_approved = fault("conflict", "the node is not approved");
  return {
    actors: [],
    stale_ids: [],
    choices: [{
      conditions: [
        { do: "lock", key: `cn:${server_uuid}`, shared: false },
        { do: "guard", name: "cn_is_approved", args: { server_uuid }, fault: not_approved },
      ],
      rows: [],
      children: [{ op: "insert", table: "instance", key: [], row }],
      transitions: [],
      replies: [{ msg_id: newId(), reply: { ok: null } }],
      outbox: [],
    }],
  };
}
