// The actors of the benchmark are a lamp and a compute node. A lamp has a row of a hundred bytes and a small reply. A
// compute node is as in production: a row with 2 kB of hardware inventory, a reply with the whole view, and an audit
// entry for each message.
import { randomUUID } from "node:crypto";
import { cn } from "../../actors/cn/transition.ts";
import type { AnyBehavior, Message, Origin } from "../../actors/engine/types.ts";
import { CN_ROLES } from "../../src/contract/enums.ts";
import type { DbClient } from "../../src/db/pool.ts";
import { lamp, LAMP_SQL } from "../engine/probe.ts";

export type Subject = {
  readonly name: string;
  readonly behavior: AnyBehavior;
  readonly origin: Origin;
  /** Creates the tables that are not in the migrations. */
  prepare(owner: DbClient): Promise<void>;
  /** Inserts actors with version 1. Returns their ids. */
  seed(owner: DbClient, actors: number): Promise<readonly string[]>;
  /** Returns the message with the number `turn` for an actor. Each message changes the row. */
  message(turn: number): Message;
};

const OPERATOR: Origin = {
  actor: { kind: "operator", user_id: randomUUID(), is_root: true },
  request_id: randomUUID(),
};

export const lampSubject: Subject = {
  name: "lamp (100 B)",
  behavior: lamp,
  origin: OPERATOR,
  async prepare(owner) {
    await owner.query(LAMP_SQL);
  },
  async seed(owner, actors) {
    const ids = Array.from({ length: actors }, () => randomUUID());
    await owner.query(
      "insert into lamp (id, incarnation, version, state) select id, gen_random_uuid(), 1, 'off' from unnest($1::uuid[]) id",
      [ids],
    );
    return ids;
  },
  message: (turn) => ({ type: turn % 2 === 0 ? "switch_on" : "switch_off" }),
};

export const cnSubject: Subject = {
  name: "compute node (2 kB)",
  behavior: cn,
  origin: OPERATOR,
  async prepare() {},
  seed: seedNodes,
  // Each message must change the row. Seeded nodes have the first role of CN_ROLES, so message 0 sets the second role.
  message: (turn) => ({ type: "set_role", role: CN_ROLES[(turn + 1) % CN_ROLES.length] ?? "both" }),
};

/** Inserts pending nodes in the state after registration. */
export async function seedNodes(owner: DbClient, actors: number): Promise<readonly string[]> {
  const ids = Array.from({ length: actors }, () => randomUUID());
  await owner.query(
    `insert into cn (server_uuid, incarnation, version, state, hostname, role, admin_ip, sysinfo, registered_at,
                     claim_code, claim_code_expires_at, registration_id, poll_token_sha256)
     select id, gen_random_uuid(), 1, 'pending', 'node-' || n, 'tenant', '192.0.2.1', $2::jsonb, berth_now(),
            lpad(n::text, 6, '0'), berth_now() + interval '1 hour', gen_random_uuid(), encode(sha256(id::text::bytea), 'hex')
       from unnest($1::uuid[]) with ordinality as node(id, n)`,
    [ids, JSON.stringify(inventory())],
  );
  return ids;
}

/** Returns an inventory of about 2 kB that is similar to the inventory from a real agent. */
export function inventory(): Record<string, unknown> {
  const disk = (n: number) => ({
    name: `nvme${n}n1`,
    model: "NVMe Datacenter 3.84TB",
    size_bytes: 3_840_755_982_336,
    n,
  });
  const port = (n: number) => ({ name: `ens1f${n}`, mac: `02:00:00:00:00:0${n}`, speed_mbps: 25_000, link: true });
  return {
    manufacturer: "Example Systems",
    product: "2U dual socket",
    serial_number: "EX-2026-0001",
    bios: { vendor: "Example", version: "2.4.1", date: "2026-03-01" },
    cpu: {
      model: "Example 9004 series",
      sockets: 2,
      cores: 96,
      threads: 192,
      flags: ["avx2", "avx512f", "aes", "svm"],
    },
    memory: {
      total_bytes: 824_633_720_832,
      dimms: Array.from({ length: 12 }, (_, n) => ({ slot: `A${n}`, gib: 64, serial: `EX64G-${4_000 + n}` })),
    },
    disks: Array.from({ length: 8 }, (_, n) => disk(n)),
    nics: Array.from({ length: 4 }, (_, n) => port(n)),
    boot_params: { console: "ttyS0,115200", hostname: "node" },
  };
}
