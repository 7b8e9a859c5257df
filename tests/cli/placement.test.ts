// Tests the placement commands of opsctl against a control plane.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PlacementExplanation } from "../../src/contract/placement.ts";
import { GIB, openNode, placeInstance } from "../compute/placed.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { opsctlAt, type OpsctlRunner } from "./at-control-plane.ts";

let t: TestControlPlane;
let at: OpsctlRunner;
let tenant: TestTenant;

beforeAll(async () => {
  t = await openTestControlPlane();
  at = opsctlAt(t);
  tenant = await openTenant(t, "acme");
});
afterAll(() => t?.close());
beforeEach(async () => {
  await t.db.query("delete from disk");
  await t.db.query("delete from instance");
  for (const { server_uuid } of okOf(await t.call("GET", "/v1/system/cns")).items) {
    await t.call("POST", `/v1/cns/${server_uuid}/disable`);
    okOf(await t.call("DELETE", `/v1/cns/${server_uuid}`));
  }
});

const lines = (text: string) => text.trimEnd().split("\n");

test("`placement explain` shows the chosen node, and the reason why each other node is rejected", async () => {
  expect(await at.printed("placement explain --cpu 2 --memory 4GiB")).toBe("No approved compute node\n");
  const [good, small] = [await openNode(t), await openNode(t, { ram_total_mb: 1_024 })];
  await at.printed(["cn", "cordon", small.hostname, "--reason", "a cable"]);
  expect(await at.printed(`cn uncordon ${small.hostname}`)).toBe(`Uncordoned ${small.hostname}\n`);
  expect(await at.printed(`cn placement show ${small.hostname}`)).toContain("cordoned:            false\n");
  await at.printed(["cn", "cordon", small.hostname, "--reason", "a fan"]);
  const [verdict, , head, ...rows] = lines(await at.printed("placement explain --cpu 2 --memory 4GiB --disk 20GiB"));
  expect(verdict).toBe(`Would be placed on ${good.hostname} (${good.id}), by profile spread`);
  expect(head).toMatch(/^HOSTNAME +SERVER_UUID +SCORE +REJECTED_BY$/);
  expect(rows[0]).toMatch(new RegExp(`^${good.hostname} +${good.id} +\\d+\\.\\d{3} +-$`));
  expect(rows[1]).toMatch(
    new RegExp(
      `^${small.hostname} +${small.id} +- +cn-not-cordoned: it is cordoned: a fan; ` +
        "cn-ram-available: 1024 MiB of memory left of 1024, 4096 wanted$",
    ),
  );
  const none = lines(await at.printed("placement explain --cpu 2 --memory 400GiB"));
  expect(none[0]).toBe("None of the 2 approved nodes can take it");
});

test("`cn cordon` and `uncordon` accept several nodes and stop at the first failure; the error names the node", async () => {
  const [a, b] = [await openNode(t), await openNode(t)];
  expect(await at.printed(`cn cordon ${a.hostname} ${b.hostname}`)).toBe(
    `Cordoned ${a.hostname}; its instances continue to run\nCordoned ${b.hostname}; its instances continue to run\n`,
  );
  const ran = await at.run(`cn uncordon ${a.hostname} no-such-node ${b.hostname}`);
  expect([ran.code, ran.out()]).toEqual([3, `Uncordoned ${a.hostname}\n`]);
  expect(ran.err()).toContain("error: no-such-node: no compute node has the name no-such-node");
  expect(await at.printed(`cn placement show ${b.hostname}`)).toContain("cordoned:            true\n");
});

test("`placement explain` finds an existing instance by its name; the error for an unknown name names the list command", async () => {
  const [host, target] = [await openNode(t), await openNode(t)];
  await placeInstance(t, { on: host.id, of: tenant, name: "db1" });
  const explained = await at.json<PlacementExplanation>("placement explain db1");
  expect(explained.per_cn.map(({ server_uuid }) => server_uuid).sort()).toEqual([host.id, target.id].sort());
  const unknown = await at.run("placement explain db9");
  expect([unknown.code, unknown.err()]).toEqual([
    3,
    "error: no instance has the name db9; to list them, run: opsctl instance list\n",
  ]);
});

test("`placement explain --node` shows the decision of every filter about the node, and the scores of an accepted node", async () => {
  const [good, edge] = [await openNode(t), await openNode(t)];
  await at.printed(`cn label set ${edge.hostname} --role edge`);
  const accepted = await at.printed(`placement explain --cpu 1 --memory 1GiB --node ${good.hostname}`);
  expect(accepted).toMatch(new RegExp(`^${good.hostname} \\(${good.id}\\): \\d+\\.\\d{3} points\n`));
  expect(accepted.match(/^cn-[a-z-]+ +(?:accept|skip) +-$/gm)).toHaveLength(23);
  expect(accepted.match(/^score-[a-z0-9-]+ +\d\.\d{3} +[\d.]+ +\d\.\d{3}$/gm)).toHaveLength(11);
  const rejected = await at.printed(`placement explain --cpu 1 --memory 1GiB --node ${edge.id}`);
  expect(rejected).toMatch(/^cn-role-matches +reject +its role is edge, not tenant$/m);
  expect(rejected).not.toContain("SCORER");
});

