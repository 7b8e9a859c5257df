// Creates bare machines for tests, and takes a machine from its first packet to an approved node.
import { randomUUID } from "node:crypto";
import type { Db } from "../../src/db/pool.ts";
import { type Answer, type CallOptions, okOf, type TestControlPlane } from "../support/control-plane.ts";

/** A connection to a server, in this process or another. */
export type Caller = Pick<TestControlPlane, "call">;

export type Machine = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly macs: readonly string[];
  readonly sysinfo: Record<string, unknown>;
};

/** A machine whose setup was approved, with the values of the bundle that was fetched. */
export type Run = Machine & { readonly epoch: number; readonly operation_id: string; readonly api_key: string };

let macs_made = 0;

export function newMac(): string {
  macs_made += 1;
  const hex = macs_made.toString(16).padStart(6, "0");
  return `02:be:57:${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4)}`;
}

/** Builds a machine's inventory with these ports, and with disks of these sizes in GB. */
export function sysinfoOf(macs: readonly string[], sizes_gb: readonly number[] = [600, 600, 600, 600]) {
  return {
    "Serial Number": "TAG123",
    "Network Interfaces": Object.fromEntries(macs.map((mac, index) => [`net${index}`, { "MAC Address": mac }])),
    "Disks": Object.fromEntries(sizes_gb.map((size, index) => [`c0t${index}d0`, { "Size in GB": size }])),
  };
}

export function newMachine(ports = 2): Machine {
  const macs = Array.from({ length: ports }, newMac);
  return { server_uuid: randomUUID(), hostname: "bare-1", macs, sysinfo: sysinfoOf(macs) };
}

export const ENROLLMENT_PI = "20260901T000000Z";

/** A boot policy that admits every machine, with enough addresses for all tests. */
export const POLICY = {
  auto_enroll: true,
  allowlist: [] as unknown[],
  enrollment_pi: ENROLLMENT_PI as string | null,
  enrollment_kernel_args: [] as string[],
  admin_network: {
    ipv4_block: "10.20.0.0/16",
    provision_start_ipv4: "10.20.0.10",
    provision_end_ipv4: "10.20.255.250",
    gateway: "10.20.0.1",
    resolvers: ["10.20.0.2"],
  } as Record<string, unknown> | null,
};

export function putPolicy(t: Caller, changes: Partial<typeof POLICY> = {}, options: CallOptions = {}) {
  return t.call("PUT", "/v2/cn-boot-policy", { body: { ...POLICY, ...changes }, ...options });
}

/** Reports that a booter has the image of POLICY and these images. */
export function stageImages(t: Caller, ...more: readonly string[]) {
  return t.call("PUT", "/v2/platform-images", { body: { stamps: [ENROLLMENT_PI, ...more] } });
}

export function seen(t: Caller, mac: string, options: CallOptions = {}): Promise<Answer> {
  return t.call("POST", "/v2/booter/seen", { body: { mac, client: { arch: "x86_64" } }, ...options });
}

export function announce(
  t: Caller,
  machine: Machine,
  changes: Record<string, unknown> = {},
): Promise<Answer> {
  const { server_uuid, hostname, sysinfo } = machine;
  return t.call("POST", "/v2/booter/announce", { body: { server_uuid, hostname, sysinfo, ...changes } });
}

export function onNode(
  t: Caller,
  method: string,
  machine: { server_uuid: string },
  rest = "",
  body?: unknown,
) {
  return t.call(method, `/v1/cns/${machine.server_uuid}${rest}`, { body });
}

export function approveSetup(t: Caller, machine: Machine, body: unknown = { disk_layout: "mirror" }) {
  return onNode(t, "POST", machine, "/approve-setup", body);
}

export function takeBundle(t: Caller, machine: Machine, options: CallOptions = {}): Promise<Answer> {
  return t.call("POST", `/v2/booter/cns/${machine.server_uuid}/bundle`, options);
}

