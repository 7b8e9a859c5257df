// Builds the messages that create the objects for the tests of pairs of operations.
import { NO_QUOTA_DEFAULTS } from "../../src/contract/tenancy.ts";
import { randomBytes } from "node:crypto";
import type { Message } from "../../actors/engine/types.ts";
import type { ParentFixture } from "./parent-fixture.ts";

const PLAN = { ipv4_block: "10.0.0.0/16", ipv6_block: "fd00::/56" };

export const GIB = 2 ** 30;

type Of = Pick<ParentFixture, "tenant_id" | "project_id">;

export function createdVpc(
  { tenant_id, project_id }: Of,
  { id, main, name }: { readonly id: string; readonly main: string; readonly name: string },
): Message {
  // The VNIs are derived from the end of the VPC's id, which is random.
  const vnis = [0, 1, 2].map((more) => 4_096 + (Number.parseInt(id.slice(-6), 16) + more) % 16_000_000);
  return {
    type: "create",
    id,
    tenant_id,
    project_id,
    name,
    description: "",
    main_route_table_id: main,
    vnis,
    ...PLAN,
  };
}

export function createdSubnet(
  g: Of & Pick<ParentFixture, "vpc" | "main_table">,
  { id, name, block, vpc_id = g.vpc, route_table_id = g.main_table }: {
    readonly id: string;
    readonly name: string;
    readonly block: string;
    /** The subnet's VPC and the VPC's route table; by default, the VPC and the main route table of the fixture. */
    readonly vpc_id?: string;
    readonly route_table_id?: string;
  },
): Message {
  return {
    type: "create",
    id,
    tenant_id: g.tenant_id,
    project_id: g.project_id,
    vpc_id,
    route_table_id,
    name,
    description: "",
    ipv4_block: block,
    // The floating IPs are IPv6 addresses, because the fixed pool of public IPv4 addresses is too small. So NICs need
    // IPv6 addresses.
    ipv6_block: block.replace(/^10\.0\.(\d)\.0\/24$/, "fd00:0:0:a$1::/64"),
    plan: PLAN,
  };
}

export function createdRoute(g: ParentFixture, id: string, name: string): Message {
  const { tenant_id, project_id, vpc } = g;
  return {
    type: "create",
    id,
    tenant_id,
    project_id,
    vpc_id: vpc,
    route_table_id: g.table,
    name,
    description: "",
    destination: "fd00:0:0:1::/64",
    target: { kind: "nat_gateway", nat_gateway_id: g.nat_gateway },
    gateway: { tenant_id, project_id, vpc_id: vpc },
    plan: PLAN,
  };
}

type Place = Of & Pick<ParentFixture, "silo_id" | "image" | "subnet" | "vpc" | "node">;

export function createdInstance(g: Place, newId: () => string, name: string): Message {
  return {
    type: "create",
    id: newId(),
    silo_id: g.silo_id,
    tenant_id: g.tenant_id,
    project_id: g.project_id,
    name,
    description: "",
    brand: "bhyve",
    cpu: 1,
    memory_bytes: 2 ** 30,
    image_id: g.image,
    primary_subnet_id: g.subnet,
    ssh_key_ids: [],
    sealed_user_data: null,
    labels: {},
    deletion_protection: false,
    placement_group_id: null,
    nics: [{
      id: newId(),
      mac: null,
      name: "net0",
      subnet_id: g.subnet,
      vpc_id: g.vpc,
      ipv4_token: `address:${newId()}`,
      ipv6_token: `address:${newId()}`,
    }],
    boot_disk: { id: newId(), size_bytes: 2 ** 30 },
    quota_defaults: NO_QUOTA_DEFAULTS,
    candidates: [g.node],
    operation_id: newId(),
    limit_ms: 3_600_000,
  };
}

export function createdImage({ tenant_id, project_id }: Of, id: string): Message {
  return {
    type: "create",
    id,
    scope_kind: "project",
    silo_id: null,
    tenant_id,
    project_id,
    name: "debian",
    description: "",
    os: "debian",
    os_version: "13",
    size_bytes: GIB,
    sha256: randomBytes(32).toString("hex"),
    source_url: null,
    compatibility: null,
  };
}

export function createdFloatingIp(
  { silo_id, tenant_id, project_id }: Of & Pick<ParentFixture, "silo_id">,
  { id, name }: { readonly id: string; readonly name: string },
  newId: () => string,
): Message {
  return {
    type: "create",
    id,
    ...ofFixedPool(silo_id, newId),
    tenant_id,
    project_id,
    name,
    description: "",
    operation_id: newId(),
  };
}

/**
 * The fields of a create that take an address from the fixed pool of public IPv6 addresses
 * (src/lib/net/public-pool.ts).
 */
export function ofFixedPool(silo_id: string, newId: () => string) {
  return {
    silo_id,
    sources: [{ pool_id: "public:v6", family: "v6", network: null }],
    network_pool_id: null,
    refusal: { kind: "conflict", message: "no address" },
    token: `address:${newId()}`,
  };
}
