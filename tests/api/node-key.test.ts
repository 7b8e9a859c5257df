// The key of a node and the record of the node refer to each other (INV-9). After the key is deleted through the API,
// no reference to the key may remain.
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokenInvariants } from "../doctor/broken.ts";
import { okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());

const show = async (server_uuid: string) => okOf(await t.call("GET", `/v1/system/cns/${server_uuid}`));
const remove = (key_id: string) => t.call("DELETE", `/v1/auth/api-keys/${key_id}`);
const heartbeat = (key: string) => t.call("POST", "/v1/agent/heartbeat", { key });

test("the key of an approved node cannot be deleted, and the error names the possible next steps", async () => {
  const { server_uuid, api_key } = await t.approvedNode();
  const { bound_api_key_id } = await show(server_uuid);
  const refused = await remove(bound_api_key_id);
  expect(refused).toMatchObject({
    status: 409,
    body: {
      message:
        "cn is approved and this is its API key; disable the node before deleting the key (opsctl cn disable), " +
        "or approve a new registration of the node, which replaces the key",
      error_code: "Conflict",
    },
  });
  expect((await heartbeat(api_key)).status).toBe(200);
  expect(await brokenInvariants(t.db)).toEqual([]);
});

test("deleting the key of a disabled node also clears the node's reference to the key", async () => {
  const { server_uuid, api_key } = await t.approvedNode();
  const { bound_api_key_id } = await show(server_uuid);
  okOf(await t.call("POST", `/v1/cns/${server_uuid}/disable`));
  expect((await remove(bound_api_key_id)).status).toBe(204);
  expect(await show(server_uuid)).toMatchObject({ state: "disabled", bound_api_key_id: null });
  expect((await heartbeat(api_key)).status).toBe(401);
  expect((await remove(bound_api_key_id)).status).toBe(404);
  expect(await brokenInvariants(t.db)).toEqual([]);
  okOf(await t.call("DELETE", `/v1/cns/${server_uuid}`));
});

test("a pending node has no key", async () => {
  const { server_uuid } = await t.register();
  expect(await show(server_uuid)).toMatchObject({ state: "pending", bound_api_key_id: null });
  const keys = okOf(await t.call("GET", "/v1/auth/api-keys", { key: ROOT_KEY }));
  expect(keys.filter((key: { bound_to_cn: string | null }) => key.bound_to_cn === server_uuid)).toEqual([]);
});

test("deleting a key and disabling its node at the same time leaves no dangling reference, in either order", async () => {
  for (let round = 0; round < 10; round++) {
    const { server_uuid } = await t.approvedNode();
    const { bound_api_key_id } = await show(server_uuid);
    const [disabled, removed] = await Promise.all([
      t.call("POST", `/v1/cns/${server_uuid}/disable`),
      remove(bound_api_key_id),
    ]);
    expect([disabled.status, [204, 409].includes(removed.status)]).toEqual([200, true]);
    const { bound_api_key_id: left } = await show(server_uuid);
    expect(left).toBe(removed.status === 204 ? null : bound_api_key_id);
  }
  expect(await brokenInvariants(t.db)).toEqual([]);
});
