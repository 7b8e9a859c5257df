// Clients that register, approve, disable and label nodes as fast as they are answered, and keep what they did.
import { carryOut, type Operation, type Wish } from "./client.ts";

export type Load = {
  readonly operations: readonly Operation[];
  acknowledged(): number;
  /** No new operation begins; settles when every client has heard or given up. */
  stop(): Promise<void>;
};

export type LoadOptions = {
  /** The servers that can be reached now. */
  readonly urls: () => readonly string[];
  readonly clients?: number;
};

const CLIENTS = 16;
/** Codes that nobody has or that are used: the site allows 300 failures an hour, and the load must stay below. */
const BAD_CODES_MAX = 60;
const PAUSE_MS_MAX = 10;

type Nodes = {
  readonly known: string[];
  readonly codes: string[];
  readonly used_codes: string[];
  bad_codes: number;
};

export function startLoad({ urls, clients = CLIENTS }: LoadOptions): Load {
  const operations: Operation[] = [];
  const nodes: Nodes = { known: [], codes: [], used_codes: [], bad_codes: 0 };
  let running = true;
  let acknowledged = 0;

  async function work(): Promise<void> {
    while (running) {
      const operation = await carryOut(nextWish(nodes), urls, () => running);
      operations.push(operation);
      if (operation.outcome === "acknowledged") acknowledged += 1;
      learn(nodes, operation);
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

function nextWish(nodes: Nodes): Wish {
  const dice = Math.random();
  if (dice < 0.25 || nodes.known.length === 0) return registration(crypto.randomUUID());
  if (dice < 0.30) return registration(anyOf(nodes.known));
  if (dice < 0.50) {
    const code = nextCode(nodes);
    return code === undefined ? registration(crypto.randomUUID()) : approval(code);
  }
  if (dice < 0.55) return { event: "disable", path: `/v1/cns/${anyOf(nodes.known)}/disable`, body: {} };
  // Nobody registers these: what is refused now must not act later.
  const node = dice < 0.60 ? crypto.randomUUID() : hotOrAny(nodes.known);
  return { event: "set_role", path: `/v1/cns/${node}/role`, body: { role: anyOf(["tenant", "edge", "both"]) } };
}

export function registration(server_uuid: string): Wish {
  const body = { server_uuid, hostname: `node-${server_uuid.slice(0, 8)}`, sysinfo: { UUID: server_uuid } };
  return { event: "register", path: "/v1/agent/register", body };
}

export function approval(code: string): Wish {
  return { event: "approve", path: "/v1/cn-approvals", body: { code } };
}

/** A third of the work meets at four nodes. */
function hotOrAny(known: readonly string[]): string {
  return Math.random() < 0.33 ? anyOf(known.slice(0, 4)) : anyOf(known);
}

/** Mostly one that a node shows, now and then one that is used or that no node ever showed. */
function nextCode(nodes: Nodes): string | undefined {
  if (Math.random() < 0.9 || nodes.bad_codes >= BAD_CODES_MAX) return nodes.codes.shift();
  nodes.bad_codes += 1;
  return nodes.used_codes.length > 0 && Math.random() < 0.5 ? anyOf(nodes.used_codes) : "ZZZ-ZZZ";
}

function learn(nodes: Nodes, { event, body, outcome, answer }: Operation): void {
  if (outcome !== "acknowledged") return;
  const { server_uuid, claim_code } = answer as { server_uuid: string; claim_code: string | null };
  if (event === "register") {
    if (claim_code !== null) nodes.codes.push(claim_code);
    if (!nodes.known.includes(server_uuid)) nodes.known.push(server_uuid);
  }
  if (event === "approve") nodes.used_codes.push((body as { code: string }).code);
}

function anyOf<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)]!;
}
