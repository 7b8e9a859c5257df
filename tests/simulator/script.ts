// Performs the commands of a plan: sends the messages of operators and nodes, and causes crashes.
import { CLAIM_CODE_TAKEN, CLAIM_ENDED } from "../../actors/enrolment-claim/transition.ts";
import { SITE } from "../../actors/site/transition.ts";
import type { LoadedActor } from "../../actors/engine/store.ts";
import type { ActorRef, Json, Message } from "../../actors/engine/types.ts";
import type { NewNodeKey } from "../../actors/cn/messages.ts";
import { CN_ROLES } from "../../src/contract/enums.ts";
import { operate } from "./client.ts";
import type { Cluster } from "./cluster.ts";
import type { Operation } from "./journal.ts";
import type { Command } from "./plan.ts";
import { choose, type Environment, later } from "./environment.ts";

type As<D extends Command["do"]> = Extract<Command, { do: D }>;
type Row = Readonly<Record<string, Json>>;

const REGISTRATIONS_MAX = 6;
/** A round of a registration has at most two requests: the node's join or refresh, then a claim's register or renew. */
const PARTS_OF_ROUND = 2;
const ERRAND_ROUNDS = 4;
const JOBS_AT_ONCE_MAX = 10;

export async function perform(environment: Environment, cluster: Cluster, command: Command): Promise<void> {
  const send = (to: ActorRef, message: Message, part = 0) =>
    operate(environment, cluster, { to, message, command: command.id, part });
  switch (command.do) {
    case "register":
      return await register(environment, command, send);
    case "approve":
      return void await approve(environment, command, send);
    case "disable":
    case "enable":
    case "remove":
      return void await send(cn(command.node), { type: command.do });
    case "set_role":
      return void await send(cn(command.node), { type: "set_role", role: CN_ROLES[command.id % 3] });
    case "key_used": {
      const key_id = rowOf(environment, cn(command.node))?.["bound_api_key_id"] ?? "no such key";
      return void await send(cn(command.node), { type: "key_used", key_id });
    }
    case "open_window": {
      const { duration_secs, count } = command;
      return void await send(SITE, { type: "open_window", duration_secs, count, opened_by: "root" });
    }
    case "close_window":
      return void await send(SITE, { type: "close_window" });
    case "place":
    case "unplace":
      return place(environment, nodeName(command.node), command.do === "place");
    case "start_errand":
      return await startErrand(environment, cluster, command, send);
    case "work":
      return await work(environment, command, send);
    case "trespass":
      return await trespass(environment, command, send);
    case "abandon":
      return await abandon(environment, command, send);
    case "burst":
      return await burst(environment, command, send);
    case "worker":
      return await cluster.at(command.process)?.worker.pass();
    case "crash":
      return crash(environment, cluster, command);
    default:
      command satisfies never;
  }
}

type Send = (to: ActorRef, message: Message, part?: number) => Promise<Operation>;

/**
 * Registers a node as the route and the agent do together. The route tries another claim code if the code is in use.
 * The agent registers again if its claim has ended, and sometimes if it gets no answer.
 */
async function register(environment: Environment, command: As<"register">, send: Send): Promise<void> {
  for (let round = 0; round < REGISTRATIONS_MAX; round += 1) {
    const name = `${command.id}.${round}`;
    const ticket = { registration_id: `registration ${name}`, poll_token_sha256: `token ${name}` };
    const fresh = { ...saidBy(command, name), ...ticket };
    const row = rowOf(environment, cn(command.node));
    const part = round * PARTS_OF_ROUND;
    if (row === null) {
      const how = { key: newKey(name), operation_id: `join ${name}` };
      const joined = await send(cn(command.node), { type: "join", ...fresh, ...how }, part);
      if (joined.out === "ok") return;
    } else if (row["state"] === "approved" && choose(environment, `proof ${name}`, 2) === 0) {
      const proof = { poll_token_sha256: row["poll_token_sha256"] };
      const refreshed = await send(cn(command.node), { type: "refresh", ...fresh, proof }, part);
      if (refreshed.out !== "refused") return;
    }
    const done = await claim(environment, command, { fresh, name, part: part + 1 }, send);
    const taken = done.fault?.error_code === CLAIM_CODE_TAKEN.error_code;
    if (taken) environment.counters.claim_code_taken += 1;
    const ended = done.fault?.message === CLAIM_ENDED.message;
    const afresh = done.out === "unknown" && choose(environment, `afresh ${name}`, 3) > 0;
    if (afresh) environment.counters.client_sent_afresh += 1;
    if (!taken && !ended && !afresh) return;
  }
}

type Fresh = { readonly fresh: Readonly<Record<string, Json>>; readonly name: string; readonly part: number };

