// Creates instances, disks, snapshots and floating IPs by running their sagas. Uses up the instances and floating IPs
// that the fixture has prepared, before it creates more.
import { randomUUID } from "node:crypto";
import type { Message } from "../../actors/engine/types.ts";
import { conflict } from "../../src/contract/fault.ts";
import { NO_QUOTA_DEFAULTS } from "../../src/contract/tenancy.ts";
import type { Db } from "../../src/db/pool.ts";
import type { Bindable, InstanceFixture } from "./bare-fixture.ts";
import { okOf, type SagaRuns } from "./saga-runs.ts";

export const GIB = 2 ** 30;
export const LIMIT_MS = 600_000;

type Runs = Pick<SagaRuns, "send" | "finish">;

export function openMadeInstances(db: Db, fixture: InstanceFixture, { send, finish }: Runs) {
  const { silo_id, tenant_id, project_id, image, node, silent, subnet } = fixture;
  const ready = { running: [...fixture.running], stopped: [...fixture.stopped], bound: [...fixture.bound] };
  const toInstance = (id: string, message: Message) => send({ kind: "instance", id }, message);

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

  /** Creates a running instance without an operation in flight. */
  async function running(): Promise<string> {
    const taken = ready.running.shift();
    if (taken !== undefined) return taken;
    const message = creation();
    okOf(await toInstance(message.id, message));
    await finish(message.operation_id);
    return message.id;
  }

  /** Creates an instance on the node `silent`, and makes the node's last report an hour old. */
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

  return { creation, running, stopped, failed, onSilent, dataDisk, snapshot, bindable, floatingIp };
}
