// A force delete of an instance does not wait for the node (docs/instances.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addUser } from "../api/user.ts";
import { okOf } from "../support/control-plane.ts";
import { expectRefused, makeFloatingIp, notFound } from "../network/public-addresses.ts";
import { type ComputeFixture, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const at = (id: string) => `/v1/instances/${id}`;
const force = (id: string) => a.t.call("DELETE", `${at(id)}?force=true`);

describe("a force delete", () => {
  test("is allowed only for operators, and a denial is audited", async () => {
    const { id } = await a.running();
    const refused = await a.call("DELETE", `${at(id)}?force=true`);
    expectRefused(refused, 403, "Forbidden", "force delete is operator-only");
    const { events } = okOf(await a.t.call("GET", "/v1/audit/events?limit=1000"));
    expect(events.findLast((each: { decision: string }) => each.decision === "deny")).toMatchObject({
      action: "instance_delete",
      resource: `Instance::"${id}"`,
    });
    expect((await a.call("DELETE", `${at(id)}?force=false`)).status).toBe(409);
    const operator = await addUser(a.t.db, randomUUID());
    await a.t.db.query("update user_account set capabilities = array['system-operate'] where id = $1", [operator.id]);
    notFound(await a.t.call("DELETE", at(id), { key: operator.key }));
    expect((await a.t.call("DELETE", `${at(id)}?force=true`, { key: operator.key })).status).toBe(204);
    await a.node.does("delete");
  });

  test("releases a running instance at once and sends its node a delete job without waiting", async () => {
    const before = await a.dump();
    const { id } = await a.running();
    expect((await force(id)).status).toBe(204);
    notFound(await a.call("GET", at(id)));
    expect(await a.left(before)).toEqual([]);
    const job = await a.node.take();
    expect(job.kind).toEqual({ kind: "delete", instance_id: id });
    expect((await a.ended(id, "instance-delete")).state).toBe("succeeded");
    await a.node.complete(job);
  });

  test("ends the creation of an instance on a dead node; the caller that creates the instance gets the reason", async () => {
    const before = await a.dump();
    const answer = a.create();
    const job = await a.node.take();
    const id = String(job.kind["instance_id"]);
    expect((await force(id)).status).toBe(204);
    const { status, body } = await answer;
    expect([status, body.error_code]).toEqual([502, "ProvisionFailed"]);
    expect(body.message).toMatch(/^provisioning failed: abandoned by an operator/);
    expect((await a.ended(id, "instance-create")).state).toBe("unwound");
    expect(await a.left(before)).toEqual([]);
    await a.node.bury(job);
    await a.node.does("delete");
  });

  test("ends the rollback of a creation that waits for the node to undo its job", async () => {
    const before = await a.dump();
    okOf(await a.t.call("PUT", "/v1/config/instance.create_wait_secs", { body: { value: 1 } }));
    const answer = a.create();
    const job = await a.node.take();
    const id = String(job.kind["instance_id"]);
    expect((await answer).status).toBe(502);
    okOf(await a.t.call("DELETE", "/v1/config/instance.create_wait_secs"));
    expect((await a.operation(id, "instance-create")).state).toBe("unwinding");
    expect((await force(id)).status).toBe(204);
    expect((await a.ended(id, "instance-create")).state).toBe("unwound");
    expect(await a.left(before)).toEqual([]);
    await a.node.bury(job);
    await a.node.does("delete");
  });

  test("releases the floating IPs of the instance, as every delete does", async () => {
    for (const how of [force, (id: string) => a.done(a.call("DELETE", at(id)), "delete")]) {
      const { id } = await a.stopped();
      const [nic] = await a.nicsOf(id);
      const ip = okOf(await makeFloatingIp(a.tenant));
      const path = `/v1/floating-ips/${ip.id}/attach`;
      await a.done(a.call("POST", path, { body: { nic_id: nic.id } }), "fip_claim");
      await how(id);
      expect(okOf(await a.call("GET", `/v1/floating-ips/${ip.id}`))).toMatchObject({
        attached_to: null,
        attached_instance_id: null,
        hosted_cn: null,
      });
      // The node may still answer for the address, because a force delete does not wait for the node.
      if (how === force) {
        // The NIC is deleted, so the job names its VPC.
        expect((await a.node.does("fip_release")).kind).toMatchObject({ nic_id: nic.id, vpc_id: nic.vpc_id });
        await a.node.does("delete");
      }
      okOf(await a.call("DELETE", `/v1/floating-ips/${ip.id}`));
    }
  });
});
