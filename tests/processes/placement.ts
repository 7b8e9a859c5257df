// Places an instance on a node with the engine's commit call: takes the lock `cn:<id>`, checks the guard that the node
// is approved, and inserts the instance's row.
import { CommitError, type Unit } from "../../actors/engine/store.ts";
import { behaviors } from "../../actors/registry.ts";
import { fault } from "../../src/contract/fault.ts";
import type { Db } from "../../src/db/pool.ts";
import { createStore } from "../../src/db/store.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { insertInstance } from "../support/instance-row.ts";

export type Placement = {
  place(node: string): Promise<"placed" | "refused">;
};

export function createPlacement(db: Db): Placement {
  const store = createStore(db, behaviors);
  const { newId } = productionPorts();
  let model: Promise<InstanceRow> | undefined;

  /** Creates an instance that is on no node. The placed instances are copies of it, with the same owner and image. */
  async function modelInstance(): Promise<InstanceRow> {
    const { rows: [made] } = await db.query<{ id: string }>(insertInstance());
    return (await db.query<InstanceRow>("select * from instance where id = $1", [made!.id])).rows[0]!;
  }

  return {
    async place(node) {
      const unit = placementUnit({ ...await (model ??= modelInstance()), host_cn_uuid: node }, newId);
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

type InstanceRow = Readonly<Record<string, unknown>>;

function placementUnit(of: InstanceRow & { readonly host_cn_uuid: string }, newId: () => string): Unit {
  const server_uuid = of.host_cn_uuid;
  const id = newId();
  const row = {
    ...of,
    id,
    name: id,
    incarnation: newId(),
    state: "pending",
    operation_id: id,
    operation_kind: "create",
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
