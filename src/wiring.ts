// Builds one control plane from its configuration and a database URL: its engine, routes and background work.
import { fileURLToPath } from "node:url";
import { getLogger } from "@logtape/logtape";
import { createEngine } from "../actors/engine/engine.ts";
import { CommitError } from "../actors/engine/store.ts";
import { behaviors, sagas, timedKinds } from "../actors/registry.ts";
import { createCredentials } from "./auth/credential.ts";
import { createAuthorize } from "./auth/authorize.ts";
import { IssuerUnavailable } from "./auth/issuer-document.ts";
import { createAuditSigner } from "./auth/audit-signature.ts";
import { createMint } from "./auth/mint.ts";
import { createPasswords } from "./auth/password.ts";
import { sharedSecret } from "./auth/secret.ts";
import { createSessionTokens } from "./auth/token.ts";
import type { Config } from "./config.ts";
import { REGISTER_STATUS_HOLD_MS, REGISTER_STATUS_HOLD_SHORT_MS } from "./contract/limits.ts";
import { namedSchemas } from "./contract/named.ts";
import { chainPending } from "./db/audit-chain.ts";
import { closeDenials, recordDenial } from "./db/audit-denial.ts";
import { openDatabaseTime } from "./db/database-time.ts";
import { createHints, HINT_CHANNEL } from "./db/hints.ts";
import { pruneIdempotency } from "./db/idempotency.ts";
import { pruneLimits } from "./db/limits.ts";
import { openListener } from "./db/listener.ts";
import { materializeLoad } from "./db/load.ts";
import { migrate } from "./db/migrate.ts";
import { type Db, isConnectionError, isTimeout, openPool } from "./db/pool.ts";
import { refuseOtherDatabase } from "./db/same-database.ts";
import { createFindOne, createFindRow } from "./db/shared-finds.ts";
import { createSearch } from "./db/search.ts";
import { createSignals } from "./db/signals.ts";
import { createStore, isBusy } from "./db/store.ts";
import { tlsWarning } from "./db/tls.ts";
import { maintain, maintainReplies } from "./db/maintenance.ts";
import { createDoctor } from "./doctor/examine.ts";
import { openImageStore } from "./image-store/open.ts";
import { pruneImages } from "./image-store/prune.ts";
import type { Peer } from "./http/env.ts";
import { type BodyAdmission, createBodyAdmission } from "./http/body-admission.ts";
import { type DocumentFetch, fetchDocumentHere } from "./outbound/document.ts";
import { newMetrics } from "./http/metrics.ts";
import { createWebConsoleFiles } from "./http/web-console-files.ts";
import { newApp } from "./http/shell.ts";
import type { RouteDeps } from "./routes/deps.ts";
import { doctorRoutes } from "./routes/doctor.ts";
import { indexSiteRoutes } from "./routes/index-site.ts";
import { devClockRoutes } from "./routes/dev-clock.ts";
import { devSignInRoutes } from "./routes/dev-sign-in.ts";
import { addRoutes } from "./routes/registry.ts";
import { createSettings } from "./services/settings.ts";
import { systemRoutes } from "./routes/system.ts";
import { webConsoleRoutes } from "./routes/web-console.ts";
import { VERSION } from "./version.ts";
import { createAudit } from "./wiring/audit.ts";
import { createCallerRate } from "./wiring/caller-rate.ts";
import { createConsoles } from "./wiring/consoles.ts";
import { createIssuers } from "./wiring/issuers.ts";
import { createLongPollsOfServer, HELD_MAX } from "./wiring/long-polls.ts";
import { createDrainsOfServer } from "./wiring/all-drains.ts";
import { createNetworks, natGatewayPorts, NETWORK_MAINTENANCE } from "./wiring/networks.ts";
import { createLimits } from "./wiring/limits.ts";
import { createWebSessionTouch } from "./wiring/web-sessions.ts";
import { createReady } from "./wiring/ready.ts";
import { createWholeReads } from "./wiring/whole-reads.ts";
import { ensureRootUser } from "./wiring/root-user.ts";
import { sealPlainUserData } from "./wiring/sealing.ts";
import { countVpcs } from "./wiring/vpc-generations.ts";
import { deleteExpiredKeys } from "./wiring/expired-keys.ts";
import { createWebhooksOfServer, pruneDeliveries } from "./wiring/webhooks.ts";
import { createIdempotencyClaims } from "./wiring/idempotency-claims.ts";
import { createNatGatewayHosts } from "./workers/nat-gateway-hosts.ts";
import { createLoadMaterializer } from "./workers/load-materializer.ts";
import { productionPorts } from "./workers/ports.ts";
import { createBackgroundWorker } from "./workers/background-worker.ts";

const logger = getLogger(["berth"]);
const WEB_CONSOLE_FOLDER = fileURLToPath(new URL("../console/dist", import.meta.url));

