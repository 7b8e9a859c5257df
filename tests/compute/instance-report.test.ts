// Tests the status reports of nodes, and their effect on the recorded state of instances (docs/instances.md).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { type ComputeFixture, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const stop = (id: string) => a.call("POST", `/v1/instances/${id}/stop`);
const lifecycle = async (id: string) => (await a.show(id)).lifecycle;

describe("a node's report", () => {
  const report = async (vms: object, more: object = {}) =>
    void okOf(await a.node.call("POST", "/v1/agent/status", { payload: { vms, ...more } }));
  const vm = (state: string, internal_metadata: object = {}) => ({ state, internal_metadata });

  test("overrides the recorded state of an instance without an operation in progress", async () => {
    const { id } = await a.running();
    await report({ [id]: vm("stopped") });
    expect(await lifecycle(id)).toEqual({ state: "stopped" });
    await report({ [id]: vm("running") });
    expect(await lifecycle(id)).toEqual({ state: "running" });
    await report({ [id]: vm("installed") });
    expect(await lifecycle(id)).toEqual({ state: "stopped" });
    for (const state of ["receiving", "sending", "configured", "incomplete", "destroyed", "unknown", "toString"]) {
      await report({ [id]: vm(state) });
      expect(await lifecycle(id)).toEqual({ state: "stopped" });
    }
    await report({ [id]: vm("failed") });
    expect(await lifecycle(id)).toEqual({ state: "failed", reason: "its node reports it as failed" });
    await report({ [id]: vm("running") });
    expect(await lifecycle(id)).toEqual({ state: "running" });
    await a.destroy(id);
  });

  test("is ignored while the instance has an operation in progress", async () => {
    const { id } = await a.running();
    const answer = stop(id);
    const job = await a.node.take();
    await report({ [id]: vm("running") });
    expect(await lifecycle(id)).toEqual({ state: "stopping" });
    await a.node.complete(job);
    expect(okOf(await answer).lifecycle).toEqual({ state: "stopped" });
    await a.destroy(id);
  });

  test("is ignored if it is older than the last accepted report", async () => {
    const { id } = await a.running();
    const made = (minute: number) => ({ timestamp: new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString() });
    await report({ [id]: vm("stopped") }, made(2));
    await report({ [id]: vm("running") }, made(1));
    expect(await lifecycle(id)).toEqual({ state: "stopped" });
    await report({ [id]: vm("running") }, made(3));
    expect(await lifecycle(id)).toEqual({ state: "running" });
    await a.destroy(id);
  });

  test("is ignored if it names another VM identity or comes from another node", async () => {
    const { id } = await a.running();
    await report({ [id]: vm("stopped", { "cp:identity_hmac": "0".repeat(64) }) });
    expect(await lifecycle(id)).toEqual({ state: "running" });
    const other = await a.t.approvedNode();
    const body = { payload: { vms: { [id]: vm("stopped") } } };
    okOf(await a.t.call("POST", "/v1/agent/status", { key: other.api_key, body }));
    expect(await lifecycle(id)).toEqual({ state: "running" });
    await a.destroy(id);
  });

  test("contains the guest's addresses; the instance shows them only if they are valid and the instance runs", async () => {
    const { id } = await a.running();
    const shown = async () => okOf(await a.call("GET", `/v1/instances/${id}`)).guest_interfaces;
    expect(await shown()).toBeNull();
    const guest_interfaces = [{ mac: "02:00:00:00:00:01", addresses: ["10.0.1.5", "fd00::5"] }];
    await report({ [id]: { ...vm("running"), guest_interfaces } });
    expect(await shown()).toEqual(guest_interfaces);
    const hostile = [{ mac: "02:00:00:00:00:01", addresses: ["<script>"] }];
    await report({ [id]: { ...vm("running"), guest_interfaces: hostile } });
    expect(await shown()).toBeNull();
    await report({ [id]: { ...vm("stopped"), guest_interfaces } });
    expect(await shown()).toBeNull();
    await a.destroy(id);
  });

  test("that lacks an instance, like the report before it, sets found_on_host to false and keeps the state", async () => {
    const { id } = await a.running();
    const found = async () => (await a.show(id)).found_on_host;
    await report({});
    expect(await found()).toBe(true);
    await report({});
    expect([await found(), await lifecycle(id)]).toEqual([false, { state: "running" }]);
    await report({});
    await report({ [id]: vm("running") });
    expect(await found()).toBe(true);
    okOf(await a.node.call("POST", "/v1/agent/status", { payload: { pools: [] } }));
    okOf(await a.node.call("POST", "/v1/agent/status", { payload: { vms: [] } }));
    expect(await found()).toBe(true);
    await a.destroy(id);
  });
});