/** Creates a claim of the node, or renews the node's newest claim. */
function claim(
  environment: Environment,
  command: As<"register">,
  { fresh, name, part }: Fresh,
  send: Send,
): Promise<Operation> {
  const code = { claim_code: codeFor(environment, name), claim_code_ttl_s: command.code_ttl_s };
  const own = claimsOf(environment, command.node).at(-1);
  if (own !== undefined && choose(environment, `renew ${name}`, 2) === 0) {
    const proof_sha256 = own["poll_token_sha256"];
    const message = { type: "renew", ...fresh, ...code, source: name, proof_sha256 };
    return send({ kind: "enrolment-claim", id: String(own["id"]) }, message, part);
  }
  const id = `claim ${name}`;
  const from = { source: name, source_bucket: "one" };
  return send({ kind: "enrolment-claim", id }, { type: "register", id, ...fresh, ...code, ...from }, part);
}

function saidBy(command: As<"register">, name: string) {
  return {
    server_uuid: nodeName(command.node),
    hostname: `host-${name}`,
    admin_ip: null,
    sysinfo: { rooted: false },
    console_listen_port: null,
    console_tls_spki_sha256_hex: null,
  };
}

/** Returns the claims of a node, in the order of their creation. */
function claimsOf(environment: Environment, node: number): readonly Row[] {
  return rowsOf(environment, "enrolment-claim").map(({ row }) => row).filter((row) =>
    row["server_uuid"] === nodeName(node)
  );
}

async function approve(environment: Environment, command: As<"approve">, send: Send): Promise<void> {
  const claims = claimsOf(environment, command.node);
  const row = claims[choose(environment, `claim to approve ${command.id}`, Math.max(1, claims.length))] ?? null;
  const borrowed = command.key === "borrowed" ? liveKey(environment) : null;
  const expires_at = row?.["expires_at"];
  const done = await send(cn(command.node), {
    type: "approve",
    claim_code: codeToApprove(environment, command, row),
    claim: row === null ? { id: "no such claim" } : takenFrom(row),
    key: borrowed === null ? newKey(`${command.id}`) : { ...newKey(`${command.id}`), id: borrowed },
    operation_id: `join ${command.id}`,
  });
  const refused = done.out === "refused";
  if (refused && done.fault?.kind === "conflict") environment.counters.companion_refused += 1;
  const late = expires_at instanceof Date && environment.scheduler.now() >= expires_at;
  if (refused && command.code === "right" && late) environment.counters.code_expired_at_approve += 1;
}

/** Returns the columns that an approval takes from a claim, as the route reads them. */
function takenFrom(row: Row): Row {
  const { state: _state, claim_code: _code, expires_at: _expires, created_at: _created, ...taken } = row;
  const { source: _source, source_bucket: _bucket, ...rest } = taken;
  return rest;
}

function codeToApprove(environment: Environment, command: As<"approve">, row: Row | null): string {
  if (command.code === "wrong") return codeFor(environment, `guess ${command.id}`);
  const versions = environment.journal.rows.get(`enrolment-claim:${row?.["id"]}`) ?? [];
  const old = versions.find(({ row: each }) => typeof each?.state?.["claim_code"] === "string");
  const code = command.code === "old" ? old?.row?.state?.["claim_code"] : row?.["claim_code"];
  return typeof code === "string" ? code : "NONE00";
}

/** Starts an errand, which waits for its node. The node's agent then polls for work ERRAND_ROUNDS times. */
async function startErrand(
  environment: Environment,
  cluster: Cluster,
  command: As<"start_errand">,
  send: Send,
): Promise<void> {
  const id = `errand ${command.id}`;
  const by = nodeName(command.node);
  const params = { server_uuid: by, guarded: choose(environment, `guarded ${id}`, 3) === 0 };
  await send({ kind: "saga", id }, { type: "start", id, saga: "errand", params, references: [] });
  for (let round = 1; round <= ERRAND_ROUNDS; round += 1) {
    await later(environment, choose(environment, `rest ${id} ${round}`, 400), undefined);
    await work(environment, command, send, round * 10);
    void cluster.at(command.id + round)?.worker.pass();
  }
}

/** Takes the next step of the node's jobs, as the node's agent does. Handles at most JOBS_AT_ONCE_MAX jobs. */
async function work(environment: Environment, command: { readonly node: number }, send: Send, part = 0): Promise<void> {
  const by = nodeName(command.node);
  const jobs = openJobs(environment, by).slice(0, JOBS_AT_ONCE_MAX);
  await Promise.all(jobs.map((job, index) => send(job.ref, workOn(environment, job.row, by), part + index)));
}

/** Tries to work on a node's jobs as another node. */
async function trespass(environment: Environment, command: As<"trespass">, send: Send): Promise<void> {
  const stranger = nodeName(command.node + 1);
  const jobs = openJobs(environment, nodeName(command.node)).slice(0, JOBS_AT_ONCE_MAX);
  const answers = await Promise.all(
    jobs.map((job, index) => send(job.ref, workOn(environment, job.row, stranger), index)),
  );
  environment.counters.trespass_refused += answers.filter(({ fault }) => fault?.kind === "forbidden").length;
}

