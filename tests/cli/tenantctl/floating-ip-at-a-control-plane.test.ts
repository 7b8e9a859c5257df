// Floating IPs are attached and detached with a real control plane. The test acts as the node.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ComputeFixture, openComputeFixture } from "../../compute/compute-fixture.ts";
import { serverOf } from "../at-control-plane.ts";
import { ENDPOINT } from "../fake-environment.ts";
import { type Ran, tenantctl } from "./run.ts";

let a: ComputeFixture;
let env: Record<string, string>;
beforeAll(async () => {
  a = await openComputeFixture();
  const { key, tenant_id, project_id } = a.tenant;
  const scope = { TENANTCTL_TENANT: tenant_id, TENANTCTL_PROJECT: project_id };
  env = { TENANTCTL_ENDPOINT: ENDPOINT, TENANTCTL_API_KEY: key, NO_COLOR: "1", ...scope };
});
afterAll(() => a?.t.close());

const at = (argv: string): Promise<Ran> =>
  tenantctl(argv.split(" "), { env, server: serverOf(a.t), newId: randomUUID });
async function printed(argv: string): Promise<string> {
  const ran = await at(argv);
  expect(ran.code, `tenantctl ${argv}: ${ran.err()}`).toBe(0);
  return ran.out();
}
const json = async (argv: string) => JSON.parse(await printed(`${argv} -o json`));
/** Runs a command, does the node's job while the command waits, and returns the output of the command. */
async function done(argv: string, job: string): Promise<string> {
  const [out] = await Promise.all([printed(argv), a.node.does(job)]);
  return out;
}

test("a tenant attaches a floating IP to the NIC of an instance, lists it, and detaches it", async () => {
  const { id: instance } = await a.running({ name: "web-1" });
  const [nic] = (await json("nic list --instance web-1")).items;
  const ip = await json("floating-ip create --name shop");
  expect(await done(`floating-ip attach shop --instance ${instance} -o table`, "fip_claim")).toBe(
    `Floating IP ${ip.id} attached to NIC ${nic.id} (address ${ip.address})\n`,
  );
  // The floating IP is not live yet, because the node has not applied the network of the VPC.
  expect(await printed("floating-ip list --no-headers -o wide")).toBe(
    `shop  ${ip.id}  ${ip.address}  nic=${nic.id}  ${a.node.server_uuid}\n`,
  );
  expect(await json("floating-ip show shop")).toMatchObject({
    attached_to: nic.id,
    attached_instance_id: instance,
    hosted_cn: a.node.server_uuid,
  });
  expect(await printed(`nic show ${nic.id} -o table`)).toContain(`floating_ips:    ${ip.address}\n`);
  expect(await printed("instance list -o csv --no-headers --columns addresses,host")).toContain(
    `,${ip.address}",${a.node.server_uuid}`,
  );

  const kept = await at("floating-ip delete shop");
  expect([kept.code, kept.out()]).toEqual([5, ""]);
  expect(kept.err()).toContain(`floating ip ${ip.id} is currently attached; detach first`);
  expect(await done("floating-ip detach shop -o table", "fip_release")).toBe(
    `Floating IP ${ip.id} detached (address ${ip.address})\n`,
  );
  expect(await printed("floating-ip list --no-headers -o wide")).toBe(
    `shop  ${ip.id}  ${ip.address}  -            -\n`,
  );
  expect(await printed("floating-ip delete shop")).toBe(`Floating IP ${ip.id} deleted.\n`);
});

test("if the node fails, the command prints the node's reason", async () => {
  const { id: instance } = await a.running();
  const [nic] = await a.nicsOf(instance);
  const ip = await json("floating-ip create --name api");
  const attaching = at(`floating-ip attach api --nic ${nic.id}`);
  await a.node.fail(await a.node.take(), "no such uplink");
  const ran = await attaching;
  expect([ran.code, ran.out()]).toEqual([1, ""]);
  expect(ran.err()).toContain("attach failed: no such uplink (OperationFailed, request ");
  expect((await at(`floating-ip attach api --nic ${randomUUID()}`)).code).toBe(3);
  expect((await json("floating-ip show api")).attached_to).toBeNull();
  // The node may already have applied the address, so it must release the address before a deletion.
  expect((await at(`floating-ip delete ${ip.id}`)).code).toBe(5);
  await a.node.does("fip_release");
  expect(await printed(`floating-ip delete ${ip.id}`)).toBe(`Floating IP ${ip.id} deleted.\n`);
});
