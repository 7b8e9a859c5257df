// Stores frequent signals from nodes and about API keys, by batched upserts without a version, a stored reply or an
// audit event. No acknowledged signal is lost: the server replies after it has committed the signal, or a newer one
// from the same node. Heartbeats, polls, status reports and capacity reports of an agent update last_seen.
import { type Fault, fault } from "../contract/fault.ts";
import type { Hardware } from "../contract/hardware.ts";
import type { ReportedMetrics } from "../contract/instance-metrics.ts";
import type { BootClientFacts } from "../lib/net/boot-client.ts";
import type { Db } from "./pool.ts";
import { createSignalBatch, type Entry, type SignalBatch } from "./signal-batch.ts";

export type Signals = {
  /**
   * Records that the node was seen. Every method that can return a Fault resolves to null when the signal is committed.
   * If too many signals are queued, or after `close`, the method drops the signal and resolves to a 503. It rejects if
   * the write fails.
   */
  heartbeat(server_uuid: string): Promise<Fault | null>;
  /**
   * Stores a status report. Ignores it if the stored report arrived after the node's latest approval and has the same
   * time or a later one.
   */
  status(server_uuid: string, payload: unknown, timing?: TimedStatus): Promise<Fault | null>;
  capacity(server_uuid: string, report: unknown): Promise<Fault | null>;
  /**
   * Stores a sample of each instance that is on this node, and counts its traffic. Ignores other instances. `made_at`
   * is as in TimedStatus.
   */
  metrics(server_uuid: string, samples: readonly ReportedMetrics[], made_at?: string | null): Promise<Fault | null>;
  /** Renews the leases of these jobs. Ignores jobs that are not in progress on this node. */
  running(server_uuid: string, jobs: readonly string[]): Promise<Fault | null>;
  /** Stores the progress of a job, if the job is in progress on this node. */
  progress(server_uuid: string, report: JobProgressReport): Promise<Fault | null>;
  /** Stores the last netboot request of the machine with this boot record. */
  bootRequest(mac: string, request: BootClientFacts & { readonly seen_by: string }): Promise<Fault | null>;
  /** Stores the hardware of a node, as its BMC shows it. */
  hardware(server_uuid: string, read: HardwareRead): Promise<Fault | null>;
  /** Records that a key was used. Does not wait for the write; if the write fails, the use is not recorded. */
  keyUsed(key_id: string): void;
  /** Writes the queued signals. Later signals are dropped and get a 503. */
  close(): Promise<void>;
};

/**
 * `id` is unique to this message. `made_at` is the time on the node's clock, RFC 3339 in UTC; null if the node did not
 * send one.
 */
export type TimedStatus = { readonly id: string; readonly made_at: string | null };
export type JobProgressReport = { readonly job_id: string; readonly step: string; readonly percent: number | null };

export type HardwareRead = { readonly hardware: Hardware; readonly read_by: string };

/** Batch delay of signals whose caller waits for the write. */
const FLUSH_MS = 20;
/** Batch delay of signals that a key was used, for which no caller waits. */
const USE_FLUSH_MS = 1_000;
/**
 * The shortest time between two samples of an instance. Nodes send a sample three times less often, so that a delayed
 * sample and the next one are both stored.
 */
const METRICS_APART_S = 5;
const BUSY = fault("unavailable", "the server is busy; try again", { retry_after_s: 1 });

// Rows are locked in the order of their keys, so that two processes cannot deadlock.
const SEEN = `
  insert into cn_signal as s (server_uuid, last_seen)
    select u.id, n.now from unnest($1::uuid[]) u(id), (select berth_now() as now) n
     where exists (select from cn where server_uuid = u.id) order by u.id
  on conflict (server_uuid) do update set last_seen = greatest(s.last_seen, excluded.last_seen)`;