/** Abandons, as an operator, operations that still wait for the node. */
async function abandon(environment: Environment, command: As<"abandon">, send: Send): Promise<void> {
  const waiting = openJobs(environment, nodeName(command.node)).slice(0, JOBS_AT_ONCE_MAX);
  const refs = waiting.map(({ row }) => ({ kind: "saga", id: String(row["saga_id"]) }));
  const answers = await Promise.all(refs.map((ref, index) => send(ref, { type: "abandon" }, index)));
  environment.counters.operation_abandoned += answers.filter(({ out }) => out === "ok").length;
}

/** Returns the message that claims a pending job or ends a claimed job, sometimes as failed. */
export function workOn(environment: Environment, row: Row, by: string): Message {
  if (row["state"] === "pending") return { type: "claim", by, lease_s: 30 };
  const bad = choose(environment, `job ${String(row["id"])}`, 5) === 0;
  return bad ? { type: "fail", by, reason: "it broke" } : { type: "complete", by, result: { walked: true } };
}

/** Returns the jobs of the node `by` that have not ended; null selects the jobs of all nodes. */
export function openJobs(
  environment: Environment,
  by: string | null,
): readonly { readonly ref: ActorRef; readonly row: Row }[] {
  return rowsOf(environment, "job").filter(({ row }) =>
    (by === null || row["target_cn"] === by) && (row["state"] === "pending" || row["state"] === "in_progress")
  ).map(({ row }) => ({ ref: { kind: "job", id: String(row["id"]) }, row }));
}

async function burst(environment: Environment, command: As<"burst">, send: Send): Promise<void> {
  const id = `lamp-${command.lamp}`;
  const to = { kind: "lamp", id };
  const messages = Array.from(
    { length: command.messages },
    (_, part) => lampMessage(environment, id, command.id, part),
  );
  await Promise.all([{ type: "make", id }, ...messages].map((message, part) => send(to, message, part)));
}

function lampMessage(environment: Environment, id: string, command: number, part: number): Message {
  const name = `${command}.${part}`;
  const draw = (what: string, below: number) => choose(environment, `${what} ${id} ${name}`, below);
  switch (draw("lamp", 12)) {
    case 0:
      return { type: "switch_on" };
    case 1:
      return { type: "switch_off" };
    case 2:
      return { type: "smash" };
    case 3:
      return { type: "hold" };
    case 4:
      return { type: "refund", amount: 1 };
    case 5:
      return { type: "plug", token: `token ${name}` };
    case 6:
    case 7:
      return { type: "draw", amount: 1 + draw("amount", 2), fall_back: draw("fall back", 4) === 0 };
    default:
      return { type: "guarded", allow: draw("allow", 4) > 0, note: name };
  }
}

function place(environment: Environment, node: string, placed: boolean): void {
  if (placed) environment.placed.add(node);
  else environment.placed.delete(node);
  environment.journal.placements.push({ at: environment.journal.moment(), node, placed });
}

function crash(environment: Environment, cluster: Cluster, command: As<"crash">): void {
  const process = cluster.at(command.process);
  if (process === null) return;
  if (command.point !== "anywhere") {
    process.doom = { point: command.point, down_ms: command.down_ms };
    return;
  }
  environment.counters.crash_anywhere += 1;
  cluster.kill(process, command.down_ms);
}

function cn(node: number): ActorRef {
  return { kind: "cn", id: nodeName(node) };
}

function nodeName(node: number): string {
  return `node-${node}`;
}

function codeFor(environment: Environment, name: string): string {
  return String(choose(environment, `code ${name}`, environment.plan.codes)).padStart(6, "0");
}

function newKey(name: string): NewNodeKey {
  return {
    id: `key ${name}`,
    lookup: `lookup ${name}`,
    secret_sha256: `hash ${name}`,
    sealed: `sealed key ${name}`,
    sealed_tickets: `sealed tickets ${name}`,
    user_id: "root",
  };
}

function liveKey(environment: Environment): string | null {
  const id = rowsOf(environment, "api-key")[0]?.row["id"];
  return typeof id === "string" ? id : null;
}

function rowOf(environment: Environment, ref: ActorRef): Row | null {
  return environment.database.tables.actors.get(`${ref.kind}:${ref.id}`)?.state ?? null;
}

function rowsOf(
  environment: Environment,
  kind: string,
): readonly { readonly row: Row; readonly loaded: LoadedActor }[] {
  return [...environment.database.tables.actors].filter(([key]) => key.startsWith(`${kind}:`)).flatMap(([, loaded]) =>
    loaded.state === null ? [] : [{ row: loaded.state, loaded }]
  );
}
