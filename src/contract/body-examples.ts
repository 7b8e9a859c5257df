// Example bodies of all routes, for the API description. A test sends each to a control plane, which must accept it;
// the test replaces only ids and secrets.

const ID = "7f1c2a34-5b6d-4e8f-9a0b-1c2d3e4f5a6b";
const MAC = "02:be:57:00:00:01";
const STAMP = "20260901T000000Z";
const PASSWORD = "a long enough password";
const MIB = 2 ** 20;
const GIB = 2 ** 30;

const patch = (name: string) => ({ name, description: "renamed" });

const image = {
  name: "debian-13",
  description: "Debian 13, unmodified",
  os: "debian",
  version: "13",
  size_bytes: 3 * GIB,
  content_bytes: 10 * GIB,
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  source_url: "https://images.example/debian-13.qcow2",
  compatibility: { brand: "bhyve", arch: "x86_64", min_platform: STAMP },
};

const sshKey = {
  name: "laptop",
  description: "key of an administrator",
  public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g admin@laptop",
};

const apiKey = { description: "for the build server", scope: "full", expires_at: "2100-01-01T00:00:00Z" };
const attach = { nic_id: ID };

/** The examples by `METHOD /path`. */
export const BODY_EXAMPLES: Readonly<Record<string, unknown>> = {
  "POST /lab/clock": { seconds: 60 },

  "POST /v1/agent/register": {
    server_uuid: ID,
    hostname: "node-7",
    admin_ip: "10.20.0.17",
    sysinfo: { "CPU Count": 32, "MiB of Memory": 262_144 },
    console_listen_port: 9_101,
    console_tls_spki_sha256_hex: "ab".repeat(32),
    underlay_address: "10.30.0.17",
    underlay_mtu: 9_000,
  },
  "POST /v1/agent/heartbeat": { running_jobs: [] },
  "POST /v1/agent/status": { payload: { pools: [] } },
  "POST /v1/agent/capacity": {
    cpu_cores_physical: 16,
    cpu_threads_logical: 32,
    numa_nodes: [{ node_id: 0, cores: 16, ram_mb: 262_144 }],
    ram_total_mb: 262_144,
    zpools: [{ name: "zones", total_bytes: 4_000_000_000_000, free_bytes: 3_000_000_000_000, tier: "nvme" }],
    nic_tags: ["admin", "external"],
    underlay: { ipv4: true, ipv6: false },
    devices: [],
    platform_version: STAMP,
  },
  "POST /v1/agent/network/poll": { wait: 0, have: {} },
  "POST /v1/agent/network-realization": {
    resource: { kind: "vpc", id: ID },
    realizer: { kind: "cn", id: ID },
    generation: 1,
    status: "applied",
    message: null,
  },
  "POST /v1/agent/nic-tags": {
    nic_tags: [{ name: "external", physical_nic: "eno2", vlan_id: null, mtu: 1_500, bridge: "br-external" }],
  },
  "POST /v1/agent/claim": { claimed_by: ID, wait: 0, running_jobs: [] },
  "POST /v1/agent/jobs/{job_id}/progress": { step: "image", percent: 10 },
  "POST /v1/agent/jobs/{job_id}/complete": { outcome: { kind: "completed" }, result: {} },

  "POST /v1/cn-approvals": { code: "ABC-DEF" },
  "POST /v1/cn-auto-approve": { duration_secs: 3_600, count: 20 },
  "POST /v1/cns/{server_uuid}/role": { role: "edge" },
  "PATCH /v1/cns/{server_uuid}/underlay": { underlay_address: "10.30.0.18", underlay_mtu: 9_000 },
  "POST /v1/cns/{server_uuid}/reservoir": { reservoir_enabled: true, reservoir_percent: 0.5 },
  "POST /v1/cns/{server_uuid}/traits": { traits: { rack: "r1" } },
  "POST /v1/cns/{server_uuid}/drain": { dry_run: true },
  "POST /v1/cn-drains": { label: "rack=a3", max_unavailable: 2, dry_run: true },
  "POST /v1/cns/{server_uuid}/evacuate": { fenced: true, lose_local_disks: true },
  "PATCH /v1/cns/{server_uuid}/placement": {
    cordoned: true,
    cordoned_reason: "a disk is replaced",
    labels: { rack: "a3" },
    clear: ["note"],
  },
  "POST /v1/cns/{server_uuid}/root-password": { password: PASSWORD },
  "POST /v1/cns/{server_uuid}/approve-setup": { disk_layout: "single", hostname: "node-8" },
  "POST /v1/system/placement/explain": { cpu: 2, memory_bytes: 4 * GIB, role: "tenant", brand: "bhyve" },

  "PUT /v2/platform-images": { stamps: [STAMP] },
  "PUT /v2/cn-boot-policy": {
    auto_enroll: true,
    allowlist: [{ kind: "mac_prefix", value: "02:be:57" }],
    enrollment_pi: STAMP,
    enrollment_kernel_args: ["console=ttyS0"],
    admin_network: {
      ipv4_block: "10.20.0.0/16",
      provision_start_ipv4: "10.20.0.10",
      provision_end_ipv4: "10.20.255.250",
      gateway: "10.20.0.1",
      resolvers: ["10.20.0.2"],
    },
  },
  "PUT /v2/cn-boot-roster": [{ hostname: "node-7", macs: [MAC], nic_tags: ["admin"] }],
  "POST /v2/booter/seen": { mac: MAC, client: { arch: "x86_64" } },
  "POST /v2/booter/announce": {
    server_uuid: ID,
    hostname: "bare-7",
    sysinfo: { "Serial Number": "TAG123", "Network Interfaces": { net0: { "MAC Address": MAC } } },
    mac: MAC,
  },
  "POST /v2/booter/cns/{server_uuid}/setup-progress": { epoch: 1, step: "pool", message: "zones made", percent: 40 },
  "POST /v2/booter/cns/{server_uuid}/setup-complete": { epoch: 1, mac: MAC },
  "POST /v2/booter/cns/{server_uuid}/setup-failed": { epoch: 1, reason: "no disks were found" },
  "POST /v2/cn-boot/{mac}/assign": { platform_image: STAMP },

  "POST /v1/auth/login": { username: "somebody", password: PASSWORD },
  "POST /v1/console/session": { username: "somebody", password: PASSWORD },
  "POST /v1/auth/refresh": { refresh_token: "<refresh token>" },
  "POST /v1/auth/password": { current_password: PASSWORD, password: "another long enough password" },
  "POST /v1/auth/api-keys": apiKey,
  "POST /v1/auth/ssh-keys": sshKey,
  "POST /v1/system/users": { username: "auditor", password: PASSWORD, capabilities: ["system-read"] },
  "PUT /v1/system/users/{user_id}/password": { password: PASSWORD },
  "PUT /v1/config/{key}": { value: 2 },

  "POST /v1/silos": { name: "acme", description: "the company Acme" },
  "PATCH /v1/silos/{silo_id}": patch("acme-europe"),
  "POST /v1/silos/{silo_id}/tenants": { name: "research", description: "" },
  "PATCH /v1/silos/{silo_id}/tenants/{tenant_id}": patch("research-and-development"),
  "POST /v1/tenants/{tenant_id}/projects": { name: "web", description: "the public site" },
  "PATCH /v1/tenants/{tenant_id}/projects/{project_id}": patch("website"),
  "PUT /v1/tenants/{tenant_id}/quota": {
    cpu_limit: 256,
    memory_bytes: 1_024 * GIB,
    disk_bytes: 16_384 * GIB,
    instance_limit: 80,
  },
  "PUT /v1/tenants/{tenant_id}/projects/{project_id}/quota": {
    cpu_limit: 64,
    memory_bytes: 256 * GIB,
    disk_bytes: 4_096 * GIB,
    instance_limit: 20,
  },
  "POST /v1/tenants/{tenant_id}/api-keys": apiKey,
  "POST /v1/tenants/{tenant_id}/idp": {
    issuer_url: "https://login.acme.example",
    client_id: "berth",
    client_secret: "kept sealed",
    audience: "berth",
  },

  "POST /v1/images": image,
  "PATCH /v1/images/{image_id}": patch("debian-trixie"),
  "POST /v1/silos/{silo_id}/images": image,
  "POST /v1/tenants/{tenant_id}/images": image,
  "POST /v1/tenants/{tenant_id}/projects/{project_id}/images": image,
  "POST /v1/ssh-keys": sshKey,
  "POST /v1/silos/{silo_id}/ssh-keys": sshKey,
  "POST /v1/tenants/{tenant_id}/ssh-keys": sshKey,
  "POST /v1/tenants/{tenant_id}/projects/{project_id}/ssh-keys": sshKey,

  "POST /v1/vpcs": { name: "front", ipv4_block: "10.0.0.0/16", ipv6_block: "fd00:10::/48" },
  "PATCH /v1/vpcs/{vpc_id}": patch("front-end"),
  "POST /v1/subnets": { name: "web", ipv4_block: "10.0.1.0/24", ipv6_block: "fd00:10:0:1::/64" },
  "PATCH /v1/subnets/{subnet_id}": patch("web-servers"),
  "PUT /v1/subnets/{subnet_id}/route-table": { route_table_id: ID },
  "POST /v1/route-tables": { name: "outward", description: "by way of the gateway" },
  "PATCH /v1/route-tables/{route_table_id}": patch("outbound"),
  "POST /v1/routes": { name: "nowhere", destination: "192.0.2.0/24", target: { kind: "blackhole" } },
  "PATCH /v1/routes/{route_id}": patch("dropped"),
  "POST /v1/firewall-rules": {
    name: "ssh",
    priority: 100,
    direction: "inbound",
    action: "allow",
    protocol: "tcp",
    source_cidr: "192.0.2.0/24",
    destination_ports: { low: 22, high: 22 },
  },
  "PATCH /v1/firewall-rules/{firewall_rule_id}": patch("ssh-from-the-office"),
  "PUT /v1/vpcs/{vpc_id}/firewall-rules": {
    items: [{ name: "ssh", priority: 100, direction: "inbound", action: "allow", protocol: "tcp" }],
  },
  "POST /v1/nat-gateways": { name: "outward", family: "v6" },
  "PATCH /v1/nat-gateways/{nat_gateway_id}": patch("outbound"),
  "POST /v1/port-forwards": {
    name: "web",
    nat_gateway_id: ID,
    nic_id: ID,
    protocol: "tcp",
    public_port: 443,
    nic_port: 8_443,
  },
  "PATCH /v1/port-forwards/{port_forward_id}": patch("web-tls"),
  "POST /v1/floating-ips": { name: "www", description: "the public name", family: "v6" },
  "PATCH /v1/floating-ips/{floating_ip_id}": patch("www-2"),
  "POST /v1/floating-ips/{floating_ip_id}/attach": attach,
  "POST /v1/tenants/{tenant_id}/projects/{project_id}/floating-ips/{floating_ip_id}/attach": attach,

  "POST /v1/system/nic-tags": { name: "uplink", description: "the provider's network", mtu: 1_500 },
  "POST /v1/system/external-subnets": { name: "provider", nic_tag: "uplink", vlan_id: 7, ipv4_block: "198.18.0.0/24" },
  "PATCH /v1/system/external-subnets/{external_subnet_id}": patch("provider-1"),
  "POST /v1/system/network-pools": { name: "public", networks: [ID] },
  "PUT /v1/system/network-pools/{network_pool_id}": { name: "public-1", description: "for all silos", networks: [ID] },

  "POST /v1/agent/network/trace": {
    trace_id: ID,
    generation: 7,
    steps: ["stops: no NIC of the VPC has 10.0.1.77"],
    passes: false,
    rule_id: null,
    next: null,
    differences: 0,
  },
  "POST /v1/instances": {
    name: "web-1",
    description: "the first of two",
    image_id: ID,
    primary_subnet_id: ID,
    cpu: 2,
    memory_bytes: 4 * GIB,
    ssh_key_ids: [ID],
    disk_bytes: 20 * GIB,
    user_data: "#cloud-config\npackages: [nginx]\n",
    labels: { env: "production" },
    deletion_protection: false,
  },
  "PATCH /v1/instances/{instance_id}": { ...patch("web-01"), labels: { env: "test" }, deletion_protection: false },
  "POST /v1/tenants/{tenant_id}/image-uploads": {
    name: "debian-13",
    description: "Debian 13, unmodified",
    os: "debian",
    version: "13",
    size_bytes: 400 * MIB,
    content_bytes: 3 * GIB,
  },
  "POST /v1/image-uploads/{upload_id}/finish": {
    sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  },
  "POST /v1/instances/{instance_id}/migrate": { target_server_uuid: null, bandwidth_bytes_per_s: 64 * MIB },
  "POST /v1/instances/{instance_id}/rebuild": { image_id: "00000000-0000-4000-8000-000000000000" },
  "POST /v1/instances/{instance_id}/console-ticket": { mode: "write", take_over: false, history_bytes: 4_096 },
  "POST /v1/disks": { name: "data", description: "database", size_bytes: 10 * GIB },
  "POST /v1/snapshots": { name: "before-upgrade", description: "before the upgrade to version 5" },
  "POST /v1/disks/{disk_id}/resize": { size_bytes: 40 * GIB },
};
