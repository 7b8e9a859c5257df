// Starts all servers of the booter. They share the boot records, the served files and the function that decides what a
// machine boots (decision.ts).
import { join } from "node:path";
import { openAmqp } from "./amqp/listener.ts";
import { amqpLogin, macOfLogin } from "./amqp/rights.ts";
import type { BooterConfig } from "./config.ts";
import { bootFile, peersFor, serverFor } from "./boot-file.ts";
import { type Counters, newCounters } from "./counters.ts";
import type { BootSettings } from "./decision.ts";
import type { DhcpRules } from "./dhcp/answer.ts";
import { openDhcp } from "./dhcp/server.ts";
import { NO_LEASES, openLeases } from "./dhcp/leases.ts";
import { openBootRequests } from "./dhcp/requests.ts";
import { newTransactions, type Transactions } from "./dhcp/transactions.ts";
import { type Files, openFiles } from "./files.ts";
import type { HttpHandler } from "./http/answer.ts";
import { bootHandler, mayBoot } from "./http/routes.ts";
import { openHttp } from "./http/server.ts";
import { ANNOUNCE_MS, READING_MS, REFRESH_MS, STAGED_SCAN_MS } from "./limits.ts";
import { type Log, rateLimited } from "./log.ts";
import { openMetrics } from "./metrics.ts";
import { type Mirror, openMirror } from "./mirror/mirror.ts";
import { imageKey, upstreamKey } from "./mirror/upstream-key.ts";
import { cachePath, loadCache, saveCache } from "./api-client/cache-file.ts";
import { type ApiClient, openApiClient } from "./api-client/client.ts";
import { openRecords, type Records } from "./api-client/records.ts";
import { ownSecret, readSecretLine, readTls } from "./private-file.ts";
import { every, type Repeated } from "./repeat.ts";
import { openScriptUses } from "./script-uses.ts";
import { type Enrolment, openEnrolment } from "./setup/enrolment.ts";
import { withHandover } from "./setup/handover.ts";
import { openLedger } from "./setup/ledger.ts";
import { setupRoutes } from "./setup/routes.ts";
import { openTftp } from "./tftp/server.ts";

export type Booter = {
  readonly ports: {
    readonly dhcp: number;
    readonly tftp: number;
    readonly http: number;
    readonly https: number | null;
    readonly metrics: number;
    readonly amqp: number | null;
  };
  readonly records: Records;
  readonly counters: Counters;
  readonly enrolment: Enrolment;
  close(): Promise<void>;
};

export type BooterOptions = {
  readonly config: BooterConfig;
  readonly log: Log;
  /** Replaces the API client that the configuration describes; for tests. */
  readonly api?: ApiClient;
};

const MIRROR_MS = 3_600_000;
/** The pause after a failed refresh of the mirror. It is short, so that a new site does not wait an hour. */
const MIRROR_RETRY_MS = 60_000;
/** How often the cached records are written to disk. */
const SAVE_MS = 30_000;

