// The server ignores a node's status that is repeated, or that arrives after a newer status. The server compares the
// timestamps that the node set (docs/reliability.md, R-30).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { nicsOf } from "../../nodeagent/address-bindings.ts";
import { vmStatus } from "../../nodeagent/vm-status.ts";
import { JSON_ELEMENTS_MAX } from "../../src/contract/limits.ts";
import { type Answer, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { openNode, placeInstance } from "./placed.ts";

type Node = Awaited<ReturnType<typeof openNode>>;

let t: TestControlPlane;
let other: TestControlPlane;
let tenant: TestTenant;
let node: Node;
/** The id of an instance on the node. Its recorded state is stopped. */
let instance: string;

beforeAll(async () => {
  t = await openTestControlPlane();
  other = await openTestControlPlane({ databaseUrl: t.databaseUrl });
  tenant = await openTenant(t);
});
beforeEach(async () => {
  node = await openNode(t);
  instance = await placeInstance(t, { on: node.id, of: tenant, state: "stopped" });
});
afterAll(async () => {
  await other?.close();
  await t?.close();
});

const at = (minute: number) => new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString();
const status = (state: string, timestamp?: string) => ({ payload: { vms: { [instance]: { state } }, timestamp } });
const tell = (body: unknown, { key = node.key, by = t } = {}): Promise<Answer> =>
  by.call("POST", "/v1/agent/status", { key, body });
const reported = async (...bodies: unknown[]) => {
  for (const body of bodies) okOf(await tell(body));
};

async function state(): Promise<string> {
  return okOf(await t.call("GET", `/v1/instances/${instance}`)).lifecycle.state;
}

async function signal() {
  const { rows: [row] } = await t.db.query<{ status_made_at: Date; last_seen: Date; last_status: unknown }>(
    "select status_made_at, last_seen, last_status from cn_signal where server_uuid = $1",
    [node.id],
  );
  return row!;
}

test("a repeated earlier status changes only the node's last_seen", async () => {
  await reported(status("running", at(1)), status("stopped", at(2)));
  await t.db.query("update cn_signal set last_seen = berth_now() - interval '1 hour' where server_uuid = $1", [
    node.id,
  ]);
  const before = await signal();
  await reported(status("running", at(1)));
  const after = await signal();
  expect([after.last_status, after.status_made_at]).toEqual([before.last_status, before.status_made_at]);
  expect(after.last_seen.getTime()).toBeGreaterThan(before.last_seen.getTime());
  expect(await state()).toBe("stopped");
});

test("a repeated last status does not undo a later operation", async () => {
  await reported(status("running", at(1)));
  await t.db.query("update instance set state = 'stopped', version = version + 1 where id = $1", [instance]);
  await reported(status("running", at(1)));
  expect(await state()).toBe("stopped");
});

test("a status that reports provisioning does not change a running or stopped instance, but it changes a failed instance", async () => {
  for (const [minute, seen] of [[1, "running"], [3, "stopped"]] as const) {
    await reported(status(seen, at(minute)), status("provisioning", at(minute + 1)));
    expect(await state()).toBe(seen);
  }
  await reported(status("failed", at(5)), status("provisioning", at(6)));
  expect(await state()).toBe("provisioning");
});

test("the tenant sees the node's reason for a failure as one line of limited length", async () => {
  const failed = (reason: unknown, minute: number) => ({
    payload: { vms: { [instance]: { state: "failed", reason } }, timestamp: at(minute) },
  });
  const lifecycle = async () => okOf(await t.call("GET", `/v1/instances/${instance}`)).lifecycle;
  await reported(failed("the guest's\n\tkernel\u0007panicked", 1));
  expect(await lifecycle()).toEqual({ state: "failed", reason: "the guest's kernel panicked" });
  await reported(status("running", at(2)), failed("x".repeat(5_000), 3));
  expect((await lifecycle()).reason).toHaveLength(2_048);
  await reported(status("running", at(4)), failed({ not: "text" }, 5));
  expect(await lifecycle()).toEqual({ state: "failed", reason: "its node reports it as failed" });
  await reported(status("running", at(6)), failed(" \n ", 7));
  expect(await lifecycle()).toEqual({ state: "failed", reason: "its node reports it as failed" });
});

test("a different status with the same timestamp is ignored", async () => {
  await reported(status("running", at(1)), status("stopped", at(1)));
  expect(await state()).toBe("running");
  await reported(status("stopped", new Date(Date.parse(at(1)) + 1).toISOString()));
  expect(await state()).toBe("stopped");
});

test("statuses that are older than the last status and omit the instance do not change found_on_host", async () => {
  const none = (minute: number) => ({ payload: { vms: {}, timestamp: at(minute) } });
  await reported(status("stopped", at(3)), none(1), none(2));
  expect(okOf(await t.call("GET", `/v1/instances/${instance}`)).found_on_host).toBe(true);
});

test("of twenty concurrent statuses at two processes, the status with the latest timestamp is kept", async () => {
  const minutes = Array.from({ length: 20 }, (_, index) => index + 1);
  const answers = minutes.toSorted((a, b) => a * 7 % 20 - b * 7 % 20)
    .map((minute) => tell(status("running", at(minute)), { by: minute % 2 === 0 ? t : other }));
  expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual(minutes.map(() => 200));
  expect((await signal()).status_made_at).toEqual(new Date(at(20)));
});

test("a status without a timestamp is accepted, and so is the next status, even with an older timestamp", async () => {
  await reported(status("running", at(5)), status("stopped"));
  expect(await state()).toBe("stopped");
  await reported(status("running", at(1)));
  expect(await state()).toBe("running");
});

test("a timestamp that is invalid or after the year 9999 counts as absent", async () => {
  await reported(status("running", "yesterday"));
  expect(await state()).toBe("running");
  await reported(status("stopped", "+020000-01-01T00:00:00.000Z"));
  expect(await state()).toBe("stopped");
});

test("a new enrolment of a node clears the time of its last status, even if the node's clock was ahead", async () => {
  await reported(status("running", at(60)));
  okOf(await t.call("POST", `/v1/cns/${node.id}/disable`));
  const { claim_code, poll_token } = await t.register({ server_uuid: node.id });
  okOf(await t.approve(claim_code));
  const path = `/v1/agent/register/status?poll_token=${poll_token}`;
  const { api_key: key } = okOf(await t.call("GET", path, { key: null }));
  okOf(await tell(status("stopped", at(1)), { key }));
  expect(await state()).toBe("stopped");
});

test("the time of a status from before the node's approval does not count", async () => {
  await reported(status("running", at(60)));
  await t.db.query("update cn set approved_at = berth_now() + interval '1 ms' where server_uuid = $1", [node.id]);
  await reported(status("stopped", at(1)));
  expect(await state()).toBe("stopped");
});

/** A report of VMs with two disks and two network cards each, as the agent makes it. */
function reportOf(ids: readonly string[]) {
  const two = <T>(make: () => T) => [make(), make()];
  const vm = (uuid: string) => ({
    ...vmStatus({
      uuid,
      state: "running",
      alias: "database-01",
      brand: "qemu",
      owner_uuid: tenant.tenant_id,
      cpu: 4,
      memory_bytes: 2 ** 33,
      disks: two(() => ({ id: randomUUID(), name: "database-01-data", size_bytes: 2 ** 40 })),
      nics: nicsOf(two(() => ({
        id: randomUUID(),
        name: "nic0",
        mac: "02:aa:bb:cc:dd:ee",
        primary_ipv4: "10.0.0.5",
        primary_ipv6: "fd00:1234:5678::5",
        vpc_id: randomUUID(),
        subnet_id: randomUUID(),
      })) as never),
      internal_metadata: {
        "cp:instance_id": uuid,
        "cp:tenant_id": tenant.tenant_id,
        "cp:project_id": tenant.project_id,
        "cp:identity_hmac": "a".repeat(64),
      },
      last_modified: at(0),
    }),
    reason: null,
    guest_interfaces: [{ name: "eth0", mac: "02:aa:bb:cc:dd:ee", addresses: ["10.0.0.5", "fd00:1234:5678::5"] }],
  });
  const metrics = {
    cpu_seconds: 123_456.789,
    memory_bytes: 2 ** 33,
    disk_read_bytes: 2 ** 40,
    disk_written_bytes: 2 ** 40,
    network_received_bytes: 2 ** 40,
    network_sent_bytes: 2 ** 40,
  };
  return {
    vms: Object.fromEntries(ids.map((id) => [id, vm(id)])),
    metrics: Object.fromEntries(ids.map((id) => [id, metrics])),
    timestamp: at(1),
  };
}

test("a report of a node with 2,000 VMs is stored", async () => {
  const { vms, ...others } = reportOf(Array.from({ length: 1_999 }, () => randomUUID()));
  okOf(await tell({ payload: { ...others, vms: { ...vms, [instance]: { state: "running" } } } }));
  expect(await state()).toBe("running");
});

test("only a node may send a report with more array items than other bodies may have", async () => {
  const payload = Array(JSON_ELEMENTS_MAX).fill(0);
  okOf(await tell({ payload }));
  for (const caller of [{}, { key: "no-such-key" }, { key: null }]) {
    expect(await t.call("POST", "/v1/agent/status", { ...caller, body: { payload } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(`more than ${JSON_ELEMENTS_MAX} array items`) },
    });
  }
});
