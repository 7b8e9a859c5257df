// Uses the API of a running server to create the objects that new instances need: enrolled nodes, projects with one
// subnet each, and an image.
import { createHash, randomUUID } from "node:crypto";
import type { CapacityReportBody, RegisterStatusView, RegistrationView } from "../../src/contract/agent.ts";
import { must, request } from "../processes/client.ts";
import type { NodeKey } from "./agents-node.ts";

export type CreatesSite = {
  readonly nodes: readonly NodeKey[];
  readonly projects: readonly CreatesProject[];
};

export type CreatesProject = {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly subnet_id: string;
  readonly image_id: string;
  /** An API key of the tenant. */
  readonly key: string;
};

export type CreateCall = {
  readonly method: "POST";
  readonly path: string;
  readonly body: { readonly name: string };
  readonly key: string;
  readonly idempotency_key: string;
};

export type SiteOptions = { readonly nodes: number; readonly projects: number };

const MIB_BYTES = 2 ** 20;
const INSTANCE_MEMORY_MB = 1_024;
const IMAGE_BYTES = 2 ** 30;

/** Creates the site on a server. The server must not limit the rate of registrations and approvals. */
export async function openCreatesSite(url: string, { nodes, projects }: SiteOptions): Promise<CreatesSite> {
  const silo = await make(url, "/v1/silos", { name: "silo" });
  const tenant = await make(url, `/v1/silos/${silo.id}/tenants`, { name: "tenant" });
  const { secret: key } = await make(url, `/v1/tenants/${tenant.id}/api-keys`, { description: "creates" });
  const image = await make(url, `/v1/tenants/${tenant.id}/images`, {
    name: "image",
    os: "linux",
    version: "1",
    size_bytes: IMAGE_BYTES,
    sha256: createHash("sha256").update("image").digest("hex"),
    source_url: "https://images.example/image",
  });
  return {
    nodes: await Promise.all(Array.from({ length: nodes }, (_, index) => enrol(url, `node-${index + 1}`))),
    projects: await Promise.all(Array.from({ length: projects }, async (_, index): Promise<CreatesProject> => {
      const project = await make(url, `/v1/tenants/${tenant.id}/projects`, { name: `project-${index + 1}` });
      const selectors = `tenant=${tenant.id}&project=${project.id}`;
      const vpc = await make(url, `/v1/vpcs?${selectors}`, { name: "vpc", ipv4_block: "10.0.0.0/8" });
      const subnet = await make(url, `/v1/subnets?vpc=${vpc.id}`, { name: "subnet", ipv4_block: "10.0.0.0/14" });
      return { tenant_id: tenant.id, project_id: project.id, subnet_id: subnet.id, image_id: image.id, key };
    })),
  };
}

/**
 * Returns a request that creates an instance. The instance uses one slot of a node. Each call returns a request for
 * another instance.
 */
export function createCall({ tenant_id, project_id, subnet_id, image_id, key }: CreatesProject): CreateCall {
  return {
    method: "POST",
    path: `/v1/instances?tenant=${tenant_id}&project=${project_id}`,
    body: {
      name: `vm-${randomUUID()}`,
      image_id,
      primary_subnet_id: subnet_id,
      cpu: 1,
      memory_bytes: INSTANCE_MEMORY_MB * MIB_BYTES,
    } as { name: string },
    key,
    idempotency_key: randomUUID(),
  };
}

/** Returns a capacity report with memory, cores and more than enough disk for this number of instances. */
export function capacityFor(slots: number): CapacityReportBody {
  const disk_bytes = 2 * slots * IMAGE_BYTES;
  const ram_mb = slots * INSTANCE_MEMORY_MB;
  return {
    cpu_cores_physical: slots,
    cpu_threads_logical: slots,
    numa_nodes: [{ node_id: 0, cores: slots, ram_mb }],
    ram_total_mb: ram_mb,
    zpools: [{ name: "zones", total_bytes: disk_bytes, free_bytes: disk_bytes, tier: "nvme" }],
    nic_tags: ["admin", "external"],
    underlay: { ipv4: true, ipv6: false },
    devices: [],
    platform_version: "20261121T000000Z",
    hvm_supported: true,
  };
}

/** Registers a node, approves it by its claim code and gets its key. */
async function enrol(url: string, hostname: string): Promise<NodeKey> {
  const server_uuid = randomUUID();
  const body = { server_uuid, hostname, sysinfo: { UUID: server_uuid } };
  const { claim_code: code, poll_token } = await must<RegistrationView>(url, {
    method: "POST",
    path: "/v1/agent/register",
    body,
    key: "",
  });
  await must(url, { method: "POST", path: "/v1/cn-approvals", body: { code } });
  const path = `/v1/agent/register/status?poll_token=${poll_token}`;
  const { api_key } = await must<RegisterStatusView>(url, { method: "GET", path, key: "" });
  if (api_key === null) throw new Error(`${hostname} was approved and got no key`);
  return { server_uuid, api_key };
}

async function make(url: string, path: string, body: unknown): Promise<{ id: string; secret: string }> {
  const answer = await request(url, { method: "POST", path, body });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as { id: string; secret: string };
}
