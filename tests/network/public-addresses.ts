// Provides steps for tests of public addresses. The steps create gateways, floating IPs and external networks through
// the API.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { type Answer, okOf, type TestControlPlane } from "../support/control-plane.ts";
import type { TestTenant } from "../tenancy/tenant.ts";

export async function makeVpc(a: TestTenant): Promise<string> {
  const body = { name: randomUUID(), ipv4_block: "10.0.0.0/16", ipv6_block: "fd00::/48" };
  return okOf(await a.call("POST", `/v1/vpcs${a.selectors}`, { body })).id;
}

export function makeGateway(a: TestTenant, vpc: string, fields: object = {}): Promise<Answer> {
  return a.call("POST", `/v1/nat-gateways?vpc=${vpc}`, { body: { name: randomUUID(), ...fields } });
}

export function makeFloatingIp(a: TestTenant, fields: object = { family: "v4" }): Promise<Answer> {
  return a.call("POST", `/v1/floating-ips${a.selectors}`, { body: { name: randomUUID(), ...fields } });
}

/** Creates an external subnet, on a new NIC tag unless one is given. */
export async function makeNetwork(t: TestControlPlane, fields: { nic_tag?: string; [field: string]: unknown }) {
  const nic_tag = fields.nic_tag ?? await makeTag(t);
  const body = { name: randomUUID(), ...fields, nic_tag };
  return okOf(await t.call("POST", "/v1/system/external-subnets", { body }));
}

export async function makeTag(t: TestControlPlane, name: string = randomUUID()): Promise<string> {
  return okOf(await t.call("POST", "/v1/system/nic-tags", { body: { name, mtu: 1_500 } })).name;
}

export async function makePool(t: TestControlPlane, networks: readonly string[], fields: object = {}): Promise<string> {
  const body = { name: randomUUID(), networks, ...fields };
  return okOf(await t.call("POST", "/v1/system/network-pools", { body })).id;
}

/** Leaves only the offsets in `left` free in a built-in pool, as if all other addresses were allocated. */
export async function leaveOnly(t: TestControlPlane, pool: string, left: readonly number[]): Promise<void> {
  await t.db.query("delete from pool_range where pool_id = $1", [pool]);
  await t.db.query("insert into pool_range select $1, n, n from unnest($2::bigint[]) n", [pool, left]);
}

export function expectRefused(answer: Answer, status: number, error_code: string, message: string): void {
  const { body } = answer;
  expect({ status: answer.status, error_code: body?.error_code, message: body?.message })
    .toEqual({ status, error_code, message });
}

export const conflictWith = (answer: Answer, message: string) => expectRefused(answer, 409, "Conflict", message);
export const notFound = (answer: Answer) => expectRefused(answer, 404, "NotFound", "Not Found");

/** Returns the ended operation that an audit entry of this action names. Throws if there is no such entry. */
export async function operationOf(t: TestControlPlane, action: string, id: string) {
  const { events } = (await t.call("GET", "/v1/audit/events?limit=1000")).body;
  const found = events.findLast((each: { action: string; resource: string | null }) =>
    each.action === action && each.resource?.includes(id)
  );
  if (found === undefined) throw new Error(`no audit entry ${action} of ${id}`);
  return await ended(t, found.payload.operation_id);
}

/** Waits for the end of the operation and returns it. */
export async function ended(t: TestControlPlane, operation_id: string) {
  for (;;) {
    const operation = okOf(await t.call("GET", `/v1/operations/${operation_id}?wait=20`));
    if (!["running", "unwinding"].includes(operation.state)) return operation;
  }
}

/** Rolls an operation back as if it had been abandoned after its first step. */
export async function takeBack(
  t: TestControlPlane,
  operation: { readonly id: string; readonly steps: { name: string }[] },
) {
  await t.db.query(
    `update saga set state = 'unwinding', step = $2, attempts = 0, due_at = berth_now(), done_at = null,
            wake_at = berth_now(), version = version + 1 where id = $1`,
    [operation.id, operation.steps[0]?.name],
  );
  return await ended(t, operation.id);
}
