// Applies documents with the limits that the systemd unit of the packaged agent sets for the agent and its programs.
// guests.test.ts tests the guests' services with the same limits.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type KernelNetwork, kernelNetwork } from "../../nodeagent/network/kernel.ts";
import { AS_AGENT_SERVICE } from "../release/agent-unit.ts";
import { lacking } from "../support/optional-programs.ts";
import { documentOf, machine, NODES, type TestVpc } from "./documents.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "setpriv", "conntrack", "arping", "python3");

const FLOATING = "203.0.113.7";
const a1 = { ...machine("a1", "n1", { net: 1, host: 5, vpc: "a" }), floating_ips: [FLOATING] };
const VPC: TestVpc = { vni: 4_096, machines: [a1], rules: [], edge: null, routes: [] };
const OLD_MAC = "02:00:00:00:00:99";

describe.skipIf(missing !== null)("with the limits of its unit, the agent", () => {
  let site: NetworkSite;
  let driver: KernelNetwork;

  beforeAll(async () => {
    site = await openNetworkSite();
    driver = kernelNetwork(
      { host_namespace: "n1", prefix: "n1-", underlay_address: NODES.n1 },
      (argv, input) => site.run([...AS_AGENT_SERVICE, ...argv], input),
    );
  });
  afterAll(() => site?.close());

  test("creates a router, and announces its floating IP to the external network", async () => {
    const router = ["neigh", "replace", FLOATING, "lladdr", OLD_MAC, "dev", "eth0", "nud", "stale"];
    await site.onInternet("ip", ...router);
    const macOf = async () => (await site.onInternet("ip", "neigh", "show", FLOATING)).out.split(" ")[4];
    expect(await macOf()).toBe(OLD_MAC);
    await driver.acceptSenders({ nodes: [NODES.n2], vpcs: [{ vni: VPC.vni, peers: [NODES.n2] }] });
    await driver.apply(documentOf(VPC, "n1"));
    await site.plug("n1", documentOf(VPC, "n1"), a1);
    await driver.apply(documentOf(VPC, "n1"));
    expect(await driver.inspect(documentOf(VPC, "n1"))).toMatchObject({ differences: 0 });
    const link = JSON.parse(await site.run(["ip", "-n", `n1-${VPC.vni}`, "-j", "link", "show", "dev", "xt"]));
    await vi.waitFor(async () => expect(await macOf()).toBe(link[0].address));
  });

  test("removes the router", async () => {
    expect(await driver.keepOnly(new Set())).toEqual([VPC.vni]);
  });
});
