// Looks up candidates at the cursor: names and UUIDs, and for sessions only UUIDs. A list whose scope is unknown gives
// no candidates.
import type { Page } from "../../../src/contract/common.ts";
import { PAGE_ROWS_MAX } from "../../../src/contract/limits.ts";
import type { SessionListed } from "../../../src/contract/identity.ts";
import type { Project } from "../../../src/contract/tenancy.ts";
import type { Candidate } from "../../internal/completion.ts";
import { SESSIONS_PATH } from "../../internal/session-verbs.ts";
import { DISK } from "../disk/disk.ts";
import { FIREWALL_RULE } from "../firewall-rule/firewall-rule.ts";
import { FLOATING_IP } from "../floating-ip/floating-ip.ts";
import { INSTANCE } from "../instance/instance.ts";
import { NAT_GATEWAY } from "../nat-gateway/nat-gateway.ts";
import { NIC } from "../nic/nic.ts";
import { imageLevels } from "../image/image.ts";
import type { TenantIo } from "../open-io.ts";
import type { KindScope } from "../record/kind.ts";
import type { Named } from "../record/pick.ts";
import { listQuery, type ScopeFlags } from "../record/scope.ts";
import { ROUTE } from "../route/route.ts";
import { ROUTE_TABLE } from "../route-table/route-table.ts";
import { OWN_PATH } from "../ssh-key/ssh-key.ts";
import { SUBNET } from "../subnet/subnet.ts";
import { VPC } from "../vpc/vpc.ts";
import { WEBHOOK } from "../webhook/webhook.ts";

/** Limits of the request that reads the candidates: users do not wait longer for a completion. */
const LIMITS = { limit_ms: 1_500, tries_max: 1 } as const;
const KINDS: readonly KindScope[] = [
  ...[VPC, SUBNET, NAT_GATEWAY, FLOATING_IP, ROUTE_TABLE, ROUTE, FIREWALL_RULE],
  ...[INSTANCE, DISK, NIC, WEBHOOK],
];

/** The selector that the server requires for a list. */
const SELECTORS = { project: "project", vpc: "vpc", "route-table": "route_table", instance: "instance" } as const;

/** Returns the candidates at the cursor. `argument` is the name of the value in the help. */
export async function lookUp(io: TenantIo, argument: string, scope: ScopeFlags): Promise<Candidate[]> {
  if (argument === "session") {
    const sessions = await io.send<SessionListed[]>({ method: "GET", path: SESSIONS_PATH, ...LIMITS });
    return sessions.map(({ id, kind }) => ({ value: id, summary: kind }));
  }
  if (argument === "project") return candidatesOf(await projects(io));
  if (argument === "ssh-key") return candidatesOf(await io.send<Named[]>({ method: "GET", path: OWN_PATH, ...LIMITS }));
  if (argument === "image") return candidatesOf(await images(io));
  const kind = KINDS.find(({ noun }) => noun === argument);
  if (kind === undefined) return [];
  const query = await listQuery(io, kind, scope);
  if (query[SELECTORS[kind.parent]] === undefined) return [];
  const page = { ...query, limit: PAGE_ROWS_MAX };
  return candidatesOf((await io.send<Page<Named>>({ method: "GET", path: kind.path, query: page, ...LIMITS })).items);
}

async function projects(io: TenantIo): Promise<Project[]> {
  const path = `/v1/tenants/${await io.tenant()}/projects`;
  return await io.send<Project[]>({ method: "GET", path, ...LIMITS });
}

async function images(io: TenantIo): Promise<Named[]> {
  const { own, with_public } = await imageLevels(io);
  const found: Named[] = [];
  if (with_public) {
    const query = { scope: "public", limit: PAGE_ROWS_MAX };
    found.push(...(await io.send<Page<Named>>({ method: "GET", path: "/v1/images", query, ...LIMITS })).items);
  }
  for (const level of own) {
    found.push(...await io.send<Named[]>({ method: "GET", path: `${level}/images`, ...LIMITS }));
  }
  return found;
}

/** Omits names with characters that a shell may treat specially. Their records remain candidates by UUID. */
function candidatesOf(records: readonly Named[]): Candidate[] {
  const by_name = records.filter(({ name }) => /^[\p{L}\p{M}\p{N}._-]+$/u.test(name)).map(({ name }) => ({
    value: name,
    summary: "",
  }));
  return [...by_name, ...records.map(({ id, name }) => ({ value: id, summary: name }))];
}
