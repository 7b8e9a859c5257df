// Creates the objects that an instance needs: a tenant with a subnet, and an image that nodes can fetch.
import { randomUUID } from "node:crypto";
import { type Answer, okOf, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";

export type InstanceFixture = TestTenant & { readonly subnet_id: string; readonly image_id: string };
export type Source = {
  readonly url: string;
  readonly sha256: string;
  readonly size_bytes: number;
  readonly content_bytes?: number;
};

/** The loopback block, and the block for tests of networks (RFC 2544), which the underlays of the test nodes use. */
export const TEST_NETWORKS = ["127.0.0.0/8", "198.18.0.0/15"];

export async function openInstanceFixture(t: Pick<TestControlPlane, "call">, source: Source): Promise<InstanceFixture> {
  const tenant = await openTenant(t);
  // The servers of images are on these networks. Nodes may fetch from these networks only if the operator allows them.
  okOf(await t.call("PUT", "/v1/config/fetch.allowed_private", { body: { value: TEST_NETWORKS } }));
  const make = async (path: string, body: unknown) => okOf(await tenant.call("POST", path, { body })).id as string;
  const vpc = await make(`/v1/vpcs${tenant.selectors}`, { name: randomUUID(), ipv4_block: "10.0.0.0/16" });
  const subnet_id = await make(`/v1/subnets?vpc=${vpc}`, { name: randomUUID(), ipv4_block: "10.0.1.0/24" });
  const image_id = await make(`/v1/tenants/${tenant.tenant_id}/images`, imageBody(source));
  return { ...tenant, subnet_id, image_id };
}

export function imageBody({ url, sha256, size_bytes, content_bytes }: Source) {
  const image = { name: randomUUID(), os: "linux", version: "1", size_bytes, sha256, source_url: url };
  return content_bytes === undefined ? image : { ...image, content_bytes };
}

/** Sends a request that creates an instance. By default, the answer arrives when the instance runs or has failed. */
export function makeInstance(
  g: InstanceFixture,
  change: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = {
    name: randomUUID(),
    image_id: g.image_id,
    primary_subnet_id: g.subnet_id,
    cpu: 1,
    memory_bytes: 2 ** 30,
    ...change,
  };
  return g.call("POST", `/v1/instances${g.selectors}`, { body, headers });
}
