// Tests that a router answers only a limited number of echo requests of a guest.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KernelNetwork } from "../../nodeagent/network/kernel.ts";
import { GATEWAY_MAC } from "../../nodeagent/network/names.ts";
import { ECHO_PER_SECOND } from "../../nodeagent/network/ruleset.ts";
import { lacking } from "../support/optional-programs.ts";
import { documentOf, machine, type TestVpc } from "./documents.ts";
import { sender } from "./frames.ts";
import { type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "python3");

const a1 = machine("a1", "n1", { net: 1, host: 5, vpc: "a" });
const VPC: TestVpc = { vni: 4_096, machines: [a1], rules: [], edge: null, routes: [] };
/** `sender` sends its frames so often. The limit counts only the first frame of each identifier. */
const TIMES = 3;
const REQUESTS = TIMES * 1_000;
/** The number of answers that the router sends before nft limits the rate: the default burst of nft. */
const BURST = 5;

describe.skipIf(missing !== null)("a guest that floods its router with echo requests", () => {
  let site: NetworkSite;
  let driver: KernelNetwork;

  beforeAll(async () => {
    site = await openNetworkSite();
    driver = site.driver("n1");
    await driver.apply(documentOf(VPC, "n1"));
    await site.plug("n1", documentOf(VPC, "n1"), a1);
    await driver.apply(documentOf(VPC, "n1"));
  });
  afterAll(() => site?.close());

  /** Returns the number of echo replies that the router has sent. */
  async function replies(family: 4 | 6): Promise<number> {
    const read = (file: string) => site.run(["ip", "netns", "exec", "n1-4096", "cat", `/proc/net/${file}`]);
    if (family === 6) return Number(/Icmp6OutEchoReplies\s+(\d+)/.exec(await read("snmp6"))![1]);
    const [names, values] = (await read("snmp")).split("\n").filter((line) => line.startsWith("Icmp: "));
    return Number(values!.split(" ")[names!.split(" ").indexOf("OutEchoReps")]);
  }

  // Each request has its own identifier, so that each request is the first packet of a connection.
  const PING = {
    4: `for n in range(${REQUESTS / TIMES}):
          body = b"\\x08\\0\\0\\0" + struct.pack("!HH", n, 1)
          body = body[:2] + struct.pack("!H", checksum(body)) + body[4:]
          send(router, me, 0x800, ip("${a1.ipv4}", "10.0.1.1", 1, body))`,
    6: `for n in range(${REQUESTS / TIMES}):
          body = b"\\x80\\0\\0\\0" + struct.pack("!HH", n, 1)
          pseudo = v6("${a1.ipv6}") + v6("fe80::1") + struct.pack("!IHBB", len(body), 0, 0, 58)
          body = body[:2] + struct.pack("!H", checksum(pseudo + body)) + body[4:]
          send(router, me, 0x86dd, ip6("${a1.ipv6}", "fe80::1", 58, body))`,
  };

  test.each([4, 6] as const)("gets at most the limited number of answers by IPv%s", async (family) => {
    const statements = PING[family].split("\n").map((line) => line.trim()).join("; ").replace(":; ", ": ");
    const [before, begun_ms] = [await replies(family), performance.now()];
    const sent = await site.inMachine("a1", "python3", "-c", sender(a1, GATEWAY_MAC, statements));
    expect(sent.err).toBe("");
    const answered = await replies(family) - before;
    const seconds = (performance.now() - begun_ms) / 1_000;
    expect(answered).toBeGreaterThan(0);
    expect(answered).toBeLessThanOrEqual(TIMES * (ECHO_PER_SECOND * seconds + BURST));
    expect(answered).toBeLessThan(REQUESTS / TIMES);
  });
});