// A stored report from before the node's latest approval is always replaced, because the node's clock may have changed
// since the report.
const STATUS = `
  insert into cn_signal as s (server_uuid, last_seen, last_status, status_at, status_made_at, status_id)
    select distinct on (u.id) u.id, n.now, t.json->'payload', n.now, (t.json->>'made_at')::timestamptz,
           (t.json->>'id')::uuid
      from unnest($1::text[], $2::text[]) k(key, text), lateral (select split_part(k.key, ' ', 1)::uuid as id) u,
           lateral (select k.text::jsonb as json) t, (select berth_now() as now) n
     where exists (select from cn where server_uuid = u.id) order by u.id, (t.json->>'made_at')::timestamptz desc
  on conflict (server_uuid) do update
    set last_seen = greatest(s.last_seen, excluded.last_seen),
        (last_status, status_at, status_made_at, status_id) = (
          select v.status, v.at, v.made_at, v.id
            from (values (true, s.last_status, s.status_at, s.status_made_at, s.status_id),
                         (false, excluded.last_status, excluded.status_at, excluded.status_made_at, excluded.status_id))
                 v(stays, status, at, made_at, id)
           where v.stays = coalesce(excluded.status_made_at <= s.status_made_at and s.status_at >=
                                    (select approved_at from cn where cn.server_uuid = s.server_uuid), false))`;

// The agent's version is a separate column, so that a list of nodes need not read the reports. The column is written
// only when the version changes.
const CAPACITY = `
  with reports as materialized (
    select u.id, u.json::jsonb as report, n.now
      from unnest($1::uuid[], $2::text[]) u(id, json), (select berth_now() as now) n
     where exists (select from cn where server_uuid = u.id) order by u.id),
  stored as (
    insert into cn_capacity (server_uuid, report, reported_at) select id, report, now from reports
    on conflict (server_uuid) do update set report = excluded.report, reported_at = excluded.reported_at)
  insert into cn_signal as s (server_uuid, last_seen, agent_version) select id, now, report->>'agent_version' from reports
  on conflict (server_uuid) do update set agent_version = excluded.agent_version
    where s.agent_version is distinct from excluded.agent_version`;

const METRICS = `select store_metrics($1::uuid[], $2::text[], ${METRICS_APART_S})`;

const KEY_USED = `
  insert into api_key_use as s (key_id, last_used_at)
    select u.id, n.now from unnest($1::uuid[]) u(id), (select berth_now() as now) n
     where exists (select from api_key where id = u.id) order by u.id
  on conflict (key_id) do update set last_used_at = greatest(s.last_used_at, excluded.last_used_at)`;

const RUNNING = `
  insert into job_signal as s (job_id, renewed_at)
    select distinct j.id, n.now
      from unnest($1::text[], $2::text[]) u(node, ids), jsonb_array_elements_text(u.ids::jsonb) i(id),
           job j, (select berth_now() as now) n
     where j.id = i.id::uuid and j.claimed_by = u.node and j.state = 'in_progress' order by j.id
  on conflict (job_id) do update set renewed_at = greatest(s.renewed_at, excluded.renewed_at)`;

const PROGRESS = `
  insert into job_signal as s (job_id, step, percent, progress_at)
    select j.id, p.step, p.percent, n.now
      from unnest($1::text[]) u(json), jsonb_to_record(u.json::jsonb) p(node text, job_id uuid, step text, percent real),
           job j, (select berth_now() as now) n
     where j.id = p.job_id and j.claimed_by = p.node and j.state = 'in_progress' order by j.id
  on conflict (job_id) do update set step = excluded.step, percent = excluded.percent, progress_at = excluded.progress_at`;

const BOOT_REQUEST = `
  insert into boot_client as s (mac, arch, vendor_class, user_class, guid, relay, has_boot_file, seen_by, seen_at)
    select u.mac, r.arch, r.vendor_class, r.user_class, r.guid, r.relay, r.has_boot_file, r.seen_by, n.now
      from unnest($1::text[], $2::text[]) u(mac, json), jsonb_populate_record(null::boot_client, u.json::jsonb) r,
           (select berth_now() as now) n
     where exists (select from boot_record where mac = u.mac) order by u.mac
  on conflict (mac) do update
    set arch = excluded.arch, vendor_class = excluded.vendor_class, user_class = excluded.user_class,
        guid = excluded.guid, relay = excluded.relay, has_boot_file = excluded.has_boot_file, seen_by = excluded.seen_by,
        seen_at = greatest(s.seen_at, excluded.seen_at)`;

