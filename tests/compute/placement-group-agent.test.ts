// Tests placement groups of instances on real agents of simulated machines (docs/instances.md, "Placement groups").
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { DrainResult } from "../../src/contract/drain.ts";
import { conflictWith, notFound } from "../network/public-addresses.ts";
import { type Answer, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { serveNode } from "../../src/http/node-server.ts";
import { buildExecutables, run } from "../processes/executables.ts";
import { needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { type ImageServer, serveImage } from "./image-server.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "./instance-fixture.ts";
import { type RunningAgent, simulatedMachine } from "./node-agent.ts";

const PATIENCE = { timeout: 60_000 };
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let t: TestControlPlane;
let folder: TemporaryFolder;
let images: ImageServer;
let g: InstanceFixture;
const nodes: string[] = [];
const agents: RunningAgent[] = [];
const made: string[] = [];

beforeAll(async () => {
  folder = await temporaryFolder("placement-group");
  t = await openTestControlPlane();
  images = await serveImage(randomBytes(3_000));
  g = await openInstanceFixture(t, { ...images, size_bytes: images.bytes.length });
  for (let count = 0; count < 3; count++) {
    const node = await t.approvedNode();
    nodes.push(node.server_uuid);
    agents.push((await simulatedMachine(t, node, folder.path)).start());
  }
});
beforeEach(async (context) => {
  needs(context, "openssl");
  const known = async () =>
    (await t.db.query("select from cn_capacity c join cn_signal s using (server_uuid) where last_seen is not null"))
      .rows.length;
  await expect.poll(known, PATIENCE).toBe(nodes.length);
});
afterEach(async () => {
  for (const node of nodes) await place(node, { cordoned: false, clear: ["fault_domain"] });
  for (const id of made.splice(0)) {
    await g.call("POST", `/v1/instances/${id}/stop`);
    okOf(await g.call("DELETE", `/v1/instances/${id}`));
  }
});
afterAll(async () => {
  for (const agent of agents) await agent.stop();
  await images.close();
  await t.close();
  await folder.remove();
});

const place = async (node: string, body: object) => okOf(await t.call("PATCH", `/v1/cns/${node}/placement`, { body }));
const groupOf = async (fields: object = {}) =>
  okOf(await g.call("POST", `/v1/placement-groups${g.selectors}`, { body: { name: randomUUID(), ...fields } }));
const hostOf = async (id: string) => okOf(await g.call("GET", `/v1/instances/${id}`)).host_cn_uuid as string;
const migrate = (id: string, target: string) =>
  t.call("POST", `/v1/instances/${id}/migrate`, { body: { target_server_uuid: target } });

async function member(placement_group_id: string, fields: object = {}): Promise<Answer> {
  const answer = await makeInstance(g, { placement_group_id, ...fields });
  if (answer.status < 300) made.push(answer.body.id);
  return answer;
}

async function drained(node: string, state = "succeeded"): Promise<DrainResult> {
  const { operation_id } = okOf(await t.call("POST", `/v1/cns/${node}/drain`, { body: {} }));
  const operation = async () => okOf(await t.call("GET", `/v1/operations/${operation_id}`));
  await expect.poll(async () => (await operation()).state, PATIENCE).toBe(state);
  return (await operation()).steps.at(-1).output;
}

describe("a required anti-affinity group", () => {
  test("has one instance on each node, even if the instances are created at the same time, and refuses one more instance", async () => {
    const group = await groupOf();
    const answers = await Promise.all(nodes.map(() => member(group.id)));
    expect(new Set(answers.map((answer) => okOf(answer).host_cn_uuid))).toEqual(new Set(nodes));
    expect(okOf(answers[0]!).placement_group_id).toBe(group.id);
    const fourth = await member(group.id);
    expect([fourth.status, fourth.body.message]).toEqual([503, expect.stringContaining("affinity")]);
    const [first] = answers.map((answer) => okOf(answer).id as string) as [string];
    const body = { cpu: 1, memory_bytes: 2 ** 30, tenant_id: g.tenant_id, placement_group_id: group.id };
    const report = okOf(await t.call("POST", "/v1/system/placement/explain", { body }));
    expect([report.chosen, report.reject_counts]).toEqual([null, { "cn-affinity-required": nodes.length }]);
    expect(report.request.placement_group_id).toBe(group.id);
    expect(JSON.stringify(report.per_cn[0])).toContain(
      `another instance of placement group ${group.name} is on the same node`,
    );
    conflictWith(
      await g.call("DELETE", `/v1/placement-groups/${group.id}`),
      `placement group ${group.name} has 3 instances; delete them first`,
    );
    const [own = "", other = ""] = [await hostOf(first), nodes.find((node) => node !== okOf(answers[0]!).host_cn_uuid)];
    conflictWith(
      await migrate(first, other),
      `node ${other} cannot take the instance: another instance of placement group ${group.name} is on the same node`,
    );
    // A drain finds no node for the instance, and names the instance.
    expect(await drained(own, "unwound")).toMatchObject({
      moved: 0,
      remaining: [{ instance_id: first, reason: expect.stringContaining("cn-affinity-required") }],
    });
  });

  test("keeps its instances apart during migrations and drains, and can be deleted after its last instance", async () => {
    const group = await groupOf();
    const ids = [okOf(await member(group.id)).id, okOf(await member(group.id)).id] as [string, string];
    const [one, two] = await Promise.all(ids.map(hostOf)) as [string, string];
    const free = nodes.find((node) => node !== one && node !== two)!;
    expect(await drained(one)).toEqual({ moved: 1, remaining: [] });
    expect([await hostOf(ids[0]), await hostOf(ids[1])]).toEqual([free, two]);
    // The drained node is cordoned, and the third node has the group's other instance.
    const moved = await t.call("POST", `/v1/instances/${ids[1]}/migrate`, { body: {} });
    expect([moved.status, moved.body.message]).toEqual([503, expect.stringContaining("affinity")]);
    expect(await hostOf(ids[1])).toBe(two);
    for (const id of made.splice(0)) {
      okOf(await g.call("POST", `/v1/instances/${id}/stop`));
      okOf(await g.call("DELETE", `/v1/instances/${id}`));
    }
    expect((await g.call("DELETE", `/v1/placement-groups/${group.id}`)).status).toBe(204);
    notFound(await g.call("GET", `/v1/placement-groups/${group.id}`));
    notFound(await member(group.id));
  });

  test("whose fault domain is the rack uses one node of each rack", async () => {
    await place(nodes[0]!, { fault_domain: "a3" });
    await place(nodes[1]!, { fault_domain: "a3" });
    await place(nodes[2]!, { fault_domain: "a4" });
    const group = await groupOf({ level: "fault_domain" });
    const hosts = [okOf(await member(group.id)).host_cn_uuid, okOf(await member(group.id)).host_cn_uuid];
    expect(hosts.filter((host) => host === nodes[2])).toHaveLength(1);
    expect((await member(group.id)).status).toBe(503);
  });
});

test.each([
  ["anti_affinity", "a3", "another instance of placement group NAME is in the same fault domain"],
  ["affinity", "a4", "the instances of placement group NAME are in another fault domain"],
])("the commit names the fault domain if a required %s group refuses a node", async (policy, of_others, text) => {
  await place(nodes[0]!, { fault_domain: "a3" });
  for (const node of nodes.slice(1)) await place(node, { fault_domain: of_others });
  const group = await groupOf({ policy, level: "fault_domain" });
  await place(nodes[0]!, { cordoned: true });
  okOf(await member(group.id));
  const args = { placement_group_id: group.id, instance_id: randomUUID(), server_uuid: nodes[0] };
  const { rows } = await t.db.query("select guard_placement_group_allows($1) as verdict", [JSON.stringify(args)]);
  expect(rows).toEqual([{ verdict: text.replace("NAME", group.name) }]);
});

test("a tenant creates a group and an instance in the group with tenantctl", async () => {
  await buildExecutables(["tenantctl"]);
  const server = await serveNode({ fetch: t.plane.fetch, hostname: "127.0.0.1", port: 0 });
  const env = {
    HOME: folder.path,
    NO_COLOR: "1",
    TENANTCTL_ENDPOINT: `http://127.0.0.1:${server.port}`,
    TENANTCTL_API_KEY: g.key,
    TENANTCTL_PROJECT: g.project_id,
  };
  const tenantctl = async (...argv: readonly string[]) => {
    const { code, out, err } = await run("tenantctl", [...argv, "-o", "json"], { env });
    expect(code, err).toBe(0);
    return JSON.parse(out);
  };
  const named = ["--policy", "anti_affinity", "--level", "node", "--label", "env=test"];
  const group = await tenantctl("placement-group", "create", "--name", "copies", ...named);
  expect(group).toMatchObject({ name: "copies", strictness: "required", labels: { env: "test" } });
  const sizes = ["--cpu", "1", "--memory", "1GiB", "--image", g.image_id, "--subnet", g.subnet_id];
  for (const name of ["copy1", "copy2"]) {
    const { id } = await tenantctl("instance", "create", "--name", name, ...sizes, "--placement-group", "copies");
    made.push(id);
  }
  expect(await hostOf(made[0]!)).not.toBe(await hostOf(made[1]!));
  await server.close(0);
});

test("a preferred anti-affinity group uses another node while another node has room", async () => {
  const group = await groupOf({ strictness: "preferred" });
  const hosts: string[] = [];
  for (let count = 0; count < 4; count++) hosts.push(okOf(await member(group.id)).host_cn_uuid);
  expect(new Set(hosts.slice(0, 3))).toEqual(new Set(nodes));
  expect(nodes).toContain(hosts[3]);
});

test("a required affinity group stays on one node, and a drain moves the whole group to one other node", async () => {
  const group = await groupOf({ policy: "affinity" });
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) ids.push(okOf(await member(group.id)).id);
  const [host = ""] = await Promise.all(ids.map(hostOf));
  expect(await Promise.all(ids.map(hostOf))).toEqual([host, host, host]);
  const other = nodes.find((node) => node !== host)!;
  conflictWith(
    await migrate(ids[0]!, other),
    `node ${other} cannot take the instance: the instances of placement group ${group.name} are on another node`,
  );
  expect(await drained(host)).toEqual({ moved: 3, remaining: [] });
  const after = await Promise.all(ids.map(hostOf));
  expect([new Set(after).size, after[0] !== host]).toEqual([1, true]);
});
