// Runs clients that register, approve and disable nodes and set their roles. Each client sends its next request shortly
// after it gets a reply, and records the history. Optionally the clients also create silos, create and update tenants,
// and create and delete projects and VPCs.
import { carryOut, type Intent, type Operation } from "./client.ts";

export type Load = {
  readonly operations: readonly Operation[];
  acknowledged(): number;
  /**
   * Stops the clients: they start no new operation. Resolves when every client knows its last outcome or has given up.
   */
  stop(): Promise<void>;
};

export type LoadOptions = {
  /** Returns the URLs of the servers that are running. */
  readonly urls: () => readonly string[];
  readonly clients?: number;
  /** True if half of the requests are about silos, tenants, projects and VPCs; "only" if all requests are. */
  readonly tenancy?: boolean | "only";
};

const CLIENTS = 16;
/** The maximum number of unknown and used codes to try, because the site allows 300 failures an hour. */
const BAD_CODES_MAX = 60;
const PAUSE_MS_MAX = 10;

type Nodes = {
  readonly known: string[];
  readonly codes: string[];
  readonly used_codes: string[];
  bad_codes: number;
};

type Tenancy = {
  readonly silos: string[];
  readonly tenants: { readonly silo: string; readonly id: string }[];
  readonly projects: { readonly tenant: string; readonly id: string }[];
  readonly vpcs: string[];
};

export function startLoad({ urls, clients = CLIENTS, tenancy = false }: LoadOptions): Load {
  const operations: Operation[] = [];
  const nodes: Nodes = { known: [], codes: [], used_codes: [], bad_codes: 0 };
  const places: Tenancy = { silos: [], tenants: [], projects: [], vpcs: [] };
  const share = tenancy === "only" ? 1 : tenancy ? 0.5 : 0;
  const next = () => Math.random() < share ? nextOfTenants(places) : nextIntent(nodes);
  let running = true;
  let acknowledged = 0;

  async function work(): Promise<void> {
    while (running) {
      const operation = await carryOut(next(), urls, () => running);
      operations.push(operation);
      if (operation.outcome === "acknowledged") acknowledged += 1;
      if (operation.outcome === "acknowledged") {
        if (operation.kind === "cn" || operation.kind === "enrolment-claim") learn(nodes, operation);
        else learnOfTenants(places, operation);
      }
      await new Promise((wake) => setTimeout(wake, Math.random() * PAUSE_MS_MAX));
    }
  }

  const all = Promise.all(Array.from({ length: clients }, work));
  return {
    operations,
    acknowledged: () => acknowledged,
    async stop() {
      running = false;
      await all;
    },
  };
}

function nextIntent(nodes: Nodes): Intent {
  const dice = Math.random();
  if (dice < 0.25 || nodes.known.length === 0) return registration(crypto.randomUUID());
  if (dice < 0.30) return registration(anyOf(nodes.known));
  if (dice < 0.50) {
    const code = nextCode(nodes);
    return code === undefined ? registration(crypto.randomUUID()) : approval(code);
  }
  if (dice < 0.55) return { kind: "cn", event: "disable", path: `/v1/cns/${anyOf(nodes.known)}/disable`, body: {} };
  // Some requests name a node that no client registers. The server must reject such a request, and the request must not
  // have an effect later.
  const node = dice < 0.60 ? crypto.randomUUID() : hotOrAny(nodes.known);
  const body = { role: anyOf(["tenant", "edge", "both"]) };
  return { kind: "cn", event: "set_role", path: `/v1/cns/${node}/role`, body };
}

export function registration(server_uuid: string): Intent {
  const body = { server_uuid, hostname: `node-${server_uuid.slice(0, 8)}`, sysinfo: { UUID: server_uuid } };
  return { kind: "enrolment-claim", event: "register", path: "/v1/agent/register", body };
}

export function approval(code: string): Intent {
  return { kind: "cn", event: "approve", path: "/v1/cn-approvals", body: { code } };
}

/** Chooses a node. In a third of the cases this is one of the first four nodes, so that clients compete for them. */
function hotOrAny(known: readonly string[]): string {
  return Math.random() < 0.33 ? anyOf(known.slice(0, 4)) : anyOf(known);
}

/** Returns a claim code: usually the code of a waiting node, sometimes a used or an unknown code. */
function nextCode(nodes: Nodes): string | undefined {
  if (Math.random() < 0.9 || nodes.bad_codes >= BAD_CODES_MAX) return nodes.codes.shift();
  nodes.bad_codes += 1;
  return nodes.used_codes.length > 0 && Math.random() < 0.5 ? anyOf(nodes.used_codes) : "ZZZ-ZZZ";
}

function learn(nodes: Nodes, { event, body, answer }: Operation): void {
  const { server_uuid, claim_code } = answer as { server_uuid: string; claim_code: string | null };
  if (event === "register") {
    if (claim_code !== null) nodes.codes.push(claim_code);
    if (!nodes.known.includes(server_uuid)) nodes.known.push(server_uuid);
  }
  if (event === "approve") nodes.used_codes.push((body as { code: string }).code);
}

/** Chooses among the requests that the existing objects allow. */
function nextOfTenants({ silos, tenants, projects, vpcs }: Tenancy): Intent {
  const dice = Math.random();
  const body = { name: crypto.randomUUID(), description: "" };
  const create = { event: "create", body } as const;
  if (dice < 0.15 || tenants.length === 0) return { kind: "silo", path: "/v1/silos", ...create };
  const { silo, id: tenant } = anyOf(tenants);
  if (dice < 0.25) return { kind: "tenant", path: `/v1/silos/${anyOf(silos)}/tenants`, ...create };
  if (dice < 0.40) {
    return { kind: "tenant", event: "update", method: "PATCH", path: `/v1/silos/${silo}/tenants/${tenant}`, body };
  }
  const all = `/v1/tenants/${tenant}/projects`;
  if (dice < 0.60 || projects.length === 0) return { kind: "project", path: all, ...create };
  const project = anyOf(projects);
  if (dice < 0.70) {
    const path = `/v1/tenants/${project.tenant}/projects/${project.id}`;
    return { kind: "project", event: "delete", method: "DELETE", path };
  }
  if (dice < 0.88 || vpcs.length === 0) {
    const path = `/v1/vpcs?tenant=${project.tenant}&project=${project.id}`;
    return { kind: "vpc", event: "create", path, body: { ...body, ipv4_block: "10.0.0.0/16" } };
  }
  return { kind: "vpc", event: "delete", method: "DELETE", path: `/v1/vpcs/${anyOf(vpcs)}` };
}

function learnOfTenants({ silos, tenants, projects, vpcs }: Tenancy, { kind, event, path, answer }: Operation): void {
  if (event !== "create") return;
  const { id } = answer as { id: string };
  switch (kind) {
    case "silo": {
      silos.push(id);
      const { default_tenant_id } = answer as { default_tenant_id: string };
      return void tenants.push({ silo: id, id: default_tenant_id });
    }
    case "tenant":
      return void tenants.push({ silo: (answer as { silo_id: string }).silo_id, id });
    case "project":
      return void projects.push({ tenant: (answer as { tenant_id: string }).tenant_id, id });
    case "vpc":
      return void vpcs.push(id);
    case "cn":
      throw new Error(`no request creates a node: ${path}`);
  }
}

function anyOf<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)]!;
}