export const REPORTS = {
  progress: { step: "pool" },
  complete: {},
  failed: { reason: "pool creation failed" },
} as const;
export type ReportKind = keyof typeof REPORTS;

/** Sends a report of a setup run. */
export function report(
  t: Caller,
  machine: Machine,
  kind: ReportKind,
  body: { epoch: number } & Record<string, unknown>,
): Promise<Answer> {
  return t.call("POST", `/v2/booter/cns/${machine.server_uuid}/setup-${kind}`, { body: { ...REPORTS[kind], ...body } });
}

/** Creates a machine, reports that the booter saw each of its ports, and announces it. */
export async function awaitingSetup(t: Caller, machine = newMachine()): Promise<Machine> {
  for (const mac of machine.macs) okOf(await seen(t, mac));
  okOf(await announce(t, machine));
  return machine;
}

/** Approves a machine's setup and fetches its bundle. */
export async function settingUp(t: Caller, machine?: Machine): Promise<Run> {
  const bare = machine ?? await awaitingSetup(t);
  const { operation_id } = okOf(await approveSetup(t, bare));
  const { epoch, api_key } = okOf(await takeBundle(t, bare));
  return { ...bare, epoch, operation_id, api_key };
}

/** Sets up a machine by netboot; its node is then approved. */
export async function setUp(t: Caller, machine?: Machine): Promise<Run> {
  const run = await settingUp(t, machine);
  okOf(await report(t, run, "complete", { epoch: run.epoch }));
  return run;
}

export async function showNode(t: Caller, { server_uuid }: { server_uuid: string }) {
  return (await t.call("GET", `/v1/system/cns/${server_uuid}`)).body;
}

/** Returns a boot record without its last netboot request and its boot arguments, which only some answers have. */
export async function showRecord(t: TestControlPlane, mac: string | undefined) {
  const { client: _request, boot_arguments: _arguments, ...record } = (await t.call("GET", `/v2/cn-boot/${mac}`)).body;
  return record;
}

/** Returns the last netboot request of a machine. */
export async function showRequest(t: TestControlPlane, mac: string) {
  return (await t.call("GET", `/v2/cn-boot/${mac}`)).body.client;
}

/** Returns the states of the machine's boot records, in the order of its ports. */
export async function recordStates(t: TestControlPlane, { macs }: Machine): Promise<string[]> {
  return await Promise.all(macs.map(async (mac) => (await showRecord(t, mac)).state));
}

/** Returns the ids of the keys that are bound to a node. */
export async function keysOf(t: TestControlPlane, { server_uuid }: { server_uuid: string }): Promise<string[]> {
  const { rows } = await t.db.query<{ id: string }>("select id from api_key where bound_to_cn = $1", [server_uuid]);
  return rows.map(({ id }) => id);
}

/** Returns the node's row in the database. */
export async function rowOf(t: TestControlPlane, { server_uuid }: { server_uuid: string }) {
  const { rows } = await t.db.query<{ row: Record<string, unknown> }>(
    "select to_jsonb(cn) as row from cn where server_uuid = $1",
    [server_uuid],
  );
  return rows[0]?.row ?? null;
}

/** Runs background work until none is left, so that two dumps of the database differ only by the test's changes. */
export async function settle(t: TestControlPlane): Promise<void> {
  do await t.plane.pass(); while (!await isIdle(t.db));
}

/** Returns whether no saga and no node is due and the outbox is empty. */
export async function isIdle(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ rests: boolean }>(
    `select not exists (select from outbox) and not exists (select from saga where wake_at <= berth_now())
        and not exists (select from cn where wake_at <= berth_now()) as rests`,
  );
  return rows[0]?.rests === true;
}

/** Tables that hold history (transitions, denials, stored answers) instead of current state. */
export const HISTORY = [
  "transition",
  "seen",
  "idempotency",
  "audit_event",
  "audit_head",
  "denial_window",
  "api_key_use",
];

/** Returns all orders of the items. */
export function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest])
  );
}
