// Creates a tenant with instances on two of three nodes, for tests of network documents. The tests act as the nodes'
// agents.
import type { Instance, Nic } from "../../src/contract/instance.ts";
import type { NetworkPollView } from "../../src/contract/network-document.ts";
import { addNode, type Node, openComputeFixture } from "../compute/compute-fixture.ts";
import { type Answer, okOf } from "../support/control-plane.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { networksOf } from "./networks.ts";

export type NetworkNode = Node & { readonly underlay_address: string };
type Placed = { readonly instance: Instance; readonly nic: Nic; readonly node: NetworkNode };
type Poll = { readonly wait?: number; readonly have?: Readonly<Record<string, number>> };

export type NetworkFixture = Awaited<ReturnType<typeof openNetworkFixture>>;

/** Creates `web` on node one and `db` on node two; the third node has no instance. */
export async function openNetworkFixture() {
  let nodes = 0;
  const a = await openComputeFixture();
  const { t, tenant } = a;
  const n = networksOf(tenant);
  await silence(a.node);

  async function networkNode(): Promise<NetworkNode> {
    nodes += 1;
    const underlay_address = `192.0.2.${nodes}`;
    return { ...await addNode(t, {}, { underlay_address, underlay_mtu: 1_500 }), underlay_address };
  }
  /** Sets the time of the node's last heartbeat to an hour ago, so that no instance is placed on the node. */
  async function silence({ server_uuid }: Node): Promise<void> {
    const past = "update cn_signal set last_seen = berth_now() - interval '1 hour' where server_uuid = $1";
    await t.db.query(past, [server_uuid]);
  }
  const [one, two, idle] = [await networkNode(), await networkNode(), await networkNode()];
  const all = [one, two, idle];

  async function placed(node: NetworkNode, name: string, fields: object = {}): Promise<Placed> {
    for (const other of all) await (other === node ? other.alive() : silence(other));
    const instance: Instance = await node.done(a.create({ name, ...fields }), "provision");
    const [nic] = await a.nicsOf(instance.id);
    for (const other of all) await other.alive();
    return { instance, nic, node };
  }
  /** Adds nodes. Each node has one instance. */
  async function spread(count: number): Promise<NetworkNode[]> {
    const added: NetworkNode[] = [];
    for (let at = 0; at < count; at++) {
      const node = await networkNode();
      all.push(node);
      await placed(node, `spread-${at}`);
      added.push(node);
    }
    return added;
  }
  async function removed({ instance, node }: Placed): Promise<void> {
    await node.done(a.call("POST", `/v1/instances/${instance.id}/stop`), "stop");
    await node.done(a.call("DELETE", `/v1/instances/${instance.id}`), "delete");
  }

  const tryPoll = (node: Node, { wait = 0, have = {} }: Poll = {}): Promise<Answer> =>
    node.call("POST", "/v1/agent/network/poll", { wait, have });
  const poll = async (node: Node, given?: Poll): Promise<NetworkPollView> => okOf(await tryPoll(node, given));
  /** Polls as a node that stores no document, and returns the generations of the documents that it gets. */
  const stored = async (node: Node): Promise<Record<string, number>> =>
    Object.fromEntries((await poll(node)).vpcs.map(({ vpc_id, generation }) => [vpc_id, generation]));
  const tryReport = (node: Node, vpc_id: string, fields: object): Promise<Answer> =>
    node.call("POST", "/v1/agent/network-realization", {
      resource: { kind: "vpc", id: vpc_id },
      realizer: { kind: "cn", id: node.server_uuid },
      status: "applied",
      ...fields,
    });
  /** Polls and reports all documents as applied. */
  async function apply(node: Node): Promise<Record<string, number>> {
    const have = await stored(node);
    for (const [vpc_id, generation] of Object.entries(have)) okOf(await tryReport(node, vpc_id, { generation }));
    return have;
  }
  const offered = async ({ server_uuid }: Node): Promise<string[]> =>
    (await t.db.query("select vpc_id from vpc_realization where server_uuid = $1", [server_uuid])).rows
      .map((row) => row.vpc_id);
  /** Gives the server time to begin a long poll, but less than the 250 ms after which it looks for the answer again. */
  const isHeld = () => new Promise((resolve) => setTimeout(resolve, 100));

  async function otherTenant() {
    const other = await openTenant(t);
    return { vpc: await networksOf(other).vpc() };
  }

  const web = await placed(one, "web");
  const db = await placed(two, "db");
  const project = okOf(await tenant.call("GET", `/v1/tenants/${tenant.tenant_id}/projects/${tenant.project_id}`)).name;
  return {
    ...a,
    n,
    one,
    two,
    idle,
    web,
    db,
    project: String(project).toLowerCase(),
    placed,
    spread,
    removed,
    silence,
    tryPoll,
    poll,
    stored,
    tryReport,
    apply,
    offered,
    isHeld,
    otherTenant,
  };
}