const HARDWARE = `
  insert into cn_hardware as s (server_uuid, hardware, read_at, read_by)
    select u.id, u.json::jsonb->'hardware', n.now, u.json::jsonb->>'read_by'
      from unnest($1::uuid[], $2::text[]) u(id, json), (select berth_now() as now) n
     where exists (select from cn where server_uuid = u.id) order by u.id
  on conflict (server_uuid) do update
    set hardware = excluded.hardware, read_at = excluded.read_at, read_by = excluded.read_by`;

export function createSignals(db: Db, options: { flush_ms?: number; entries_max?: number } = {}): Signals {
  const { flush_ms: delay_ms = FLUSH_MS, entries_max } = options;
  /** Each connection parses the statement once, under this name. */
  const batch = (name: string, sql: string, params: (entries: readonly Entry[]) => unknown[], wait_ms = delay_ms) =>
    createSignalBatch({
      write: (entries) => db.query(sql, params(entries), `signal ${name}`),
      delay_ms: wait_ms,
      entries_max,
    });
  const keysAndJsons = (entries: readonly Entry[]) => [keys(entries), jsons(entries)];
  const seen = batch("seen", SEEN, (entries) => [keys(entries)]);
  const statuses = batch("status", STATUS, keysAndJsons);
  const capacities = batch("capacity", CAPACITY, keysAndJsons);
  const metrics = batch("metrics", METRICS, keysAndJsons);
  const uses = batch("key used", KEY_USED, (entries) => [keys(entries)], USE_FLUSH_MS);
  const renewals = batch("running", RUNNING, keysAndJsons);
  const steps = batch("progress", PROGRESS, (entries) => [jsons(entries)]);
  const hardwares = batch("hardware", HARDWARE, keysAndJsons);
  const requests = batch("boot request", BOOT_REQUEST, keysAndJsons);
  let closed = false;

  async function put(into: SignalBatch, key: string, json = ""): Promise<Fault | null> {
    const durable = closed ? null : into.put({ key: key.toLowerCase(), json });
    if (durable === null) return BUSY;
    await durable;
    return null;
  }

  return {
    heartbeat: (server_uuid) => put(seen, server_uuid),
    // Reports with different times have different keys in the batch, so that the statement can choose the latest.
    status: (server_uuid, payload, timing) =>
      put(statuses, `${server_uuid} ${timing?.made_at ?? ""}`, JSON.stringify({ ...timing, payload })),
    capacity: async (server_uuid, report) => {
      const faults = await Promise.all([put(capacities, server_uuid, JSON.stringify(report)), put(seen, server_uuid)]);
      return faults[0] ?? faults[1];
    },
    metrics: (server_uuid, samples, made_at = null) =>
      samples.length === 0
        ? Promise.resolve(null)
        : put(metrics, server_uuid, JSON.stringify(samples.map((sample) => ({ ...sample, made_at })))),
    running: (server_uuid, jobs) =>
      jobs.length === 0 ? Promise.resolve(null) : put(renewals, server_uuid, JSON.stringify(jobs)),
    progress: (server_uuid, report) =>
      put(steps, `${server_uuid} ${report.job_id}`, JSON.stringify({ node: server_uuid, ...report })),
    bootRequest: (mac, request) => put(requests, mac, JSON.stringify(request)),
    hardware: (server_uuid, read) => put(hardwares, server_uuid, JSON.stringify(read)),
    keyUsed: (key_id) => void put(uses, key_id).catch(() => {}), // The next use of the key sends the signal again.
    close: async () => {
      closed = true;
      await Promise.all(
        [seen, statuses, capacities, metrics, uses, renewals, steps, requests, hardwares].map((each) => each.flush()),
      );
    },
  };
}

function keys(entries: readonly Entry[]): string[] {
  return entries.map(({ key }) => key);
}

function jsons(entries: readonly Entry[]): string[] {
  return entries.map(({ json }) => json);
}
