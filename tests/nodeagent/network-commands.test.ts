// Tests the commands `nodeagent network` on a node without a network. A wrong directory is an error, and no command
// creates anything.
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../cli/internal/run.ts";
import { chooseVpc } from "../../nodeagent/network-commands.ts";
import { buildAgent } from "../../nodeagent/program.ts";
import { fakeEnvironment } from "../cli/fake-environment.ts";
import { documentOf, machine } from "../networks/documents.ts";

async function network(...argv: readonly string[]) {
  const fake = fakeEnvironment({ env: {} });
  return {
    code: await runCommand(buildAgent(), ["network", ...argv], fake.environment),
    out: fake.out(),
    err: fake.err(),
  };
}

test("a mistyped --state-dir is refused, and the directory is not created", async () => {
  const missing = join(mkdtempSync(join(tmpdir(), "berth-network-")), "typo");
  for (const argv of [["show"], ["check"], ["trace", "10.0.1.5", "10.0.2.6", "443"]]) {
    const ran = await network(...argv, "--state-dir", missing);
    expect(ran).toEqual({
      code: 1,
      out: "",
      err: `error: there is no directory ${missing}; set --state-dir to the agent's directory\n`,
    });
  }
  expect(existsSync(missing)).toBe(false);
});

test("on a node without a VPC, the commands print that the node has no VPC", async () => {
  const empty = mkdtempSync(join(tmpdir(), "berth-network-"));
  for (const verb of ["show", "check"]) {
    expect(await network(verb, "--state-dir", empty)).toEqual({ code: 0, out: "(this node has no VPC)\n", err: "" });
  }
});

/** A VPC with one machine on this node, and one on another node. */
function vpcOf(
  vni: number,
  host: number,
  fields: { addresses?: string[]; blocks?: string[]; floating_ips?: string[] },
) {
  const here = { ...machine(`here${host}`, "n1", { net: 1, host, vpc: "a" }), ...fields };
  const there = { ...machine(`there${host}`, "n2", { net: 2, host, vpc: "a" }), addresses: ["10.9.0.77"] };
  return documentOf({ vni, machines: [here, there], rules: [], edge: null, routes: [] }, "n1");
}

test.each([
  ["the first address of a NIC", "10.0.1.5", 0],
  ["a further address of a NIC", "10.9.1.1", 0],
  ["a further IPv6 address of a NIC", "fd00:a:9::7", 0],
  ["a floating IP of a NIC", "203.0.113.7", 1],
  ["an address in an allowed block of a NIC", "10.8.3.4", 1],
  ["a NIC's address that is also inside an allowed block of another VPC", "10.8.0.1", 0],
])("a trace chooses the VPC with %s", (_what, address, index) => {
  const blocks = ["10.9.1.1/32", "fd00:a:9::7/128", "10.8.0.1/32"];
  const documents = [
    vpcOf(4_096, 5, { addresses: ["10.9.1.1", "fd00:a:9::7", "10.8.0.1"], blocks }),
    vpcOf(4_097, 6, { blocks: ["10.8.0.0/16"], floating_ips: ["203.0.113.7"] }),
  ];
  expect(chooseVpc(documents, undefined, ["192.0.2.200", address])).toBe(documents[index]);
});

test("a trace requires --vpc if allowed blocks of several VPCs contain the address, and then uses the named VPC", () => {
  const documents = [vpcOf(4_096, 5, { blocks: ["10.8.0.0/16"] }), vpcOf(4_097, 6, { blocks: ["10.8.0.0/16"] })];
  const addresses = ["10.0.2.200", "10.8.3.4"];
  expect(() => chooseVpc(documents, undefined, addresses)).toThrow("choose one with --vpc");
  expect(chooseVpc(documents, documents[1]!.vpc_id, addresses)).toBe(documents[1]);
  expect(() => chooseVpc(documents, undefined, ["10.0.2.200", "10.7.0.1"])).toThrow("no VPC of this node fits");
});
