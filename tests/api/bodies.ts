// Bodies that are accepted, for tests that change one thing about them.
import { randomBytes } from "node:crypto";
import { newPublicKey } from "../compute/public-key.ts";

/** Document 4, 1.7: every required field of a capacity report. */
export function capacity(): Record<string, unknown> {
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

/** A record that people name. The name is another one each time, since most must be unique. */
function named(): Record<string, unknown> {
  return { name: crypto.randomUUID(), description: "made by a test" };
}

function imageBody(): Record<string, unknown> {
  return {
    ...named(),
    id: crypto.randomUUID(),
    os: "debian",
    version: "13",
    size_bytes: 3_221_225_472,
    sha256: randomBytes(32).toString("hex"),
    source_url: "https://images.example/debian-13.qcow2",
    compatibility: { brand: "bhyve", arch: "x86_64", min_platform: STAMP },
  };
}

function sshKeyBody(): Record<string, unknown> {
  return { ...named(), public_key: newPublicKey() };
}

/** A platform image that tests stage. */
export const STAMP = "20260901T000000Z";

/** The NIC tag that external subnets of tests stand on, for whoever makes it. */
export const NIC_TAG = "external";
let blocks = 0;

/** A block that no other call gives, out of 198.18.0.0/15. */
function freshBlock(): string {
  blocks += 1;
  return `198.${18 + (blocks >> 13)}.${(blocks >> 5) & 255}.${(blocks & 31) << 3}/29`;
}

let networks = 0;

/** A network in 10.0.0.0/8 that no other call gives. */
function freshNetwork(): string {
  networks += 1;
  return `10.${networks >> 8}.${networks & 255}.0/24`;
}

/** Route to a body that it accepts; where it takes an array, to one item. What these would change is never changed: each test breaks them
 * first. A body that names an object takes it from `of`. */
export const acceptedBodies: Readonly<
  Record<string, (of?: Readonly<Record<string, string>>) => Record<string, unknown>>
> = {
  "POST /lab/clock": () => ({ seconds: 1 }),
  "POST /v1/agent/register": () => ({
    server_uuid: "3d4c0e2a-7b1f-4c55-9e0a-6b2f8d1c4e77",
    hostname: "node-1",
    admin_ip: "192.0.2.7",
    sysinfo: { cpu: "test" },
    console_listen_port: 9_101,
    console_tls_spki_sha256_hex: "ab".repeat(32),
  }),
  "POST /v1/agent/heartbeat": () => ({ running_jobs: [] }),
  "POST /v1/agent/claim": () => ({ claimed_by: crypto.randomUUID(), wait: 0, running_jobs: [] }),
  "POST /v1/agent/jobs/{job_id}/progress": () => ({ step: "image", percent: 10 }),
  "POST /v1/agent/jobs/{job_id}/complete": () => ({ outcome: { kind: "completed" }, result: {} }),
  "POST /v1/agent/status": () => ({ payload: { pools: [] } }),
  "POST /v1/agent/capacity": capacity,
  "POST /v1/cn-approvals": () => ({ code: "ABC-DEF" }),
  "POST /v1/cn-auto-approve": () => ({ duration_secs: 60, count: 1 }),
  "POST /v1/cns/{server_uuid}/role": () => ({ role: "edge" }),
  "POST /v1/cns/{server_uuid}/reservoir": () => ({ reservoir_enabled: true, reservoir_percent: 0.5 }),
  "POST /v1/auth/api-keys": () => ({ description: "d", scope: "full", expires_at: "2100-01-01T00:00:00Z" }),
  "PUT /v1/config/{key}": () => ({ value: 2 }),
  "POST /v1/cns/{server_uuid}/traits": () => ({ traits: { rack: "r1" } }),
  // Of an image, a subnet and keys that the caller has made.
  "POST /v1/instances": () => ({
    ...named(),
    image_id: crypto.randomUUID(),
    primary_subnet_id: crypto.randomUUID(),
    cpu: 1,
    memory_bytes: 2 ** 30,
    ssh_key_ids: [crypto.randomUUID()],
    disk_bytes: 2 ** 31,
    mac: "02:00:00:00:00:01",
    extra_nics: [{ subnet_id: crypto.randomUUID(), name: "second" }],
    user_data: "#cloud-config",
  }),
  "PATCH /v1/instances/{instance_id}": named,
  "POST /v1/disks/{disk_id}/resize": () => ({ size_bytes: 2 ** 33 }),
  "PATCH /v1/cns/{server_uuid}/placement": () => ({
    cordoned: true,
    cordoned_reason: "a disk is replaced",
    overprovision_cpu: 2.5,
    fault_domain: "rack-7",
    clear: ["note"],
  }),
  "POST /v1/system/placement/explain": () => ({ cpu: 2, memory_bytes: 2 ** 30, role: "tenant", brand: "bhyve" }),
  "POST /v1/cns/{server_uuid}/root-password": () => ({ password: "a long enough password" }),
  "POST /v1/cns/{server_uuid}/approve-setup": () => ({ disk_layout: "single", hostname: "node-1" }),
  "POST /v2/cn-boot/{mac}/assign": () => ({ platform_image: STAMP }),
  "PUT /v2/cn-boot-policy": () => ({
    auto_enroll: true,
    allowlist: [],
    enrollment_pi: STAMP,
    enrollment_kernel_args: ["console=ttyS0"],
    admin_network: {
      ipv4_block: "10.20.0.0/16",
      provision_start_ipv4: "10.20.0.10",
      provision_end_ipv4: "10.20.255.250",
      gateway: "10.20.0.1",
      resolvers: ["10.20.0.2"],
    },
  }),
  "POST /v1/silos": named,
  "PATCH /v1/silos/{silo_id}": named,
  "POST /v1/silos/{silo_id}/tenants": named,
  "PATCH /v1/silos/{silo_id}/tenants/{tenant_id}": named,
  "POST /v1/tenants/{tenant_id}/projects": named,
  "PATCH /v1/tenants/{tenant_id}/projects/{project_id}": named,
  "PUT /v1/tenants/{tenant_id}/projects/{project_id}/quota": () => ({
    cpu_limit: 8,
    memory_bytes: 64 * 2 ** 30,
    disk_bytes: 2 ** 40,
    instance_limit: 4,
  }),
  "POST /v1/vpcs": () => ({ ...named(), ipv4_block: "10.0.0.0/8", ipv6_block: "fd00:10::/32" }),
  "PATCH /v1/vpcs/{vpc_id}": named,
  "POST /v1/subnets": () => ({ ...named(), ipv4_block: freshNetwork() }),
  "PATCH /v1/subnets/{subnet_id}": named,
  "PUT /v1/subnets/{subnet_id}/route-table": (of) => ({ route_table_id: of?.route_table ?? crypto.randomUUID() }),
  "POST /v1/route-tables": named,
  "PATCH /v1/route-tables/{route_table_id}": named,
  "POST /v1/routes": () => ({ ...named(), destination: freshNetwork(), target: { kind: "blackhole" } }),
  "PATCH /v1/routes/{route_id}": named,
  "POST /v1/firewall-rules": () => ({
    ...named(),
    priority: 100,
    direction: "inbound",
    action: "allow",
    protocol: "tcp",
    source_cidr: "192.0.2.0/24",
    destination_cidr: "10.0.0.0/8",
    source_ports: { low: 1_024, high: 65_535 },
    destination_ports: { low: 22, high: 22 },
  }),
  "PATCH /v1/firewall-rules/{firewall_rule_id}": named,
  "POST /v1/nat-gateways": () => ({ ...named(), family: "v6" }),
  "PATCH /v1/nat-gateways/{nat_gateway_id}": named,
  "POST /v1/floating-ips": () => ({ ...named(), family: "v6" }),
  "PATCH /v1/floating-ips/{floating_ip_id}": named,
  "POST /v1/floating-ips/{floating_ip_id}/attach": () => ({ nic_id: crypto.randomUUID() }),
  "POST /v1/tenants/{tenant_id}/projects/{project_id}/floating-ips/{floating_ip_id}/attach": () => ({
    nic_id: crypto.randomUUID(),
  }),
  "POST /v1/system/nic-tags": () => ({ ...named(), mtu: 1_500 }),
  "POST /v1/system/external-subnets": () => ({ ...named(), nic_tag: NIC_TAG, vlan_id: 7, ipv4_block: freshBlock() }),
  "PATCH /v1/system/external-subnets/{external_subnet_id}": named,
  // Of networks that the caller has made.
  "POST /v1/system/network-pools": () => ({ ...named(), networks: [crypto.randomUUID()] }),
  "PUT /v1/system/network-pools/{network_pool_id}": () => ({ ...named(), networks: [crypto.randomUUID()] }),
  "POST /v1/auth/login": () => ({ username: "nobody", password: "a long enough password" }),
  "POST /v1/auth/refresh": () => ({ refresh_token: "x" }),
  "POST /v1/auth/password": () => ({ current_password: "the one before", password: "a long enough password" }),
  "POST /v1/system/users": () => ({
    username: `user-${crypto.randomUUID()}`,
    password: "a long enough password",
    capabilities: ["system-read"],
  }),
  "PUT /v1/system/users/{user_id}/password": () => ({ password: "a long enough password" }),
  "POST /v1/tenants/{tenant_id}/api-keys": () => ({
    description: "d",
    scope: "full",
    expires_at: "2100-01-01T00:00:00Z",
  }),
  "POST /v1/tenants/{tenant_id}/idp": () => ({
    issuer_url: `https://${crypto.randomUUID()}.example`,
    client_id: "client",
    client_secret: "secret",
    audience: "audience",
  }),
  "POST /v1/images": imageBody,
  "PATCH /v1/images/{image_id}": named,
  "POST /v1/ssh-keys": sshKeyBody,
  "POST /v1/auth/ssh-keys": sshKeyBody,
  "POST /v1/silos/{silo_id}/images": imageBody,
  "POST /v1/tenants/{tenant_id}/images": imageBody,
  "POST /v1/tenants/{tenant_id}/projects/{project_id}/images": imageBody,
  "POST /v1/silos/{silo_id}/ssh-keys": sshKeyBody,
  "POST /v1/tenants/{tenant_id}/ssh-keys": sshKeyBody,
  "POST /v1/tenants/{tenant_id}/projects/{project_id}/ssh-keys": sshKeyBody,
  "PUT /v2/cn-boot-roster": () => ({ hostname: "node-1", macs: ["02:be:57:00:00:01"], nic_tags: ["admin"] }),
  "PUT /v2/platform-images": () => ({ stamps: [STAMP] }),
  "POST /v2/booter/seen": () => ({ mac: "02:be:57:00:00:01", client: { arch: "x86_64" } }),
  "POST /v2/booter/announce": () => ({
    server_uuid: "3d4c0e2a-7b1f-4c55-9e0a-6b2f8d1c4e78",
    hostname: "bare-1",
    sysinfo: { "Serial Number": "TAG123" },
  }),
  "POST /v2/booter/cns/{server_uuid}/setup-progress": () => ({ epoch: 1, step: "pool", message: "m", percent: 10 }),
  "POST /v2/booter/cns/{server_uuid}/setup-complete": () => ({ epoch: 1 }),
  "POST /v2/booter/cns/{server_uuid}/setup-failed": () => ({ epoch: 1, reason: "no disks" }),
};
