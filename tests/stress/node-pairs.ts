// Tests every pair of commands on one node, in every state of the node. The statements of a pair run in each order of
// SCHEDULES. The answers and the final state must be the same as when one command runs after the other
// (docs/reliability.md, R-02).
import type { CnMessage, NewNodeKey } from "../../actors/cn/messages.ts";
import type { Msg } from "../../actors/enrolment-claim/messages.ts";
import { approvalOf, description, nodeKey, registration } from "./node-messages.ts";
import { checkAll, newReport, type PairReport, tryPair, VIOLATIONS_MAX } from "./pair.ts";
import type { TwoEngines } from "./two-engines.ts";
import { stageImage } from "./staged-image.ts";

const STATES = ["absent", "pending", "approved", "disabled", "awaiting_setup", "setting_up"] as const;
type State = (typeof STATES)[number];
/** The invariants of the whole database are checked once per this many pairs. */
const CHECK_EVERY = 50;

/** The ids of a node in a state, and names that replace these ids in results. */
type ParentFixture = {
  readonly id: string;
  /** The message with which the node registered, or would register. */
  readonly claim: Msg<"register">;
  readonly epoch: number;
  readonly names: Map<string, string>;
};

type Make = (fixture: ParentFixture, by: string, two: TwoEngines) => CnMessage | Msg<"register">;

const COMMANDS: Readonly<Record<string, Make>> = {
  register: ({ id, names }, by, two) => registered(id, names, by, two),
  join: ({ id, names }, by, two) => ({
    type: "join",
    ...description({ server_uuid: id, hostname: `joined-${by}` }, two.newId),
    key: newKey(names, by, two),
    operation_id: two.newId(),
  }),
  refresh: ({ id, claim: { poll_token_sha256 } }, by, two) => ({
    type: "refresh",
    ...description({ server_uuid: id, hostname: `refreshed-${by}` }, two.newId),
    proof: { poll_token_sha256 },
  }),
  approve: ({ claim, names }, by, two) => approvalOf(claim, newKey(names, by, two), two.newId()),
  disable: () => ({ type: "disable" }),
  enable: () => ({ type: "enable" }),
  remove: () => ({ type: "remove" }),
  factory_reset: () => ({ type: "factory_reset" }),
  set_role: (_fixture, by) => ({ type: "set_role", role: by === "first" ? "edge" : "both" }),
  set_traits: (_fixture, by) => ({ type: "set_traits", traits: { by } }),
  set_placement: (_fixture, by) => ({ type: "set_placement", patch: { cordoned: by === "first" } }),
  set_root_password: (_fixture, by) => ({ type: "set_root_password", root_password_hash: `$6$${by}$hash` }),
  announce: ({ id }, by) => ({
    type: "announce",
    server_uuid: id,
    hostname: `announced-${by}`,
    sysinfo: INVENTORY,
    policy_version: 1,
    window_needed: false,
    mac: null,
    admitted: [],
  }),
  approve_setup: ({ names }, by, two) => approval(newEpoch(names, by), two),
  take_bundle: ({ names }, by, two) => ({ type: "take_bundle", key: newKey(names, by, two) }),
  setup_progressed: ({ epoch }, by) => ({ type: "setup_progressed", epoch, step: by, message: null, percent: 1 }),
  setup_completed: ({ epoch }) => ({ type: "setup_completed", epoch, enrollment_pi: "pi", admin_ip: null }),
  setup_failed: ({ epoch }, by) => ({ type: "setup_failed", epoch, reason: by }),
  revert_setup: ({ epoch }, by) => ({ type: "revert_setup", epoch, reason: by }),
};

/** An inventory with enough disks for a layout. */
const INVENTORY = { Disks: { c0t0d0: { "Size in GB": 600 }, c0t1d0: { "Size in GB": 600 } } };

let user_id = "";

/** Creates a user for the nodes' keys and an enrolment image. */
async function prepare(two: TwoEngines): Promise<void> {
  user_id = two.newId();
  await two.make({ kind: "user", id: user_id }, { type: "create_root", id: user_id, username: "root" });
  await two.make({ kind: "boot-policy", id: "site" }, {
    type: "put",
    policy: { auto_enroll: true, allowlist: [], enrollment_pi: "pi", enrollment_kernel_args: [], admin_network: null },
    span: null,
    expected: null,
    current: 0,
  });
  await stageImage(two, { stamp: "pi", user_id });
}

