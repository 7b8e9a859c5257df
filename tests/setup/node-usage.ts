// Adds rows that exist for a node in use, for tests of factory reset and removal.
import { capacity } from "../api/bodies.ts";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";
import { onNode, type Run } from "./machine.ts";

/** Adds the rows that an agent and operators leave on a working node. */
export async function addUsage(t: TestControlPlane, run: Run): Promise<void> {
  const agent = (path: string, body?: unknown) => t.call("POST", `/v1/agent/${path}`, { key: run.api_key, body });
  okOf(await agent("status", { payload: { pools: ["zones"] } }));
  okOf(await agent("capacity", capacity()));
  okOf(await onNode(t, "POST", run, "/role", { role: "both" }));
  okOf(await onNode(t, "POST", run, "/reservoir", { reservoir_enabled: false, reservoir_percent: 0.5 }));
  okOf(await onNode(t, "POST", run, "/traits", { traits: { rack: "7" } }));
  okOf(await onNode(t, "POST", run, "/root-password", { password: "a long enough secret" }));
  const of = [run.server_uuid];
  await t.db.query("insert into cn_nic_tag values ($1, 'admin', 'e0', null, null)", of);
  await t.db.query("insert into cn_load_summary values ($1, '{}', now())", of);
  const expired = "insert into placement_reservation values ($1, gen_random_uuid(), gen_random_uuid(), 'epoch')";
  await t.db.query(expired, of);
}