test("`placement explain INSTANCE` uses the instance's values, and options override them", async () => {
  const node = await openNode(t, { ram_total_mb: 4_096, nic_tags: ["external", "dmz"] });
  const id = await placeInstance(t, { on: node.id, of: tenant });
  const explanation = await at.json<PlacementExplanation>(`placement explain ${id}`);
  expect(explanation).toMatchObject({ chosen: node.id, request: { instance_id: id, cpu_units: 200, brand: "bhyve" } });
  const argv = `placement explain ${id} --memory 8GiB --brand lx --role both --tenant acme --nic-tag dmz ` +
    `--nic-tag external --trait rack=r1 --avoid ${node.hostname} --min-platform 20990101T000000Z --disk 1GiB`;
  expect(await at.json<PlacementExplanation>(argv)).toMatchObject({
    chosen: null,
    request: {
      ram_mb: 8_192,
      disk_bytes: GIB,
      brand: "lx",
      role: "both",
      tenant_id: tenant.tenant_id,
      nic_tags: ["dmz", "external"],
      traits: { rack: "r1" },
      avoid_cn: [node.id],
      min_platform: "20990101T000000Z",
    },
  });
});

test.each([["placement explain"], ["placement explain --cpu 2"], ["placement explain --memory 1GiB"]])(
  "%s is a usage error that names the missing options",
  async (argv) => {
    const ran = await at.run(argv);
    expect([ran.code, ran.asked]).toEqual([2, []]);
    expect(ran.err()).toContain("name an instance, or pass --cpu and --memory");
  },
);

test("`cn drain-preview` shows the instances that fit on other nodes, and the instances that look like quorum members", async () => {
  const from = await openNode(t);
  expect(await at.printed(`cn drain-preview ${from.hostname}`)).toBe("(no instances)\n");
  const to = await openNode(t, { ram_total_mb: 4_096 });
  const ids = [];
  for (const name of ["etcd-1", "web-1"]) ids.push(await placeInstance(t, { on: from.id, of: tenant, name }));
  const [count, quorum, , head, ...rows] = lines(await at.printed(`cn drain-preview ${from.hostname}`));
  expect(count).toBe("1 of 2 instances fit on other nodes");
  expect(quorum).toBe("Move these one at a time, because they look like members of a quorum: etcd-1");
  expect(head).toMatch(/^INSTANCE_ID +NAME +CPU +RAM_MB +TARGET +REASON +REMEDY$/);
  expect(rows[0]).toMatch(
    / +2 +4096 +- +\S+: 0 MiB of memory left of 4096, 4096 wanted \(cn-ram-available\) +make room on another node; /,
  );
  expect(rows[1]).toContain(`${to.hostname} (${to.id})`);
  expect(rows.map((row) => row.split(" ")[0]).sort()).toEqual(ids.sort());
});

test("`cn drain` cordons a node and counts the moved instances; --dry-run changes nothing", async () => {
  const node = await openNode(t);
  const placement = async () => okOf(await t.call("GET", `/v1/cns/${node.id}/placement`));
  expect(await at.printed(`cn drain ${node.hostname} --dry-run`)).toBe("(no instances)\n");
  expect(await placement()).toMatchObject({ cordoned: false });
  const done = `Moved 0 instances from ${node.hostname}; the node is cordoned\n`;
  expect(await at.printed(`cn drain ${node.hostname}`)).toBe(done);
  expect(await placement()).toMatchObject({ cordoned: true, cordoned_reason: "drain" });
});

/** Creates two nodes with this label. Returns them in the order of their drains. */
async function openRack(rack: string) {
  const [one, two] = [await openNode(t), await openNode(t)];
  for (const { id } of [one, two]) {
    okOf(await t.call("PATCH", `/v1/cns/${id}/placement`, { body: { labels: { rack } } }));
  }
  return one.hostname < two.hostname ? [one, two] as const : [two, one] as const;
}

test("`cn drain --label` drains the nodes with a label and names them; --dry-run changes nothing", async () => {
  const [a, b] = await openRack("a3");
  const placement = async (id: string) => okOf(await t.call("GET", `/v1/cns/${id}/placement`));
  const [head, ...rows] = lines(await at.printed("cn drain --label rack=a3 --dry-run"));
  expect(head).toMatch(/^NODE +INSTANCES +FIT_ELSEWHERE +OPERATION$/);
  expect(rows.map((row) => row.split(/ +/).slice(0, 3))).toEqual([[a.hostname, "0", "0"], [b.hostname, "0", "0"]]);
  expect(await placement(a.id)).toMatchObject({ cordoned: false });

  const done = "Drained 2 nodes and moved 0 instances from them; these nodes are cordoned\n";
  expect(await at.printed("cn drain --label rack=a3 --max-unavailable 2")).toBe(done);
  for (const { id } of [a, b]) {
    expect(await placement(id)).toMatchObject({ cordoned: true, cordoned_reason: "drain" });
  }
});