/** Runs the pairs, or only every nth of them. */
export async function runNodePairs(two: TwoEngines, every = 1): Promise<PairReport> {
  await prepare(two);
  const report = newReport();
  const names = Object.keys(COMMANDS);
  const pairs = STATES.flatMap((state) =>
    names.flatMap((first, index) => names.slice(index).map((second) => [state, first, second] as const))
  );
  for (const [index, [state, first, second]] of pairs.entries()) {
    if (index % every !== 0 || report.violations.length >= VIOLATIONS_MAX) continue;
    await tryPair(two, report, {
      name: `${first} and ${second} of a node that is ${state}`,
      fixture: () => fixtureIn(state, two),
      act: (fixture, party) => {
        const message = COMMANDS[party === 0 ? first : second]!(fixture, party === 0 ? "first" : "second", two);
        const to = message.type === "register"
          ? { kind: "enrolment-claim", id: message.id }
          : { kind: "cn", id: fixture.id };
        return two.sides[party].engine.send(to, message);
      },
      left: (fixture) => leftOf(two, fixture),
    });
    if (report.pairs % CHECK_EVERY === 0) {
      await checkAll(two, report);
      await removeWaiting(two);
    }
  }
  await two.rest();
  await checkAll(two, report);
  return report;
}

/** Removes the nodes that have claims, because a site takes a limited number of claims. */
async function removeWaiting(two: TwoEngines): Promise<void> {
  const { rows } = await two.db.query<{ id: string }>("select distinct server_uuid as id from enrolment_claim");
  // Ignores refusals, because a node that waits for its setup or is in setup cannot be disabled.
  for (const type of ["disable", "remove"]) {
    await Promise.all(rows.map(({ id }) => two.send({ kind: "cn", id }, { type })));
  }
}

/** Returns the node and its keys, with names instead of ids, so that results of different nodes are comparable. */
async function leftOf(two: TwoEngines, { id, names }: ParentFixture): Promise<unknown> {
  const { rows: [row] } = await two.db.query(
    `select state, hostname, role, unproven, bound_api_key_id,
            (select array_agg(k.claim_code order by k.claim_code) from enrolment_claim k
              where k.server_uuid = cn.server_uuid) as claims, pending_credential is null as delivered,
            ticket_keys is null as without_tickets, setup_epoch, bundle_taken, root_password_hash, last_setup_error,
            setup_progress->>'step' as step, disk_layout is null as without_layout, conflict is null as alone,
            (select array_agg(k.id::text order by k.id) from api_key k where k.bound_to_cn = cn.server_uuid) as keys,
            (select p.cordoned from cn_placement p where p.server_uuid = cn.server_uuid) as cordoned,
            (select p.traits from cn_placement p where p.server_uuid = cn.server_uuid) as traits
       from cn where server_uuid = $1`,
    [id],
  );
  if (row === undefined) return "absent";
  return JSON.parse(JSON.stringify(row), (_key, value) => names.get(String(value)) ?? value);
}

async function fixtureIn(state: State, two: TwoEngines): Promise<ParentFixture> {
  const id = two.newId();
  const names = new Map<string, string>([[id, "the node"]]);
  const claim = registered(id, names, "its", two);
  const epoch = newEpoch(names, "its");
  const fixture = { id, claim, epoch, names };
  const tell = (message: CnMessage) => two.make({ kind: "cn", id }, message);
  const key = newKey(names, "its", two);
  switch (state) {
    case "absent":
      return fixture;
    case "pending":
    case "approved":
    case "disabled":
      await two.make({ kind: "enrolment-claim", id: claim.id }, claim);
      if (state !== "pending") await tell(approvalOf(claim, key, two.newId()));
      if (state === "disabled") await tell({ type: "disable" });
      return fixture;
    case "awaiting_setup":
    case "setting_up":
      await tell(COMMANDS["announce"]!(fixture, "its", two) as CnMessage);
      if (state === "awaiting_setup") return fixture;
      await tell(approval(epoch, two));
      await tell({ type: "take_bundle", key });
      return fixture;
  }
}

function registered(server_uuid: string, names: Map<string, string>, by: string, { newId }: TwoEngines) {
  const id = newId();
  names.set(id, `the claim of ${by}`);
  return registration({ id, server_uuid, hostname: `registered-${by}`, claim_code: newCode(names, by) }, newId);
}

function approval(epoch: number, two: TwoEngines): CnMessage {
  const plain = { disk_width: null, disk_spares: null, disk_exclude: [], disk_compress: null, hostname: null };
  const layout = { ...plain, disk_layout: "mirror", disk_cache: true } as const;
  return { type: "approve_setup", approval: layout, epoch, operation_id: two.newId() };
}

let made = 0;

function newCode(names: Map<string, string>, by: string): string {
  const code = (made += 1).toString(36).toUpperCase().padStart(6, "0");
  names.set(code, `the code of ${by}`);
  return code;
}

function newEpoch(names: Map<string, string>, by: string): number {
  made += 1;
  names.set(String(made), `the epoch of ${by}`);
  return made;
}

function newKey(names: Map<string, string>, by: string, two: TwoEngines): NewNodeKey {
  const id = two.newId();
  names.set(id, `the key of ${by}`);
  return nodeKey({ id, user_id, by });
}
