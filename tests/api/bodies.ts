// Returns valid request bodies. Tests make a body invalid by changing one field. A body is the example of the API
// description, in which some fields are replaced, added or removed. Its values are unique where the API requires this.
import { randomBytes } from "node:crypto";
import { BODY_EXAMPLES } from "../../src/contract/body-examples.ts";
import { newPublicKey } from "../compute/public-key.ts";

type Fields = Record<string, unknown>;

/** Returns a capacity report with every required field. */
export function capacity(): Fields {
  return {
    cpu_cores_physical: 8,
    cpu_threads_logical: 16,
    numa_nodes: [{ node_id: 0, cores: 8, ram_mb: 65_536 }],
    ram_total_mb: 65_536,
    zpools: [{ name: "zones", total_bytes: 4_000_000_000_000, free_bytes: 3_000_000_000_000, tier: "nvme" }],
    nic_tags: ["admin", "external"],
    underlay: { ipv4: true, ipv6: false },
    devices: [{ kind: "gpu", model: "none", free_count: 0 }],
    platform_version: "20260101T000000Z",
  };
}

/** Returns the name and description of a record; the name is new each time. */
function named(): Fields {
  return { name: crypto.randomUUID(), description: "made by a test" };
}

const freshImage = () => ({ id: crypto.randomUUID(), sha256: randomBytes(32).toString("hex") });
const freshKey = () => ({ public_key: newPublicKey() });

/** The NIC tag of the tests' external subnets. */
export const NIC_TAG = "external";
let blocks = 0;

/** Returns a new block in 198.18.0.0/15 each time. */
function freshBlock(): string {
  blocks += 1;
  return `198.${18 + (blocks >> 13)}.${(blocks >> 5) & 255}.${(blocks & 31) << 3}/29`;
}

let networks = 0;

/** Returns a new network in 10.0.0.0/8 each time. */
function freshNetwork(): string {
  networks += 1;
  return `10.${networks >> 8}.${networks & 255}.0/24`;
}

let ports = 1_000;

/** Returns a new port each time. */
function freshPort(): number {
  return ports += 1;
}

type Objects = Readonly<Record<string, string>>;

/**
 * For some routes, fields that replace fields of the route's example or are added to the example. An undefined field is
 * removed.
 */
const CHANGES: Readonly<Record<string, (of?: Objects) => Fields>> = {
  // Moves the clock by only one second, so that no claim of another test expires.
  "POST /lab/clock": () => ({ seconds: 1 }),
  "POST /v1/cn-auto-approve": () => ({ duration_secs: 60, count: 1 }),
  "POST /v1/agent/capacity": capacity,
  // With an empty allowlist, any machine may enrol.
  "PUT /v2/cn-boot-policy": () => ({ allowlist: [] }),
  // This is not the machine in the body of POST /v1/agent/register.
  "POST /v2/booter/announce": () => ({ server_uuid: "3d4c0e2a-7b1f-4c55-9e0a-6b2f8d1c4e78" }),
  // Without dry_run, the drain would move instances that other tests use.
  "POST /v1/cns/{server_uuid}/drain": () => ({ dry_run: true }),
  "POST /v1/cn-drains": () => ({ label: "rack=of-no-node", dry_run: true }),
  "POST /v1/cn-upgrades": () => ({ label: "rack=of-no-node", dry_run: true }),
  "POST /v1/cns/{server_uuid}/evacuate": () => ({ dry_run: true }),
  "PATCH /v1/cns/{server_uuid}/placement": () => ({ overprovision_cpu: 2.5, fault_domain: "rack-7" }),
  // A test must also set the ids of an image, a subnet and SSH keys that it created.
  "POST /v1/instances": () => ({
    cpu: 1,
    memory_bytes: 2 ** 30,
    disk_bytes: 2 ** 31,
    mac: "02:00:00:00:00:01",
    extra_nics: [{ subnet_id: crypto.randomUUID(), name: "second" }],
  }),
  "POST /v1/tenants/{tenant_id}/image-uploads": () => ({ size_bytes: 1 }),
  "POST /v1/image-uploads/{upload_id}/finish": () => ({ sha256: null }),
  "POST /v1/instances/{instance_id}/migrate": () => ({}),
  "POST /v1/instances/{instance_id}/rebuild": () => ({ image_id: null }),
  "POST /v1/instances/{instance_id}/console-ticket": () => ({ mode: "write" }),
  "POST /v1/disks": () => ({ name: "data", size_bytes: 2 ** 30 }),
  "POST /v1/snapshots": () => ({ name: "before" }),
  "POST /v1/snapshots/{snapshot_id}/image": () => ({ name: "golden" }),
  "POST /v1/agent/images/{upload_id}": () => ({ size_bytes: 1 }),
  "POST /v1/agent/images/{upload_id}/finish": () => ({ sha256: null }),
  "POST /v1/nics": (of) => ({
    // A NIC has no description, so the field is removed.
    description: undefined,
    subnet_id: of?.nic_subnet ?? crypto.randomUUID(),
    allowed_cidrs: [],
  }),
  "PATCH /v1/nics/{nic_id}": () => ({ description: undefined, allowed_cidrs: [] }),
  "POST /v1/disks/{disk_id}/resize": () => ({ size_bytes: 2 ** 33 }),
  "POST /v1/vpcs": () => ({ ipv4_block: "10.0.0.0/8" }),
  "POST /v1/subnets": () => ({ ipv4_block: freshNetwork(), ipv6_block: null }),
  "PUT /v1/subnets/{subnet_id}/route-table": (of) => ({ route_table_id: of?.route_table ?? crypto.randomUUID() }),
  "POST /v1/routes": () => ({ destination: freshNetwork() }),
  "POST /v1/firewall-rules": () => ({
    destination_cidr: "10.0.0.0/8",
    source_ports: { low: 1_024, high: 65_535 },
  }),
  "POST /v1/port-forwards": (of) => ({
    nat_gateway_id: of?.nat_gateway ?? crypto.randomUUID(),
    nic_id: of?.nic ?? crypto.randomUUID(),
    public_port: freshPort(),
  }),
  "POST /v1/system/external-subnets": () => ({ nic_tag: NIC_TAG, ipv4_block: freshBlock() }),
  "POST /v1/system/users": () => ({ username: `user-${crypto.randomUUID()}` }),
  "POST /v1/tenants/{tenant_id}/idp": () => ({ issuer_url: `https://${crypto.randomUUID()}.example` }),
  "POST /v1/images": freshImage,
  "POST /v1/silos/{silo_id}/images": freshImage,
  "POST /v1/tenants/{tenant_id}/images": freshImage,
  "POST /v1/tenants/{tenant_id}/projects/{project_id}/images": freshImage,
  "POST /v1/ssh-keys": freshKey,
  "POST /v1/auth/ssh-keys": freshKey,
  "POST /v1/silos/{silo_id}/ssh-keys": freshKey,
  "POST /v1/tenants/{tenant_id}/ssh-keys": freshKey,
  "POST /v1/tenants/{tenant_id}/projects/{project_id}/ssh-keys": freshKey,
};

/**
 * For each route, a function that returns a valid body, or one valid item if the body is an array. `of` has the ids of
 * the objects that the body names.
 */
export const acceptedBodies: Readonly<Record<string, (of?: Objects) => Fields>> = Object.fromEntries(
  Object.entries(BODY_EXAMPLES).map(([route, example]) => {
    const body = (Array.isArray(example) ? example[0] : example) as Fields;
    return [route, (of) => ({ ...body, ...("name" in body && named()), ...CHANGES[route]?.(of) })];
  }),
);