test("`cn drain --label --dry-run` shows where each instance would go", async () => {
  const [a] = await openRack("moves");
  const other = await openNode(t);
  const moves = await placeInstance(t, { on: a.id, of: tenant, name: "web-3" });
  const printed = await at.printed("cn drain --label rack=moves --dry-run");
  expect(printed).toContain(`${a.hostname}: 1 of 1 instances fit on other nodes`);
  expect(printed).toMatch(new RegExp(`^${moves} +web-3 .* ${other.hostname} \\(${other.id}\\)`, "m"));
});

test("`cn drain --label` stops if a drained node is not empty, names its instances, and exits with 1", async () => {
  const [a, b] = await openRack("full");
  // The only other node has the same label, so the instance cannot move to it.
  const stays = await placeInstance(t, { on: a.id, of: tenant, name: "web-2" });
  const ran = await at.run("cn drain --label rack=full");
  expect(ran.code).toBe(1);
  expect(ran.out()).toContain(`Not begun: ${b.hostname}`);
  expect(ran.out()).toContain(`${a.hostname} is not empty: 1 instance is still on the node.`);
  expect(ran.out()).toContain(stays);
  expect(ran.err()).toContain(`stopped at ${a.hostname}`);
});

test.each([
  ["cn drain", "name a node, or pass --label"],
  ["cn drain cn-17 --label rack=a3", "name a node or pass --label, not both"],
  ["cn drain cn-17 --max-unavailable 2", "--max-unavailable needs --label"],
])("%s is a usage error", async (argv, message) => {
  const ran = await at.run(argv);
  expect([ran.code, ran.asked]).toEqual([2, []]);
  expect(ran.err()).toContain(message);
});

test("`cn drain --label` exits with 1 if no approved node has the label", async () => {
  for (const more of ["", " --dry-run"]) {
    const ran = await at.run(`cn drain --label rack=of-no-node${more}`);
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain("no approved node has the label rack=of-no-node");
  }
});

test("`cn upgrade` names nodes that cannot be upgraded, and starts no upgrade", async () => {
  const [a] = await openRack("u1");
  const command = "cn upgrade --label rack=u1 --platform 20261121T000000Z";
  const plan = await at.printed(`${command} --dry-run`);
  expect(plan).toContain("(no nodes to upgrade)");
  expect(plan).toContain(`${a.hostname} cannot be upgraded: no enrolled boot record belongs to the node`);
  const ran = await at.run(command);
  expect(ran.code).toBe(1);
  expect(ran.err()).toContain("platform_image: 20261121T000000Z is not staged on any booter");
  const unnamed = await at.run("cn upgrade --platform 20261121T000000Z");
  expect([unnamed.code, unnamed.err()]).toEqual([2, expect.stringContaining("pass --label")]);
});

test("`cn placement set` changes only the given settings; --clear resets settings to their defaults", async () => {
  const node = await openNode(t);
  const set = (...argv: string[]) => at.printed(["cn", "placement", "set", node.hostname, ...argv]);
  await set(
    "--reserved",
    "true",
    "--reserved-reason",
    "for the lab",
    "--overprovision-cpu",
    "2.5",
    "--fault-domain",
    "r7",
  );
  await set("--pinned-silo", tenant.silo_id, "--pinned-tenant", "acme", "--note", "a note");
  const shown = await at.printed(`cn placement show ${node.hostname}`);
  expect(shown).toMatch(/^reserved: +true\nreserved_reason: +for the lab\ncordoned: +false\n/);
  expect(shown).toMatch(/^overprovision_cpu: +2\.5\noverprovision_ram: +\(cluster default\)$/m);
  expect(shown).toMatch(new RegExp(`^pinned_tenant_uuid: +${tenant.tenant_id}\nnote: +a note$`, "m"));
  const cleared = await set(
    "--reserved",
    "false",
    "--clear",
    "overprovision_cpu,pinned_silo_uuid,pinned_tenant_uuid,note",
  );
  expect(cleared).toMatch(/^reserved: +false\nreserved_reason: +-\n/);
  expect(cleared).toMatch(/^fault_domain: +r7\npinned_silo_uuid: +-\npinned_tenant_uuid: +-\nnote: +-$/m);
});

test("`cn placement set` is rejected without options, or if --clear names a setting that cannot be cleared", async () => {
  for (const argv of ["cn placement set x", "cn placement set x --clear cordoned"]) {
    const ran = await at.run(argv);
    expect([ran.code, ran.asked]).toEqual([2, []]);
  }
});
