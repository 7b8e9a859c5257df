// Defines a fake project with one instance and the answers of its server, for the tests of `tenantctl instance`.
import { IMAGE_ID, INSTANCE, PRIMARY_NIC, PROJECT, SUBNET, TENANT, VPC } from "./records.ts";
import { serving, tenantctl, TOKEN_ENV } from "./run.ts";

export const IN_PROJECT = `tenant=${TENANT}&project=${PROJECT}`;
export const SCOPED = { ...TOKEN_ENV, TENANTCTL_PROJECT: PROJECT };
export const BY_ID = `/v1/instances/${INSTANCE.id}`;
export const STATE = "running";
export const TABLE = `NAME   ID        STATE    ADDRESSES  CPU  MEMORY  AGE  HOST\n` +
  `web-1  99999999  ${STATE}  10.0.1.2   2    4GiB    3h   eeeeeeee\n`;
export const WALL_MS = 3 * 3_600_000 + Date.parse(INSTANCE.created_at);
export const NICS_OF_PROJECT = `GET /v1/nics?${IN_PROJECT}`;
export const SHOWN = [
  ["id", INSTANCE.id],
  ["name", "web-1"],
  ["description", "-"],
  ["state", STATE],
  ["cpu", "2"],
  ["memory", "4GiB"],
  ["image", IMAGE_ID],
  ["host", INSTANCE.host_cn_uuid],
  ["labels", "-"],
  ["deletion_protection", "false"],
  ["created_at", INSTANCE.created_at],
].map(([name, value]) => `${`${name}:`.padEnd(22)}${value}\n`).join("");
export const KEY = { id: "ffffffff-0000-4000-8000-0000000000ff", name: "laptop" };
export const ANSWERS = {
  "GET /v1/instances": { items: [INSTANCE] },
  [`GET ${BY_ID}`]: INSTANCE,
  [`PATCH ${BY_ID}`]: INSTANCE,
  "GET /v1/auth/whoami": {
    tenant_id: TENANT,
    tenant_name: "acme",
    home_silo_id: null,
    silo_id: null,
    capabilities: [],
  },
  "GET /v1/images": { items: [{ id: IMAGE_ID, name: "debian" }] },
  [`GET /v1/tenants/${TENANT}/images`]: [],
  [`GET /v1/tenants/${TENANT}/projects/${PROJECT}/images`]: [{ id: IMAGE_ID, name: "debian" }],
  "GET /v1/vpcs": { items: [VPC] },
  "GET /v1/subnets": { items: [SUBNET] },
  "GET /v1/nics": { items: [PRIMARY_NIC] },
  "GET /v1/auth/ssh-keys": [KEY],
  "POST /v1/instances": INSTANCE,
};
export const server = serving(ANSWERS);
export const run = (...argv: string[]) => tenantctl(["instance", ...argv], { env: SCOPED, server, wall_ms: WALL_MS });
