// Sends real packets through a NAT gateway whose address is in an external subnet. The control plane allocates the
// address, chooses the node and makes the network documents; the nodes apply them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NatGateway } from "../../src/contract/network.ts";
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { type NetworkFixture, type NetworkNode, openNetworkFixture } from "../network/network-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import { lacking } from "../support/optional-programs.ts";
import { INTERNET_HOST, type NodeName, NODES } from "./documents.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "arping", "python3", "nc");

/** An external subnet whose router does not have the first address of the block. */
const EXTERNAL = {
  name: "isp",
  nic_tag: "external",
  vlan_id: null,
  ipv4_block: "198.18.5.0/24",
  gateway_ipv4: "198.18.5.254",
  provision_start_ipv4: "198.18.5.20",
  provision_end_ipv4: "198.18.5.29",
};
const PORT = 8_000;

describe.skipIf(missing !== null)("a NAT gateway with an address of an external subnet", () => {
  let f: NetworkFixture;
  let site: NetworkSite;
  let gateway: NatGateway;

  beforeAll(async () => {
    [f, site] = await Promise.all([openNetworkFixture(), openNetworkSite()]);
    await site.run(["ip", "-n", "inet", "addr", "add", `${EXTERNAL.gateway_ipv4}/24`, "dev", "eth0"]);
    await site.serve("inet", PORT, "internet");
    okOf(await f.t.call("POST", "/v1/system/nic-tags", { body: { name: "external", mtu: 1_500 } }));
    const { id: network_id } = okOf(await f.t.call("POST", "/v1/system/external-subnets", { body: EXTERNAL }));
    okOf(await f.t.call("POST", `/v1/cns/${f.two.server_uuid}/role`, { body: { role: "edge" } }));
    const nic_tags = [{ name: "external", physical_nic: "eth1", vlan_id: null, mtu: 1_500, bridge: "ext" }];
    okOf(await f.two.call("POST", "/v1/agent/nic-tags", { nic_tags }));
    await f.two.alive();
    const body = { name: "out", network_id };
    gateway = okOf(await f.call("POST", `/v1/nat-gateways?vpc=${f.vpc.id}`, { body }));
    const target = { kind: "nat_gateway", nat_gateway_id: gateway.id };
    await f.n.route(f.vpc.main_route_table_id, { destination: "0.0.0.0/0", target });
  }, 120_000);
  afterAll(async () => {
    await site?.close();
    await f?.t.close();
  });

  /** Applies the node's document, and connects a machine to each of its NICs. */
  async function apply(name: NodeName, node: NetworkNode): Promise<NetworkDocument> {
    expect(node.underlay_address).toBe(NODES[name]);
    const document = (await f.poll(node)).vpcs[0]!;
    await site.driver(name).apply(document);
    for (const nic of document.local_nics) await site.plug(name, document, nic);
    await site.driver(name).apply(document);
    return document;
  }

  test("translates packets from guests of both nodes to its address, and the guests get the answers", async () => {
    expect(gateway.public_address).toBe("198.18.5.20");
    const host = async () => okOf(await f.call("GET", `/v1/nat-gateways/${gateway.id}`)).host_cn_uuid;
    await expect.poll(host).toBe(f.two.server_uuid);
    const [there, here] = [await apply("n1", f.one), await apply("n2", f.two)];
    expect([there.external, here.external]).toEqual([
      null,
      { bridge: "ext", vlan_id: null, mtu: 1_500, gateway_ipv4: EXTERNAL.gateway_ipv4, gateway_ipv6: null },
    ]);
    for (const { nic } of [f.web, f.db]) {
      const { out } = await site.inMachine(nic.id, "nc", "-w", "2", INTERNET_HOST.ipv4, String(PORT));
      expect(out.trim()).toBe("internet 198.18.5.20");
    }
  });
});
