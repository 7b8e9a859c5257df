// Runs the production sagas of instances and their floating IPs on PostgreSQL, with faults between any two of their
// commits: gates that refuse a step, processes that die, connections that break, and processes that pause and continue
// late.
import { NO_QUOTA_DEFAULTS } from "../../src/contract/tenancy.ts";
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { conflict } from "../../src/contract/fault.ts";
import { createEngine, type Engine, type SendOptions } from "../../actors/engine/engine.ts";
import type { FaultPoint } from "../../actors/engine/ports.ts";
import { CommitError, type Store } from "../../actors/engine/store.ts";
import type { ActorRef, Message, Outcome } from "../../actors/engine/types.ts";
import { behaviors as production } from "../../actors/registry.ts";
import { sagaBehavior } from "../../actors/saga/transition.ts";
import { type Db, openClient, openPool } from "../../src/db/pool.ts";
import { createStore } from "../../src/db/store.ts";
import { productionPorts } from "../../src/workers/ports.ts";
import { createBackgroundWorker } from "../../src/workers/background-worker.ts";
import { addNode, openComputeFixture } from "../compute/compute-fixture.ts";
import { openTestControlPlane } from "../support/control-plane.ts";
import { copyOf, freshDatabase } from "../support/database.ts";
import { type Dump, dumpTables } from "../support/dump.ts";
import { CONTRADICTIONS, differences, RECORDS, WIDE } from "./instance-comparison.ts";
import { GATE_SQL, gated, OTHERS, SAGAS } from "./saga-gates.ts";

export const GIB = 2 ** 30;
export const LIMIT_MS = 600_000;

/** A fault that occurs once in a process of the tests. */
export type Trouble =
  | { readonly dies: FaultPoint }
  /** The connection breaks during the commit call, before or after the database applied the call. */
  | { readonly cut: "before" | "after" }
  /** The process pauses between its load and its commit, and continues when the test calls `resume`. */
  | { readonly pauses: true };

export type Process = Awaited<ReturnType<typeof openInstanceSagas>>["main"];
export type SagaRow = {
  readonly id: string;
  readonly saga: string;
  readonly state: string;
  readonly step: string | null;
  readonly job_id: string | null;
  readonly error: string | null;
  readonly stuck_reason: string | null;
  readonly steps: Readonly<Record<string, { readonly status: string; readonly undo_error: string | null }>>;
};
type JobRow = {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly tombstone: boolean | null;
};

/** A NIC to which a floating IP can be attached. */
export type Bindable = {
  readonly nic_id: string;
  readonly instance_id: string;
  readonly vpc_id: string;
  readonly host_cn_uuid: string;
};

export type InstanceSagas = Awaited<ReturnType<typeof openInstanceSagas>>;

type Bare = Awaited<ReturnType<typeof makeBareFixture>>;
/** Objects of the fixture. The cases use them up before they create more. */
type Prepared = {
  readonly shared: readonly [Bindable, Bindable] | undefined;
  readonly running: readonly string[];
  readonly stopped: readonly string[];
  /** Floating IPs that are attached to the first of the `shared` NICs. */
  readonly bound: readonly string[];
};
export type InstanceFixture = Bare & Prepared;

/**
 * Creates a database with a tenancy, a network, an image, a node, and the instances and floating IPs that this many
 * cases need. Tests copy the database for each group of cases, because the remains of cases slow down later cases.
 */
export async function makeFixture(cases: number): Promise<InstanceFixture> {
  const bare = await makeBareFixture();
  const p = await openInstanceSagas({ ...bare, shared: undefined, running: [], stopped: [], bound: [] });
  const shared = await p.bindable();
  const running: string[] = [];
  const stopped: string[] = [];
  const bound: string[] = [];
  for (let made = 0; made < cases; made++) {
    running.push(await p.running());
    stopped.push(await p.stopped());
    bound.push(await p.floatingIp(shared[0]));
  }
  await p.leave();
  await bare.database.drop();
  return { ...bare, database: p.database, shared, running, stopped, bound };
}

