// Tests lists for operators: the instances on a node with their owners and sizes, and the nodes in a state. Tests that
// `cn disable` asks for confirmation.
import { afterAll, beforeAll, expect, test } from "vitest";
import { CN_STATES } from "../../src/contract/enums.ts";
import { bareMachine } from "../api/bare-machine.ts";
import { type ComputeFixture, GIB, openComputeFixture } from "../compute/compute-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner } from "./at-control-plane.ts";

let a: ComputeFixture;
let at: OpsctlRunner;
beforeAll(async () => {
  a = await openComputeFixture();
  at = opsctlAt(a.t);
});
afterAll(() => a.t.close());

test("`system cn-instances` shows name, state, tenant, project and size", async () => {
  const { id } = await a.running({ name: "web-1", cpu: 3, memory_bytes: 6 * GIB, disk_bytes: 20 * GIB });
  const { name: silo } = okOf(await a.t.call("GET", `/v1/silos/${a.tenant.silo_id}`));
  const { name: tenant } = okOf(
    await a.t.call("GET", `/v1/silos/${a.tenant.silo_id}/tenants/${a.tenant.tenant_id}`),
  );
  const path = `/v1/tenants/${a.tenant.tenant_id}/projects/${a.tenant.project_id}`;
  const { name: project } = okOf(await a.t.call("GET", path));
  const [head, row = ""] = (await at.printed(`system cn-instances ${a.node.server_uuid}`)).split("\n");
  expect(head).toMatch(/^NAME +ID +STATE +TENANT +PROJECT +CPU +MEMORY +DISK$/);
  expect(row.split(/ {2,}/)).toEqual(["web-1", id, "running", `${silo}/${tenant}`, project, "3", "6GiB", "20GiB"]);
  const [shown] = (await at.json<{ items: unknown[] }>(`system cn-instances ${a.node.server_uuid}`)).items;
  expect(shown).toMatchObject({ tenant_id: a.tenant.tenant_id, project_id: a.tenant.project_id, cpu: 3 });
});

test("`cn disable` names the instances on the node and asks for confirmation; `cn enable` makes the node approved again", async () => {
  const { id } = await a.running({ name: "web-2" });
  const { server_uuid } = a.node;
  const refused = await at.run(`cn disable ${server_uuid}`);
  expect(refused.code).toBe(2);
  expect(refused.err()).toContain("--yes");
  const asked = await at.run(`cn disable ${server_uuid}`, { isTTY: true, typed: ["no"] });
  expect(asked.code).toBe(1);
  expect(asked.err()).toContain(`  web-2 (${id}, running)`);
  expect((await at.run(`cn disable ${server_uuid} --yes`)).code).toBe(0);
  expect((await at.json<{ state: string }>(`cn show ${server_uuid}`)).state).toBe("disabled");
  expect((await at.json<{ state: string }>(`cn enable ${server_uuid}`)).state).toBe("approved");
  expect(okOf(await a.node.call("GET", "/v1/agent/config")).state).toBe("approved");
});

test("`cn list --state` lists the nodes in each state, and rejects a word that is not a state", async () => {
  await a.t.register();
  const disabled = await a.t.approvedNode();
  okOf(await a.t.call("POST", `/v1/cns/${disabled.server_uuid}/disable`));
  await bareMachine(a.t, "awaiting_setup");
  await bareMachine(a.t, "setting_up");
  for (const state of CN_STATES) {
    const { items } = await at.json<{ items: { state: string }[] }>(`cn list --state ${state}`);
    expect([state, new Set(items.map((each) => each.state))]).toEqual([state, new Set([state])]);
  }
  expect((await at.run("cn list --state gone")).code).toBe(2);
});