export type ControlPlane = {
  readonly fetch: (request: Request, peer?: Partial<Peer>) => Response | Promise<Response>;
  /** Reserves memory for the body of a request. Servers that read bodies call this; otherwise `fetch` calls it. */
  readonly admitBody: BodyAdmission;
  /** Runs one pass of the background work. Hosts with a schedule call this. */
  readonly pass: () => Promise<void>;
  /** Answers all long polls and ends all consoles, so that a drain does not wait for them. */
  readonly release: () => void;
  /** Stops the background work, waits until all messages are processed, and closes the database. */
  readonly close: () => Promise<void>;
};

export type WiringOptions = {
  readonly config: Config;
  readonly databaseUrl: string;
  /** Whether the process keeps running between requests. If so, it listens for hints and runs the background loop. */
  readonly resident: boolean;
  readonly show?: (text: string) => void;
  /** Fetches documents of issuers, and sends events to webhooks. Default: this process does both over the network. */
  readonly fetchDocument?: DocumentFetch;
  /** The folder of the built web console. Default: console/dist. */
  readonly webConsoleFolder?: string;
};

/** Migrates, creates the root operator, and builds the app. Throws when the database cannot be used. */
export async function openControlPlane(options: WiringOptions): Promise<ControlPlane> {
  const { config, databaseUrl, resident } = options;
  const show = options.show ?? console.error;
  const report = (message: string, error: unknown) => logger.error(message, { error: describeError(error) });

  let closing = false;
  const directUrl = config.directUrl ?? databaseUrl;
  for (const weak of new Set([databaseUrl, directUrl].map(tlsWarning))) if (weak !== null) logger.warning(weak);
  await refuseOtherDatabase({ databaseUrl, ownerUrl: config.ownerUrl, directUrl: config.directUrl });
  await migrate(config.ownerUrl ?? directUrl, { release: VERSION });
  const db = openPool({
    url: databaseUrl,
    sharesSessions: config.directUrl !== null,
    role: "berth_app",
    onError: (error) => {
      if (!closing) logger.warning("an idle database connection failed", { error: error.message });
    },
  });
  // This call can fail because another running server holds a lock that the call needs. That server has created the
  // partitions of stored replies, and maintenance repeats the call.
  await maintainReplies(db).catch((error) => report("background work failed: stored replies", error));
  const time = await openDatabaseTime(db);
  const ports = productionPorts(report, time.now_ms);
  const secret = await sharedSecret({ env: config.env, dataDir: config.dataDir, db });
  if (secret.warning !== null) logger.warning(secret.warning);
  const mint = createMint(secret.secret);
  await Promise.all([sealPlainUserData(db, mint), countVpcs(db)]);
  const tokens = createSessionTokens(secret.secret);
  const signer = createAuditSigner(secret.secret);
  const passwords = createPasswords();

  const imageStore = config.imageStore === null ? null : await openImageStore(config.imageStore);
  const prune: ((db: Db) => Promise<unknown>)[] = [pruneLimits, pruneIdempotency, closeDenials, ...NETWORK_MAINTENANCE];
  prune.push((db) => pruneDeliveries(db, settings), (db) => deleteExpiredKeys(db, settings, engine), time.measure);
  if (imageStore !== null) prune.push((db) => pruneImages(db, imageStore, Date.now()));
  const hints = createHints({ db, report });
  const store = createStore(db, behaviors);
  const engine = createEngine({
    store,
    behaviors,
    ports,
    onCommit: (committed) => {
      longPolls.committed(committed);
      if (resident) worker.follow(committed);
      hints.hint(committed.refs);
    },
  });
  const worker = createBackgroundWorker({
    store,
    engine,
    ports,
    timed: timedKinds,
    knowsSaga: (name) => sagas.some((saga) => saga.name === name),
    chain: () => chainPending(db),
    maintain: () => maintain(db, { settings, signer, prune }),
  });
  const signals = createSignals(db);
  const whole = createWholeReads(db);
  const settings = createSettings(whole.storedSettings, config.env);
  const materialize = (interval_s: number, stopped: () => boolean) => materializeLoad(db, interval_s, stopped);
  const load = createLoadMaterializer({ materialize, ports, interval_s: settings.loadIntervalS });
  const gateways = createNatGatewayHosts({ ...natGatewayPorts(db, engine), ports });
  for (const key of settings.shadowed) logger.warning("an environment variable overrides a stored setting", { key });

  const identity_issuer = config.identity?.issuer ?? null;
  const longPolls = createLongPollsOfServer({ db, hints, report, settings });
  const networks = createNetworks({ db, hints, held_max: HELD_MAX, report, settings: settings.networkDocuments });
  const consoles = createConsoles({ db, identity_issuer, hints, report, dial_ms: config.consoleDialS * 1_000 });
  const listener = resident
    ? openListener(directUrl, {
      channel: HINT_CHANNEL,
      onNotify: hints.receive,
      onReconnect: hints.missed,
      onError: (error) => logger.warning("the LISTEN connection failed", { error: error.message }),
    })
    : null;

  const root_user_id = await ensureRootUser({ db, engine, newId: ports.newId, config, show });

  const fetch = options.fetchDocument ?? fetchDocumentHere;
  const { issuers, oidc } = createIssuers({ db, engine, mint, config, settings, fetch, report });
  const credentials = createCredentials({ db, tokens, identity_issuer, issuers });
  const admitBody = createBodyAdmission({ credentials });
  const metrics = newMetrics();
  const app = newApp({
    trustedProxies: config.trustedProxies,
    admitBody,
    observe: metrics.observe,
    // A violated constraint for which the actor declares no fault is a bug. A retry would fail again, so it is a 500.
    unavailable: (error) =>
      error instanceof CommitError
        ? error.reason !== "constraint"
        : error instanceof IssuerUnavailable || isConnectionError(error) || isTimeout(error) || isBusy(error),
  });
  const { savedScope, answered, ...claims } = createIdempotencyClaims({ db, engine, mint, newId: ports.newId });
  const authorize = createAuthorize({
    credentials,
    rate: await createCallerRate({ read: settings.callerRates, now_ms: () => performance.now() }),
    findRow: createFindRow(db.byKey),
    firstUse: (cn, key_id) => engine.send({ kind: "cn", id: cn }, { type: "key_used", key_id }),
    used: signals.keyUsed,
    touched: createWebSessionTouch({ engine, settings, report }),
    denied: (denial) => recordDenial(db, { msg_id: ports.newId(), ...denial }),
    savedScope,
    answered,
  });

  const deps: RouteDeps = {
    allow: authorize,
    version: VERSION,
    credentials,
    ...claims,
    kysely: db.kysely,
    byKey: db.byKey.kysely,
    findOne: createFindOne(db.byKey.kysely),
    newId: ports.newId,
    mint,
    passwords,
    tokens,
    identity_issuer,
    oidc,
    root_user_id,
    settings,
    signals,
    ...longPolls.polls,
    search: createSearch(db),
    changes: longPolls.changes,
    audiencesOf: longPolls.audiencesOf,
    pollIntervalS: longPolls.pollIntervalS,
    ...networks.deps,
    ...consoles.deps,
    relay_url: config.relayUrl,
    imageStore,
    workOf: longPolls.workOf,
    nodesToPlace: whole.nodesToPlace,
    holdShares: longPolls.holdShares,
    sagas,
    audit: createAudit(db, { newId: ports.newId, public_key: signer.public_key }),
    limits: createLimits(db, config),
    hold_ms: resident ? REGISTER_STATUS_HOLD_MS : REGISTER_STATUS_HOLD_SHORT_MS,
  };
  const webhooks = createWebhooksOfServer({ db, mint, settings, fetch, ports });
  const background = [worker, load, gateways, createDrainsOfServer(deps, engine, ports), webhooks];
  addRoutes(app, deps);
  if (config.indexSite !== null) indexSiteRoutes(app, deps, config.indexSite);
  if (config.lab) {
    devClockRoutes(app, deps, advanceClock);
    devSignInRoutes(app, deps);
  }
  doctorRoutes(app, { ...deps, examine: createDoctor(db, { kinds: behaviors, release: VERSION }) });
  const webConsole = createWebConsoleFiles(options.webConsoleFolder ?? WEB_CONSOLE_FOLDER);
  webConsoleRoutes(app, { ...deps, webConsole, identity_service: (config.identity?.client ?? null) !== null });
  systemRoutes(app, { ...deps, metrics, ready: createReady(db, report), schemas: namedSchemas });
  if (resident) background.forEach((each) => each.start());

  async function advanceClock(seconds: number): Promise<Date> {
    await db.query("update lab_clock set ahead = ahead + make_interval(secs => $1)", [seconds]);
    const { rows } = await db.query<{ now: Date }>("select berth_now() as now");
    worker.nudge();
    longPolls.polls.approvals.nudge();
    return rows[0]!.now;
  }

  function release(): void {
    longPolls.release();
    networks.release();
    consoles.release();
  }

  async function close(): Promise<void> {
    closing = true;
    release();
    for (const each of background) await each.stop();
    while (!engine.idle()) await ports.sleep(IDLE_POLL_MS);
    await passwords.close();
    await signals.close();
    await hints.close();
    await listener?.close();
    await db.close();
  }

  return {
    fetch: (request, peer = {}) => app.fetch(request, peer),
    admitBody,
    pass: async () => {
      for (const each of background) await each.pass();
    },
    release,
    close,
  };
}

const IDLE_POLL_MS = 5;

function describeError(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}
