// Tests that the worker that chooses nodes for NAT gateways handles every gateway, although one pass reads only a
// limited number of gateways.
import { expect, test } from "vitest";
import type { Homeless } from "../../src/lib/placement/nat-gateway-host.ts";
import { createNatGatewayHosts } from "../../src/workers/nat-gateway-hosts.ts";

const gateway = (id: string, fields: Partial<Homeless> = {}): Homeless => ({
  id,
  nic_tag: null,
  barred: [],
  left_at: null,
  is_fenced: false,
  generation: 1,
  applied_generation: null,
  ...fields,
});

/** Opens a worker that reads two gateways per pass. Returns its pass and the gateways that got a node. */
function openWorker(gateways: () => readonly Homeless[]) {
  const placed: string[] = [];
  const { pass } = createNatGatewayHosts({
    unfit: () => Promise.resolve([]),
    homeless: (_fence_s, { rows_max, after }) =>
      Promise.resolve(gateways().filter(({ id }) => after === null || id > after).slice(0, rows_max)),
    candidates: () => Promise.resolve([{ server_uuid: "n", nic_tag: "external", gateways: 0 }]),
    floating: () => Promise.resolve([]),
    send: (id) => Promise.resolve(placed.push(id)),
    releaseAddresses: () => Promise.resolve(),
    ports: { report: (message, error) => expect.fail(`${message}: ${error}`) },
    rows_max: 2,
  });
  return { pass, placed };
}

test("gateways that no node can run do not keep later gateways from getting a node", async () => {
  const { pass, placed } = openWorker(() => [gateway("a"), gateway("b"), gateway("c", { nic_tag: "external" })]);
  await pass();
  await pass();
  expect(placed).toEqual(["c"]);
  // The next round begins with the first gateway again.
  for (let count = 0; count < 2; count++) await pass();
  expect(placed).toEqual(["c", "c"]);
});

test("the generation at which a gateway was first seen without a node is known in later rounds", async () => {
  let generation = 1;
  let applied_generation = 0;
  const leaving = (id: string) =>
    gateway(id, { nic_tag: "external", left_at: new Date(0), generation, applied_generation });
  const { pass, placed } = openWorker(() => [gateway("a"), gateway("b"), leaving("c")]);
  for (; generation < 8; generation++) await pass();
  expect(placed).toEqual([]);
  // The first round saw generation 2.
  applied_generation = 2;
  for (let count = 0; count < 2; count++) await pass();
  expect(placed).toEqual(["c"]);
});

test("a node that serves the VPC in another network gets a gateway only if no other node is eligible", async () => {
  const of = async (nodes: readonly string[]) => {
    const hosts: string[] = [];
    const { pass } = createNatGatewayHosts({
      unfit: () => Promise.resolve([]),
      homeless: () => Promise.resolve([gateway("a", { nic_tag: "external" })]),
      candidates: () =>
        Promise.resolve(nodes.map((server_uuid, gateways) => ({ server_uuid, nic_tag: "external", gateways }))),
      floating: () => Promise.resolve(["uses"]),
      send: (_id, { server_uuid }) => Promise.resolve(hosts.push(server_uuid)),
      releaseAddresses: () => Promise.resolve(),
      ports: { report: (message, error) => expect.fail(`${message}: ${error}`) },
    });
    await pass();
    return hosts;
  };
  expect(await of(["uses", "busy", "busier"])).toEqual(["busy"]);
  expect(await of(["uses"])).toEqual(["uses"]);
});