async function makeBareFixture() {
  const database = await freshDatabase();
  // The API creates these objects. Its background work must end before the tests' own processes start.
  const t = await openTestControlPlane({ databaseUrl: database.url });
  const fixture = await openComputeFixture({ t });
  const { tenant: { silo_id, tenant_id, project_id }, image, node: { server_uuid: node } } = fixture;
  // Enough room for all instances that the cases leave behind.
  const roomy = { cpu_threads_logical: 100_000, ram_total_mb: 100_000_000 };
  await fixture.node.alive(roomy);
  const other = await addNode(t, roomy);
  await other.alive();
  const silent = await addNode(t, roomy);
  await silent.alive();
  const wide = { name: "wide", ipv4_block: WIDE.block, ipv6_block: "fd00:10:0:2::/64" };
  const subnet = await fixture.make(`/v1/subnets?vpc=${fixture.vpc.id}`, wide);
  const other_image = await fixture.newImage();
  await t.close();
  const owner = await openClient({ url: database.url });
  await owner.query(GATE_SQL);
  // The first use of a node adds its row in cn_usage. An undo does not remove this row.
  await owner.query("insert into cn_usage (server_uuid) select server_uuid from cn on conflict do nothing");
  await owner.query("update cn_signal set last_seen = berth_now() + interval '1 year'");
  await owner.end();
  return {
    database,
    silo_id,
    tenant_id,
    project_id,
    image,
    other_image,
    node,
    other: other.server_uuid,
    silent: silent.server_uuid,
    subnet,
  };
}

