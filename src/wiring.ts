// The only place that constructs ports: one control plane from its configuration and a database URL.
import { getLogger } from "@logtape/logtape";
import { findRegistered, type Registered } from "../actors/cn/reads.ts";
import { createEngine } from "../actors/engine/engine.ts";
import { CommitError } from "../actors/engine/store.ts";
import type { Outcome } from "../actors/engine/types.ts";
import { behaviors, type Messages, sagas, timedKinds } from "../actors/registry.ts";
import { findNodesWithWork } from "../actors/job/reads.ts";
import { findDecided, findEnded } from "../actors/saga/reads.ts";
import { createCredentials } from "./auth/credential.ts";
import { auditActor, createGate } from "./auth/gate.ts";
import { IssuerUnavailable } from "./auth/issuer.ts";
import type { Federated } from "./auth/issuer-credential.ts";
import { createMint } from "./auth/mint.ts";
import { createPasswords } from "./auth/password.ts";
import type { Principal } from "./auth/principal.ts";
import { ensureRootOperator } from "./auth/root-operator.ts";
import { serverSecret } from "./auth/secret.ts";
import { createSessionTokens } from "./auth/token.ts";
import type { Config } from "./config.ts";
import { type Fault, fault } from "./contract/fault.ts";
import { REGISTER_STATUS_HOLD_MS, REGISTER_STATUS_HOLD_SHORT_MS } from "./contract/limits.ts";
import { namedSchemas } from "./contract/named.ts";
import { chainPending } from "./db/audit-chain.ts";
import { recordDenial } from "./db/audit-denial.ts";
import { getEvent, listEvents } from "./db/audit-read.ts";
import { verify } from "./db/audit-verify.ts";
import { createHeldPolls } from "./db/held-polls.ts";
import { createHints, HINT_CHANNEL } from "./db/hints.ts";
import { claimKey, pruneIdempotency } from "./db/idempotency.ts";
import { failuresExhausted, type LimitAnswer, noteFailure, pruneLimits, takeToken } from "./db/limits.ts";
import { openListener } from "./db/listener.ts";
import { migrate } from "./db/migrate.ts";
import { isConnectionError, openPool } from "./db/pool.ts";
import { createSignals } from "./db/signals.ts";
import { createStore } from "./db/store.ts";
import { tlsWarning } from "./db/tls.ts";
import { upkeep } from "./db/upkeep.ts";
import { examine } from "./doctor/examine.ts";
import { oneAtATime } from "./doctor/one-visit.ts";
import { parseIdempotencyKey } from "./http/idempotency-key.ts";
import { newMetrics } from "./http/metrics.ts";
import { newApp } from "./http/shell.ts";
import { addressBucket } from "./pure/client-address.ts";
import { agentRoutes } from "./routes/agent.ts";
import { agentJobRoutes } from "./routes/agent-jobs.ts";
import { apiKeyRoutes } from "./routes/api-keys.ts";
import { auditRoutes } from "./routes/audit.ts";
import { booterRoutes } from "./routes/booter.ts";
import { bootPolicyRoutes } from "./routes/boot-policy.ts";
import { cnApprovalRoutes } from "./routes/cn-approvals.ts";
import { cnBootRoutes } from "./routes/cn-boot.ts";
import { cnSetupRoutes } from "./routes/cn-setup.ts";
import { cnRoutes } from "./routes/cns.ts";
import { configRoutes } from "./routes/config.ts";
import { type Ctx, isFault, type RouteDeps, type To, type Turn } from "./routes/deps.ts";
import { diskRoutes } from "./routes/disks.ts";
import { doctorRoutes } from "./routes/doctor.ts";
import { firewallRuleRoutes } from "./routes/firewall-rules.ts";
import { idpRoutes } from "./routes/idps.ts";
import { externalSubnetRoutes } from "./routes/external-subnets.ts";
import { floatingIpBindingRoutes } from "./routes/floating-ip-binding.ts";
import { floatingIpRoutes } from "./routes/floating-ips.ts";
import { imageRoutes } from "./routes/images.ts";
import { indexSiteRoutes } from "./routes/index-site.ts";
import { instanceActionRoutes } from "./routes/instance-actions.ts";
import { instanceRoutes } from "./routes/instances.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { labRoutes } from "./routes/lab.ts";
import { natGatewayRoutes } from "./routes/nat-gateways.ts";
import { networkPoolRoutes } from "./routes/network-pools.ts";
import { nicTagRoutes } from "./routes/nic-tags.ts";
import { nicRoutes } from "./routes/nics.ts";
import { operationRoutes } from "./routes/operations.ts";
import { placementRoutes } from "./routes/placement.ts";
import { projectRoutes } from "./routes/projects.ts";
import { routeTableRoutes } from "./routes/route-tables.ts";
import { routeRoutes } from "./routes/routes.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { createSettings } from "./routes/settings.ts";
import { siloRoutes } from "./routes/silos.ts";
import { sshKeyRoutes } from "./routes/ssh-keys.ts";
import { subnetRoutes } from "./routes/subnets.ts";
import { systemInstanceRoutes } from "./routes/system-instances.ts";
import { systemRoutes } from "./routes/system.ts";
import { tenantKeyRoutes } from "./routes/tenant-keys.ts";
import { tenantRoutes } from "./routes/tenants.ts";
import { vpcRoutes } from "./routes/vpcs.ts";
import { userRoutes } from "./routes/users.ts";
import { VERSION } from "./version.ts";
import { createLoadMaterializer } from "./workers/load-materializer.ts";
import { productionPorts } from "./workers/ports.ts";
import { createPump } from "./workers/pump.ts";