export async function openBooter({ config, log, api: given }: BooterOptions): Promise<Booter> {
  const counters = newCounters();
  const quiet = rateLimited(log, { every_ms: 60_000, subjects_max: 4_096 });
  const key_file = config.control_plane.key_file;
  const api = given ?? openApiClient({
    url: config.control_plane.url,
    key: await readSecretLine(key_file, "control_plane.key_file"),
  });
  const secret = await ownSecret(config.state_dir);
  const cache = await loadCache(cachePath(config.state_dir), secret);
  if (cache === null) log("cache.damaged", { path: cachePath(config.state_dir) });
  const records = openRecords({
    api,
    cache_age_ms: config.control_plane.cache_max_age_hours * 3_600_000,
    log: quiet,
    now: Date.now,
    start: cache ?? [],
  });
  const files = openFiles(config.files_dir, () => imageKey(config.image_key_file));
  await files.scan();
  const uses = await openScriptUses(config.state_dir, Date.now);
  const file_uses = await openScriptUses(config.state_dir, Date.now, "used-files");
  const last = newTransactions();
  const transactions: Transactions = {
    ...last,
    discovered(mac, transaction) {
      uses.renewed(mac, transaction.xid);
      file_uses.renewed(mac, transaction.xid);
      last.discovered(mac, transaction);
    },
  };
  const settings = (): BootSettings => ({
    answer_only_pxe: config.dhcp.answer_only_pxe,
    enrollment_pi: records.policy().enrollment_pi,
    staged: files.staged(),
    arm64_images: files.arm64Images(),
    has_arm64: files.hasArm64(),
  });
  const leases = config.dhcp.mode === "proxy" ? await openLeases(config.state_dir) : NO_LEASES;
  const mayBootFrom = (address: string) => mayBoot(address, { records, leases, settings });
  const rules: DhcpRules = {
    segments: config.segment,
    relays: config.dhcp.relays,
    relay_reply: config.dhcp.relay_reply,
    is_proxy: config.dhcp.mode === "proxy",
  };

  const closers: (() => Promise<void>)[] = [];
  const repeated: Repeated[] = [];
  const close = async () => {
    for (const each of repeated) each.stop();
    for (const each of closers.reverse()) await each();
  };
  let http_port = config.http.port;
  let https_port: number | null = null;
  let amqp_port: number | null = null;
  const originFor = (address: string) => `http://${serverFor(config, address)}:${http_port}`;

  try {
    const ledger = await openLedger(config.state_dir);
    const setup_ports = {
      api,
      setup: config.ur?.setup ?? null,
      async consoleOf(address: string) {
        const mac = records.macOf(address);
        const facts = mac === null ? null : (await records.find(mac, {})).facts;
        return facts?.boot_arguments.console?.port ?? config.console;
      },
      originFor,
      counters,
      log: quiet,
    };
    const enrolment = openEnrolment({ ...setup_ports, ledger, peersFor: (address) => peersFor(config, address) });
    const macOf = (address: string) => records.macOf(address);
    const calls = withHandover({ ...setup_ports, own: enrolment, macOf, now: () => performance.now() });
    const mirror = await mirrorOf(config, log);
    const more = [setupRoutes({ calls, files, mayBoot: mayBootFrom }), ...(mirror === null ? [] : [mirror.handle])];
    const handler: HttpHandler = bootHandler({
      secret,
      records,
      leases,
      settings,
      files,
      console: config.console,
      originFor,
      amqpFor: (mac, address) => {
        const login = amqpLogin(secret, mac);
        const server = serverFor(config, address);
        return amqp_port === null ? null : `${login.user}:${login.password}:${server}:${amqp_port}`;
      },
      architectureOf: (mac) => transactions.last(mac)?.client.architecture ?? null,
      xidOf: (mac) => transactions.last(mac)?.xid ?? null,
      uses,
      file_uses,
      now: () => new Date(),
      counters,
      log,
      more,
    });
    for (const { address } of config.segment) {
      const http = await openHttp({ address, port: http_port, handler, counters, log: quiet });
      http_port = http.port;
      closers.push(http.close);
    }
    if (config.https !== undefined) {
      https_port = config.https.port;
      const tls = await readTls(config.https);
      for (const { address } of config.segment) {
        const https = await openHttp({ address, port: https_port, handler, tls, counters, log: quiet });
        https_port = https.port;
        closers.push(https.close);
      }
    }
    if (config.ur !== undefined) {
      const broker = await openAmqp({
        addresses: config.segment.map(({ address }) => address),
        port: config.ur.port,
        login: (user, password, source) => {
          const mac = macOfLogin(secret, user, password);
          return mac !== null && records.macOf(source) === mac ? mac : null;
        },
        listener: enrolment,
        counters,
        log,
      });
      amqp_port = broker.port;
      closers.push(broker.close);
    }
    const tftp = await openTftp({
      segments: config.segment,
      port: config.tftp.port,
      file: async (name, address) => await mayBootFrom(address) ? files.program(name) : null,
      counters,
      log: quiet,
    });
    closers.push(tftp.close);
    const dhcp = await openDhcp({
      listen: config.dhcp.listen,
      port: config.dhcp.port,
      proxy_port: config.dhcp.proxy_port,
      leases,
      rules,
      records,
      settings,
      transactions,
      requests: openBootRequests({ send: (mac, client) => api.seen(mac, client), now: Date.now }),
      bootFile: (asked) => bootFile(asked, { secret, http_port, https_port, files }),
      counters,
      log: quiet,
    });
    closers.push(dhcp.close);
    const ports = { dhcp: dhcp.port, tftp: tftp.port, http: http_port, https: https_port, amqp: amqp_port };
    gauges({ counters, records, enrolment, files });
    const metrics = await openMetrics({ port: config.metrics.port, counters, healthy: () => records.reachable() });
    closers.push(metrics.close);

    // The start does not wait for the control plane: cached records are used until the control plane answers.
    let staged_now = false;
    repeated.push(every(refreshPause_ms, async () => void await records.refresh()));
    repeated.push(every(() => SAVE_MS, () => saveCache(cachePath(config.state_dir), secret, records.cached())));
    repeated.push(every(() => STAGED_SCAN_MS, async () => {
      const changed = await files.scan();
      for (const [stamp, reason] of files.refused()) quiet("image.refused", { stamp, reason });
      if (changed || !staged_now) staged_now = await stage({ api, files, log: quiet });
    }));
    repeated.push(every(() => ANNOUNCE_MS, () => enrolment.pass()));
    if (mirror !== null) {
      let taken = false;
      const pause_ms = () => taken ? MIRROR_MS : MIRROR_RETRY_MS;
      repeated.push(every(pause_ms, async () => void (taken = await mirror.refresh())));
    }
    closers.push(() => leases.saved());
    closers.push(() => saveCache(cachePath(config.state_dir), secret, records.cached()));
    const { amqp: bus, ...others } = ports;
    log("booter.started", { ...others, bus, metrics: metrics.port, staged: files.staged().size });
    return { ports: { ...ports, metrics: metrics.port }, records, counters, enrolment, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Returns the pause until the next reading of all records: ten times the duration of the last reading. The pause is
 * shortened if the next reading would otherwise end more than READING_MS after the start of the last reading. The pause
 * is never shorter than REFRESH_MS.
 */
export function refreshPause_ms(took_ms: number): number {
  return Math.max(REFRESH_MS, Math.min(took_ms * 10, READING_MS - took_ms * 2));
}

async function stage({ api, files, log }: { api: ApiClient; files: Files; log: Log }): Promise<boolean> {
  const stamps = [...files.staged()].sort();
  const linux = stamps.filter((stamp) => files.image(stamp)?.kind === "linux");
  // A control plane of an earlier release does not know `kinds`, so empty `kinds` are left out.
  const kinds = linux.length === 0 ? {} : { kinds: Object.fromEntries(linux.map((stamp) => [stamp, "linux"])) };
  try {
    await api.stage({ stamps, ...kinds });
    log("images.staged", { stamps: stamps.join(",") });
    return true;
  } catch (error) {
    log("images.not_told", { error: error instanceof Error ? error.message : "unknown" });
    return false;
  }
}

async function mirrorOf(config: BooterConfig, log: Log): Promise<Mirror | null> {
  const { upstream_channel_url, upstream_key_file } = config.ur?.setup ?? {};
  if (upstream_channel_url === undefined) return null;
  const mirror = openMirror({
    channel_url: upstream_channel_url,
    key: await upstreamKey(upstream_key_file),
    folder: join(config.state_dir, "mirror"),
    now: () => new Date(),
    log,
  });
  await mirror.restore();
  return mirror;
}

function gauges(
  { counters, records, enrolment, files }: Pick<Booter, "counters" | "records" | "enrolment"> & { files: Files },
) {
  counters.gauge("records", () => records.cached().length);
  counters.gauge("lookups_pending", () => records.pending());
  counters.gauge("control_plane_reachable", () => records.reachable() ? 1 : 0);
  counters.gauge("machines_listening", () => enrolment.machines());
  counters.gauge("images_staged", () => files.staged().size);
}