/** Opens a copy of the fixture. */
export async function openInstanceSagas(fixture: InstanceFixture) {
  const { silo_id, tenant_id, project_id, image, other_image, node, other, silent, subnet } = fixture;
  const ready = { running: [...fixture.running], stopped: [...fixture.stopped], bound: [...fixture.bound] };
  const database = await copyOf(fixture.database);
  const db: Db = openPool({ url: database.url, connectionsMax: 3 });
  const app: Db = openPool({ url: database.url, role: "berth_app" });
  const definitions = [...SAGAS.map(gated), ...OTHERS];
  const behaviors = [...production.filter(({ kind }) => kind !== "saga"), sagaBehavior(definitions)];

  function newProcess(trouble?: Trouble) {
    let faults = 0;
    const resumed = Promise.withResolvers<void>();
    const paused = Promise.withResolvers<void>();
    const fault = async (point: FaultPoint) => {
      if (trouble === undefined || faults > 0) return;
      if ("dies" in trouble && trouble.dies === point) {
        faults += 1;
        throw new Error(`the process died ${point}`);
      }
      if ("pauses" in trouble && point === "before_commit") {
        faults += 1;
        paused.resolve();
        await resumed.promise;
      }
    };
    const real = createStore(app, behaviors);
    const commit: Store["commit"] = async (units) => {
      if (trouble === undefined || !("cut" in trouble) || faults > 0) return await real.commit(units);
      faults += 1;
      if (trouble.cut === "after") await real.commit(units);
      throw new CommitError("unknown", null);
    };
    const store = { ...real, commit };
    const ports = { ...productionPorts(), fault };
    const engine: Engine = createEngine({ store, behaviors, ports });
    const nothing = () => Promise.resolve();
    const worker = createBackgroundWorker({
      store,
      engine,
      ports,
      timed: [],
      knowsSaga: () => true,
      chain: nothing,
      maintain: nothing,
    });
    return {
      engine,
      deliver: () => worker.pass(),
      /** Sends one tick to a saga and handles its refusal like the background worker. */
      tick: async (id: string) => {
        const { step } = await row(id);
        const outcome = await engine.send({ kind: "saga", id }, { type: "tick" });
        if (outcome.ok) return;
        await engine.send({ kind: "saga", id }, { type: "step_refused", step, reason: outcome.fault.message });
      },
      faults: () => faults,
      paused: paused.promise,
      resume: () => resumed.resolve(),
    };
  }
  const main = newProcess();

  async function row(id: string): Promise<SagaRow> {
    const { rows } = await db.query<SagaRow>("select * from saga where id = $1", [id]);
    if (rows[0] === undefined) throw new Error(`no saga ${id}`);
    return rows[0];
  }

  const send = (to: ActorRef, message: Message, how?: SendOptions, by = main) => by.engine.send(to, message, how);
  const toInstance = (id: string, message: Message) => send({ kind: "instance", id }, message);
  const toJob = async (id: string, message: Message) => {
    const { rows } = await db.query<{ target_cn: string }>("select target_cn from job where id = $1", [id]);
    okOf(await main.engine.send({ kind: "job", id }, { by: rows[0]!.target_cn, ...message }));
  };

  /** Returns the message that creates an instance with one NIC, which has an IPv4 and an IPv6 address. */
  function creation(fields: object = {}): Message & { readonly id: string; readonly operation_id: string } {
    const id = randomUUID();
    return {
      type: "create",
      id,
      silo_id,
      tenant_id,
      project_id,
      name: id,
      description: "",
      brand: "kvm",
      cpu: 1,
      memory_bytes: GIB,
      image_id: image.id,
      primary_subnet_id: subnet.id,
      ssh_key_ids: [],
      sealed_user_data: "s1.sealed",
      labels: {},
      deletion_protection: false,
      placement_group_id: null,
      nics: [{
        id: randomUUID(),
        mac: null,
        name: "primary",
        subnet_id: subnet.id,
        vpc_id: subnet.vpc_id,
        ipv4_token: randomUUID(),
        ipv6_token: randomUUID(),
      }],
      boot_disk: { id: randomUUID(), size_bytes: 2 * GIB },
      quota_defaults: NO_QUOTA_DEFAULTS,
      candidates: [node],
      operation_id: randomUUID(),
      limit_ms: LIMIT_MS,
      ...fields,
    };
  }

  async function jobOf(saga: SagaRow): Promise<JobRow | undefined> {
    const { rows } = await db.query<JobRow>("select id, kind, state, tombstone from job where id = $1", [saga.job_id]);
    return rows[0];
  }

  const claim = (id: string) => toJob(id, { type: "claim", lease_s: 600 });
  async function endJob(id: string, how: Message = { type: "complete", result: null }): Promise<void> {
    await toJob(id, how);
    await main.deliver();
  }

  /** Ends the wait of the saga: completes its job as the node does, or delivers its tells. */
  async function serve(saga: SagaRow): Promise<void> {
    const job = await jobOf(saga);
    if (job === undefined || job.state === "completed" || job.state === "failed") return await main.deliver();
    if (job.state === "pending") await claim(job.id);
    await endJob(job.id);
  }

  /** Runs the saga until its next action is to do, or to undo, this step. */
  async function reach(id: string, step: string, state: "running" | "unwinding" = "running"): Promise<void> {
    for (let ticks = 0; ticks < 30; ticks++) {
      const now = await row(id);
      if (now.state === state && now.step === step && now.job_id === null) return;
      await (now.job_id === null ? main.tick(id) : serve(now));
    }
    throw new Error(`the saga never came to ${state} ${step}: ${JSON.stringify(await row(id))}`);
  }

  /** Runs the saga until it ends. */
  async function finish(id: string, by = main): Promise<SagaRow> {
    for (let ticks = 0; ticks < 40; ticks++) {
      const now = await row(id);
      if (now.state !== "running" && now.state !== "unwinding") return now;
      await (now.job_id === null ? by.tick(id) : serve(now));
    }
    throw new Error(`the saga did not end: ${JSON.stringify(await row(id))}`);
  }

  async function instanceOf(id: string) {
    const { rows } = await db.query("select state, reason, operation_id, job_begun from instance where id = $1", [id]);
    return rows[0];
  }

  /** Returns the nodes of an instance and of its migration, and how the migration ended. */
  async function migrationOf(id: string) {
    const { rows } = await db.query(
      "select i.host_cn_uuid, m.source_cn, m.target_cn, m.state from instance i join migration m on m.instance_id = i.id " +
        "where i.id = $1",
      [id],
    );
    return rows;
  }

  /** Creates a running instance without an operation in flight. */
  async function running(): Promise<string> {
    const taken = ready.running.shift();
    if (taken !== undefined) return taken;
    const message = creation();
    okOf(await toInstance(message.id, message));
    await finish(message.operation_id);
    return message.id;
  }

  /** Creates an instance on the node that is silent. */
  async function onSilent(state: "running" | "stopped"): Promise<string> {
    const seen = (ago: string) =>
      db.query("update cn_signal set last_seen = berth_now() - $2::interval where server_uuid = $1", [silent, ago]);
    const message = creation({ candidates: [silent] });
    await seen("0 s");
    okOf(await toInstance(message.id, message));
    await finish(message.operation_id);
    if (state === "stopped") await stop(message.id);
    await seen("1 hour");
    return message.id;
  }

  async function stop(id: string): Promise<void> {
    const operation_id = randomUUID();
    okOf(await toInstance(id, { type: "stop", operation_id, limit_ms: LIMIT_MS }));
    await finish(operation_id);
  }

  async function stopped(): Promise<string> {
    const taken = ready.stopped.shift();
    if (taken !== undefined) return taken;
    const id = await running();
    await stop(id);
    return id;
  }

  async function failed(): Promise<string> {
    const id = await running();
    const by = node;
    okOf(await toInstance(id, { type: "reported", vm_state: "failed", by, made_at: null, status_id: null }));
    return id;
  }

  /** Creates a data disk of an instance, and detaches it unless `attached`. */
  async function dataDisk(instance_id: string, { id, attached }: { readonly id: string; readonly attached: boolean }) {
    const disk = { id, name: "data", description: "", size_bytes: GIB };
    const begins = () => ({ operation_id: randomUUID(), limit_ms: LIMIT_MS });
    const created = { type: "create_disk", disk, quota_defaults: NO_QUOTA_DEFAULTS, ...begins() };
    const detached = { type: "detach_disk", disk_id: id, ...begins() };
    for (const message of attached ? [created] : [created, detached]) {
      okOf(await toInstance(instance_id, message));
      await finish(message.operation_id);
    }
  }

  /** Creates a snapshot of the only disk of an instance. */
  async function snapshot(instance_id: string, id: string) {
    const { rows } = await db.query<{ id: string }>("select id from disk where instance_id = $1", [instance_id]);
    const operation_id = randomUUID();
    const begins = { operation_id, limit_ms: LIMIT_MS, quota_defaults: NO_QUOTA_DEFAULTS };
    const made = { id, name: "before", description: "" };
    okOf(await toInstance(instance_id, { type: "create_snapshot", disk_id: rows[0]!.id, snapshot: made, ...begins }));
    await finish(operation_id);
  }

  let { shared } = fixture;
  /** Returns the NICs of two instances. All floating IP cases share them, because no case changes the instances. */
  const bindable = async () => shared ??= [await nicOf(await running()), await nicOf(await running())];
  async function nicOf(instance_id: string): Promise<Bindable> {
    const { rows: [nic] } = await db.query<{ nic_id: string; vpc_id: string }>(
      "select id as nic_id, vpc_id from nic where instance_id = $1",
      [instance_id],
    );
    return { ...nic!, instance_id, host_cn_uuid: node };
  }

  /** Creates a floating IP that is attached to this NIC, or detached. */
  async function floatingIp(to: Bindable | null): Promise<string> {
    const taken = to !== null && to === fixture.shared?.[0] ? ready.bound.shift() : undefined;
    if (taken !== undefined) return taken;
    const id = randomUUID();
    const operation_id = randomUUID();
    const at = { kind: "floating-ip", id };
    okOf(
      await send(at, {
        type: "create",
        id,
        silo_id,
        tenant_id,
        project_id,
        name: id,
        description: "",
        sources: [{ pool_id: "public:v6", family: "v6", network: null }],
        network_pool_id: null,
        refusal: conflict("the pool is empty"),
        token: randomUUID(),
        operation_id,
      }),
    );
    await finish(operation_id);
    if (to === null) return id;
    const attach = randomUUID();
    okOf(await send(at, { type: "attach", ...to, operation_id: attach, limit_ms: LIMIT_MS }));
    await finish(attach);
    return id;
  }

  /** Returns where a floating IP is attached, and its operation. */
  async function floatingIpOf(id: string) {
    const { rows } = await db.query(
      "select attached_to, attached_instance_id, hosted_cn, operation_id, prior_nic_id from floating_ip where id = $1",
      [id],
    );
    return rows[0];
  }

  /** Lists wrong counters and references to ended operations. The list must be empty when no operation is in flight. */
  async function contradictions(): Promise<readonly unknown[]> {
    const { rows } = await db.query(CONTRADICTIONS);
    return rows;
  }

  async function leave(): Promise<void> {
    await app.close();
    await db.close();
  }

  return {
    db,
    node,
    other,
    silent,
    silo_id,
    image: image.id as string,
    other_image: other_image.id as string,
    main,
    newProcess,
    row,
    jobOf,
    claim,
    endJob,
    toJob,
    send,
    bindable,
    floatingIp,
    floatingIpOf,
    creation,
    running,
    stopped,
    failed,
    onSilent,
    dataDisk,
    snapshot,
    reach,
    finish,
    serve,
    instanceOf,
    migrationOf,
    contradictions,
    close: (name: string) => db.query("insert into saga_gate values ($1) on conflict do nothing", [name]),
    open: () => db.query("delete from saga_gate"),
    advance: (ms: number) =>
      db.query("update lab_clock set ahead = ahead + $1 * interval '1 millisecond'", [ms]).then(() => {}),
    dump: () => dumpTables(db, RECORDS),
    left: async (before: Dump) => differences(before, await dumpTables(db, RECORDS)),
    database,
    leave,
    end: async () => {
      await leave();
      await database.drop();
    },
  };
}

function okOf(outcome: Outcome): void {
  expect(outcome).toMatchObject({ ok: true });
}