const logger = getLogger(["berth"]);

/** Held requests of one process: about 22 kB each (reliability.md, facts). */
const HELD_MAX = 10_000;

export type ControlPlane = {
  readonly fetch: (request: Request, peer?: { remoteAddress?: string }) => Response | Promise<Response>;
  /** One pass of the background work, for hosts that call it from a schedule. */
  readonly pass: () => Promise<void>;
  /** Answers the held requests, so that a drain need not wait for them. */
  readonly release: () => void;
  /** Finishes what was accepted and closes the database. */
  readonly close: () => Promise<void>;
};

export type WiringOptions = {
  readonly config: Config;
  readonly databaseUrl: string;
  /** Whether the process lives between requests: then it listens for hints and runs the background loop. */
  readonly resident: boolean;
  readonly show?: (text: string) => void;
};

/** Migrates, makes the root operator, and builds the app. Throws when the database cannot be used. */
export async function openControlPlane(options: WiringOptions): Promise<ControlPlane> {
  const { config, databaseUrl, resident } = options;
  const show = options.show ?? console.error;
  const report = (message: string, error: unknown) => logger.error(message, { error: describeError(error) });

  let closing = false;
  const weak = tlsWarning(databaseUrl);
  if (weak !== null) logger.warning(weak);
  await migrate(config.ownerUrl ?? databaseUrl);
  const db = openPool({
    url: databaseUrl,
    role: "berth_app",
    applicationName: "berth",
    onError: (error) => {
      if (!closing) logger.warning("an idle database connection broke", { error: error.message });
    },
  });
  const ports = productionPorts(report);
  const secret = await serverSecret({ env: config.env, dataDir: config.dataDir, db });
  if (secret.warning !== null) logger.warning(secret.warning);
  const mint = createMint(secret.secret);
  const tokens = createSessionTokens(secret.secret);
  const passwords = createPasswords();

  const hints = createHints({ db, report });
  const store = createStore(db, behaviors);
  const engine = createEngine({
    store,
    behaviors,
    ports,
    onCommit: ({ refs, told }) => {
      hints.hint(refs);
      if (told || refs.some((ref) => timedKinds.includes(ref.kind))) pump.nudge();
    },
  });
  const pump = createPump({
    store,
    engine,
    ports,
    timed: timedKinds,
    knowsSaga: (name) => sagas.some((saga) => saga.name === name),
    chain: () => chainPending(db),
    upkeep: () => upkeep(db, { settings, prune: [pruneLimits, pruneIdempotency] }),
  });
  const signals = createSignals(db);
  const settings = createSettings(db.kysely, config.env);
  const load = createLoadMaterializer({
    materialize: (interval_s) => db.query("select load_materialize($1)", [interval_s]),
    ports,
    interval_s: settings.loadIntervalS,
  });
  for (const key of settings.shadowed) logger.warning("a setting is shadowed by the environment", { key });

  const approvals = createHeldPolls<string, Registered>({
    sweep: async (hashes) => {
      const found = await findRegistered(db.kysely, hashes);
      return new Map([...found].filter(([, row]) => row.state !== "pending"));
    },
    held_max: HELD_MAX,
    report,
  });
  const endings = createHeldPolls<string, { readonly ended: true }>({
    sweep: (ids) => findEnded(db.kysely, ids),
    held_max: HELD_MAX,
    report,
  });
  const claims = createHeldPolls<string, { readonly work: true }>({
    sweep: (nodes) => findNodesWithWork(db.kysely, nodes),
    held_max: HELD_MAX,
    report,
  });
  const outcomes = createHeldPolls<string, { readonly ended: true }>({
    sweep: (ids) => findDecided(db.kysely, ids),
    held_max: HELD_MAX,
    report,
  });
  hints.onHint((hint) => {
    if (hint === "all" || hint.some((ref) => ref.kind === "job")) claims.nudge();
    if (hint === "all" || hint.some((ref) => ref.kind === "cn")) approvals.nudge();
    if (hint === "all" || hint.some((ref) => ref.kind === "saga")) {
      endings.nudge();
      outcomes.nudge();
    }
  });
  const listener = resident
    ? openListener(databaseUrl, {
      channel: HINT_CHANNEL,
      onNotify: hints.receive,
      onReconnect: hints.missed,
      onError: (error) => logger.warning("the LISTEN connection broke", { error: error.message }),
    })
    : null;

  const root_user_id = await ensureRootOperator({
    db,
    newId: ports.newId,
    given: config.rootKey,
    make: (id, username) => engine.send({ kind: "user", id }, { type: "create_root", id, username }),
    store: async (user_id, key) => {
      const id = ports.newId();
      const outcome = await engine.send({ kind: "api-key", id }, {
        type: "create",
        id,
        ...key,
        user_id,
        description: "root operator",
        scope: "full",
        bound_to_cn: null,
        expires_at: null,
      });
      if (!outcome.ok) throw new Error(`the root key was refused: ${outcome.fault.message}`);
    },
    show: (key) => show(`Root operator key (shown once, keep it): ${key}`),
  });

  const metrics = newMetrics();
  const app = newApp({
    trustedProxies: config.trustedProxies,
    observe: metrics.observe,
    // A broken rule that no fault is named for is a bug, and no repetition mends it.
    unavailable: (error) =>
      error instanceof CommitError
        ? error.reason !== "constraint"
        : error instanceof IssuerUnavailable || isConnectionError(error),
  });
  const gate = createGate({
    credentials: createCredentials({ db, tokens, identity: config.identity, federate }),
    db,
    firstUse: (cn, key_id) => engine.send({ kind: "cn", id: cn }, { type: "key_used", key_id }),
    used: signals.keyUsed,
    denied: (denial) => recordDenial(db, { msg_id: ports.newId(), ...denial }),
  });

  /** The id follows from who it is, so that first tokens that arrive together make one user. */
  async function federate(user: Federated): Promise<string | null> {
    const id = mint.idFrom(JSON.stringify([user.issuer, user.tenant_id, user.subject]), "federated-user");
    const outcome = await engine.send({ kind: "user", id }, { type: "federate", id, ...user });
    if (!outcome.ok && outcome.fault.kind === "unavailable") throw new IssuerUnavailable(outcome.fault.message);
    return outcome.ok ? id : null;
  }

  async function turn(c: Ctx): Promise<Turn | Fault> {
    const header = c.req.header("idempotency-key");
    const new_msg_id = ports.newId();
    if (header === undefined) return { id: new_msg_id, repeated: false };
    const key = parseIdempotencyKey(header);
    if (!key.ok) return key.fault;
    const claimed = await claimKey(db, {
      principal: principalOf(c.get("principal")),
      method: c.req.method,
      // A selector says where the record is made as much as a path does.
      path: c.req.path + new URL(c.req.url).search,
      key: key.value,
      body_sha256: mint.bodyDigest(await c.req.text()),
      new_msg_id,
    });
    return claimed.ok ? { id: claimed.msg_id, repeated: claimed.repeated } : claimed.fault;
  }

  async function send<K extends keyof Messages>(c: Ctx, to: To<K>, message: Messages[K], at?: Turn): Promise<Outcome> {
    const origin = { actor: auditActor(c.get("principal")), request_id: c.get("requestId") };
    return await engine.send(to, message, at === undefined ? { origin } : { id: at.id, fresh: !at.repeated, origin });
  }

  async function act<K extends keyof Messages>(c: Ctx, to: To<K>, message: Messages[K]): Promise<Outcome> {
    const at = await turn(c);
    return isFault(at) ? { ok: false, fault: at } : await send(c, to, message, at);
  }

  const deps: RouteDeps = {
    allow: gate,
    act,
    kysely: db.kysely,
    turn,
    send,
    newId: ports.newId,
    mint,
    passwords,
    tokens,
    identity_issuer: config.identity?.issuer ?? null,
    root_user_id,
    settings,
    signals,
    approvals,
    claims,
    endings,
    outcomes,
    sagas,
    audit: {
      list: (query) => listEvents(db, query),
      get: (seq) => getEvent(db, seq),
      verify: (range) => verify(db, range),
      refusedCode: (c, prefix) =>
        recordDenial(db, {
          msg_id: ports.newId(),
          request_id: c.get("requestId"),
          actor: auditActor(c.get("principal")),
          action: "cn_approve",
          resource: null,
          outcome: { kind: "client_error", code: "NotFound", message: "Not Found" },
          payload: { code_prefix: prefix },
        }),
      denied: (c, action, resource) =>
        recordDenial(db, {
          msg_id: ports.newId(),
          request_id: c.get("requestId"),
          actor: auditActor(c.get("principal")),
          action,
          resource,
        }),
      refusedLogin: (c, user_id) =>
        recordDenial(db, {
          msg_id: ports.newId(),
          request_id: c.get("requestId"),
          actor: auditActor(c.get("principal")),
          action: "login",
          resource: user_id === null ? null : `User::"${user_id}"`,
          outcome: { kind: "unauthenticated", reason: "unknown user or wrong password" },
        }),
    },
    limits: {
      approve: (address) => limited(takeToken(db, bucket("approve", address, config.approvePerMinute))),
      register: (address) => limited(takeToken(db, bucket("register", address, config.registerPerMinute))),
      login: (address) => limited(takeToken(db, bucket("login", address, config.loginPerMinute))),
      approveFailures: () => limited(failuresExhausted(db, "cn-approval")),
      noteApproveFailure: () => noteFailure(db, "cn-approval"),
    },
    hold_ms: resident ? REGISTER_STATUS_HOLD_MS : REGISTER_STATUS_HOLD_SHORT_MS,
  };
  cnRoutes(app, deps);
  cnApprovalRoutes(app, deps);
  cnSetupRoutes(app, deps);
  placementRoutes(app, deps);
  cnBootRoutes(app, deps);
  bootPolicyRoutes(app, deps);
  booterRoutes(app, deps);
  agentRoutes(app, deps);
  agentJobRoutes(app, deps);
  jobRoutes(app, deps);
  apiKeyRoutes(app, deps);
  sessionRoutes(app, deps);
  userRoutes(app, deps);
  configRoutes(app, deps);
  auditRoutes(app, deps);
  operationRoutes(app, deps);
  siloRoutes(app, deps);
  tenantRoutes(app, deps);
  tenantKeyRoutes(app, deps);
  idpRoutes(app, deps);
  projectRoutes(app, deps);
  natGatewayRoutes(app, deps);
  floatingIpRoutes(app, deps);
  floatingIpBindingRoutes(app, deps);
  nicTagRoutes(app, deps);
  externalSubnetRoutes(app, deps);
  networkPoolRoutes(app, deps);
  vpcRoutes(app, deps);
  subnetRoutes(app, deps);
  routeTableRoutes(app, deps);
  routeRoutes(app, deps);
  firewallRuleRoutes(app, deps);
  imageRoutes(app, deps);
  sshKeyRoutes(app, deps);
  instanceRoutes(app, deps);
  instanceActionRoutes(app, deps);
  systemInstanceRoutes(app, deps);
  diskRoutes(app, deps);
  nicRoutes(app, deps);
  if (config.indexSite !== null) indexSiteRoutes(app, deps, config.indexSite);
  if (config.lab) labRoutes(app, deps, advanceClock);
  doctorRoutes(app, { ...deps, examine: oneAtATime(() => examine(db, { kinds: behaviors, now_ms: Date.now })) });
  systemRoutes(app, { ...deps, version: VERSION, metrics, ready, schemas: namedSchemas });
  if (resident) {
    pump.start();
    load.start();
  }

  async function advanceClock(seconds: number): Promise<Date> {
    await db.query("update lab_clock set ahead = ahead + make_interval(secs => $1)", [seconds]);
    const { rows } = await db.query<{ now: Date }>("select berth_now() as now");
    pump.nudge();
    approvals.nudge();
    return rows[0]!.now;
  }

  async function ready(): Promise<boolean> {
    try {
      await db.query("select 1");
      return true;
    } catch (error) {
      report("the database does not answer", error);
      return false;
    }
  }

  function release(): void {
    approvals.close();
    claims.close();
    endings.close();
    outcomes.close();
  }

  async function close(): Promise<void> {
    closing = true;
    release();
    await pump.stop();
    await load.stop();
    while (!engine.idle()) await ports.sleep(IDLE_POLL_MS);
    await passwords.close();
    await signals.close();
    await hints.close();
    await listener?.close();
    await db.close();
  }

  return {
    fetch: (request, peer) => app.fetch(request, { remoteAddress: peer?.remoteAddress }),
    pass: async () => {
      await pump.pass();
      await load.pass();
    },
    release,
    close,
  };
}

const IDLE_POLL_MS = 5;

/** Keys of one owner that are bound to different tenants are different callers. */
function principalOf(principal: Principal): string {
  if (principal.kind === "anonymous") return "anonymous";
  const { user_id, key_tenant_id } = principal;
  return key_tenant_id === null ? user_id : `${user_id}@${key_tenant_id}`;
}

function bucket(what: string, address: string, per_minute: number) {
  return { bucket: `${what}:${addressBucket(address)}`, burst: per_minute, per_minute };
}

async function limited(answer: Promise<LimitAnswer>): Promise<Fault | null> {
  const taken = await answer;
  if (taken.ok) return null;
  const { retry_after_s } = taken;
  return fault("too_many_requests", `too many attempts; try again in ${retry_after_s} s`, {
    error_code: "TooManyRequests",
    retry_after_s,
  });
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}
