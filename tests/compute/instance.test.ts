// Instances are updated and shown, and the objects that they use cannot be deleted (docs/instances.md).
import { afterAll, beforeAll, expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { conflictWith } from "../network/public-addresses.ts";
import { type ComputeFixture, openComputeFixture, SEEN_AHEAD_S } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

test("an update changes name and description, and keeps omitted fields", async () => {
  const { id, name } = await a.running({ description: "before" });
  const patch = (body: object) => a.call("PATCH", `/v1/instances/${id}`, { body });
  expect(okOf(await patch({ description: "after" }))).toMatchObject({ name, description: "after", host_live: true });
  expect(okOf(await patch({ name: "renamed" }))).toMatchObject({ name: "renamed", description: "after" });
  conflictWith(await patch({ name: " x" }), "name must not begin or end with white space");
  await a.destroy(id);
});

test("the project, image and subnet of an instance cannot be deleted", async () => {
  const { id, name } = await a.running();
  const project = `/v1/tenants/${a.tenant.tenant_id}/projects/${a.tenant.project_id}`;
  const refused = await a.call("DELETE", project);
  expect(refused).toMatchObject({ status: 409, body: { error_code: "Conflict" } });
  const held = `project ${a.tenant.project_id} still holds instance ${name} (${id}) and vpc `;
  expect(refused.body.message.startsWith(held), refused.body.message).toBe(true);
  expect((await a.t.call("DELETE", `/v1/images/${a.image.id}`)).status).toBe(409);
  expect((await a.call("DELETE", `/v1/subnets/${a.subnet.id}`)).status).toBe(409);
  await a.destroy(id);
});

test("an instance shows that its node is not live", async () => {
  const { id } = await a.running();
  await a.t.advance(SEEN_AHEAD_S + 61);
  expect((await a.show(id)).host_live).toBe(false);
  await a.node.alive();
  expect((await a.show(id)).host_live).toBe(true);
  await a.destroy(id);
});
