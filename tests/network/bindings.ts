// Provides steps for tests of attached floating IPs. The steps create instances on two nodes that the test simulates,
// and attach and detach addresses.
import { expect } from "vitest";
import type { Instance, Nic } from "../../src/contract/instance.ts";
import type { Job } from "../../src/contract/job.ts";
import type { FloatingIp } from "../../src/contract/network.ts";
import { addNode, type Node, openComputeFixture } from "../compute/compute-fixture.ts";
import { type Answer, type CallOptions, okOf } from "../support/control-plane.ts";
import { asWritten } from "./networks.ts";
import { ended, makeFloatingIp } from "./public-addresses.ts";

/** An instance with its first NIC, and its node. */
export type Placed = { readonly instance: Instance; readonly nic: Nic; readonly node: Node };
export type Bindings = Awaited<ReturnType<typeof openBindings>>;

export const UNBOUND = { attached_to: null, attached_instance_id: null, hosted_cn: null } as const;
export const bound = ({ instance, nic, node }: Placed) => ({
  attached_to: nic.id,
  attached_instance_id: instance.id,
  hosted_cn: node.server_uuid,
});
export const path = (id: string, verb = "") => `/v1/floating-ips/${id}${verb === "" ? "" : `/${verb}`}`;

/** Expects 502 with this reason. Ignores the end of the message, which names an operation that is still unwinding. */
export function failed({ status, body }: Answer, message: string): void {
  expect([status, body.error_code]).toEqual([502, "OperationFailed"]);
  expect(body.message.replace(/; operation \S+ is unwinding$/, "")).toBe(message);
}

/** Creates three instances: `web` and `standby` on the fixture's node, `away` on another node. */
export async function openBindings() {
  const a = await openComputeFixture();
  const { t, tenant } = a;

  async function placed(node: Node): Promise<Placed> {
    const instance: Instance = await node.done(a.create(), "provision");
    const [nic] = await a.nicsOf(instance.id);
    return { instance, nic, node };
  }
  const silent = ({ server_uuid }: Node) =>
    t.db.query("update cn_signal set last_seen = berth_now() - interval '1 hour' where server_uuid = $1", [
      server_uuid,
    ]);
  const [web, standby] = [await placed(a.node), await placed(a.node)];
  const other = await addNode(t);
  await silent(a.node);
  const away = await placed(other);
  await a.node.alive();

  /** Creates a stopped instance on the fixture's node. */
  async function stopped(): Promise<Placed> {
    await silent(other);
    const instance = await a.stopped();
    await other.alive();
    const [nic] = await a.nicsOf(instance.id);
    return { instance, nic, node: a.node };
  }

  const show = async (id: string): Promise<FloatingIp> => asWritten(okOf(await a.call("GET", path(id))));
  const make = async (fields?: object): Promise<FloatingIp> => okOf(await makeFloatingIp(tenant, fields));
  const attach = (ip: FloatingIp, { nic }: Pick<Placed, "nic">, options: CallOptions = {}) =>
    a.call("POST", path(ip.id, "attach"), { body: { nic_id: nic.id }, ...options });
  const detach = (ip: FloatingIp, options: CallOptions = {}) => a.call("POST", path(ip.id, "detach"), options);
  /** Creates a floating IP, attaches it and completes the job of the node. */
  async function attached(to: Placed): Promise<FloatingIp> {
    const ip = await make();
    return await to.node.done(attach(ip, to), "fip_claim");
  }
  async function giveBack(ip: FloatingIp, from: Placed | null): Promise<void> {
    if (from !== null) await from.node.done(detach(ip), "fip_release");
    okOf(await a.call("DELETE", path(ip.id)));
  }
  /** Waits for the end of the newest operation of this kind on a floating IP. */
  async function operationOf(ip: FloatingIp, kind: string) {
    const all = okOf(await t.call("GET", `/v1/operations?resource_scope=floating_ip&resource_id=${ip.id}`));
    return await ended(t, all.find((each: { kind: string }) => each.kind === kind).id);
  }
  const listed = async ({ instance }: Placed): Promise<string[]> =>
    (await t.db.query("select floating_ip_ids from instance where id = $1", [instance.id])).rows[0].floating_ip_ids;
  /** Returns the message of the 409 while this operation is running. */
  const busy = (ip: FloatingIp, { operation_id }: Job, kind: string) =>
    `operation ${operation_id} (${kind}) still runs on floating ip ${ip.id}; wait for it to end`;

  return {
    ...a,
    web,
    standby,
    away,
    silent,
    stopped,
    show,
    make,
    attach,
    detach,
    attached,
    giveBack,
    operationOf,
    listed,
    busy,
  };
}
