// Tests the network commands of the compiled agent with a router in the kernel. The test takes the commands from the
// guide for operators. Also tests that an agent completes a router if the earlier agent was killed while it applied the
// document.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { documentsFolder, openDocumentStore } from "../../nodeagent/network/document-store.ts";
import { kernelNetwork } from "../../nodeagent/network/kernel.ts";
import { ROUTER_PREFIX } from "../../nodeagent/network/names.ts";
import type { NetworkDriver } from "../../nodeagent/network/network-driver.ts";
import { underlayAddress } from "../../nodeagent/network/underlay-address.ts";
import { blocksOf, missingLine } from "../guides/guide.ts";
import { ROOT } from "../guides/run.ts";
import { buildExecutables, executable } from "../processes/executables.ts";
import { lacking } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { documentOf, machine, NODES, rule, type TestVpc } from "./documents.ts";
import { BUILD_LIMIT_MS, type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "python3", "bash");
const GUIDE = "networks";
/** To save time, the agent is killed only at every third command that applies the document. */
const STRIDE = 3;

const machines = [
  machine("a1", "n1", { net: 1, host: 5, vpc: "a" }),
  machine("a4", "n1", { net: 2, host: 6, vpc: "a" }),
];
const A: TestVpc = {
  vni: 4_096,
  machines,
  rules: [rule({ rule_id: "r1", direction: "inbound", action: "allow", protocol: "tcp" })],
  edge: "n1",
  routes: [],
};
const DOCUMENT = documentOf(A, "n1");

describe.skipIf(missing !== null)("a router in the kernel", () => {
  let site: NetworkSite;
  let folder: TemporaryFolder;
  let driver: NetworkDriver;

  beforeAll(async () => {
    await buildExecutables(["nodeagent"]);
    site = await openNetworkSite();
    folder = await temporaryFolder("inspection");
    await (await openDocumentStore(documentsFolder(folder.path), () => {})).put(DOCUMENT);
    await underlayAddress({ given: NODES.n1, local: null, state_dir: folder.path });
    for (const words of [["set", "lo", "up"], ["add", "ext", "type", "bridge"]]) {
      await site.run(["ip", "link", ...words]);
    }
    await site.run(["ip", "addr", "add", `${NODES.n1}/32`, "dev", "lo"]);
  }, BUILD_LIMIT_MS);
  beforeEach(() => {
    driver = open();
  });
  afterAll(async () => {
    await site?.close();
    await folder?.remove();
  });

  const open = (run = site.run) =>
    kernelNetwork({ host_namespace: null, prefix: ROUTER_PREFIX, underlay_address: NODES.n1 }, run);
  const agent = (...words: readonly string[]) =>
    site.attempt([executable("nodeagent"), "network", ...words, "--state-dir", folder.path]);

  test("if an agent is killed while it applies a document, the next agent completes the router", async () => {
    let commands = 0;
    let limit = Infinity;
    const killed = () =>
      open((argv, input) => {
        if (commands >= limit) throw new Error("killed");
        commands += 1;
        return site.run(argv, input);
      });
    await killed().apply(DOCUMENT);
    const all = commands;
    expect(all).toBeGreaterThan(12);
    for (let step = 0; step < all; step += STRIDE) {
      [commands, limit] = [0, step];
      await driver.keepOnly(new Set());
      await expect(killed().apply(DOCUMENT), `command ${step}`).rejects.toThrow("killed");
      const next = open();
      await next.apply(DOCUMENT);
      expect(await next.apply(DOCUMENT), `after command ${step}`).toEqual({ changes: 0, ruleset_replaced: false });
    }
    expect((await agent("check")).out).toBe("VPC vpc-4096: matches its document\n");
  }, 120_000);

  test("an agent sets the sysctls of the external device in its first comparison, even after an inspection", async () => {
    const name = "net.ipv4.icmp_errors_use_inbound_ifaddr";
    const inRouter = (...words: readonly string[]) =>
      site.run(["ip", "netns", "exec", "berth-4096", "sysctl", ...words]);
    await driver.apply(DOCUMENT);
    await inRouter("-qw", `${name}=0`);
    const next = open();
    await next.inspect(DOCUMENT);
    await next.ruleCounts(A.vni);
    await next.apply(DOCUMENT);
    expect(await inRouter("-n", name)).toBe("1\n");
  });

  test("the commands of the guide for operators work", async () => {
    await driver.apply(DOCUMENT);
    for (const each of machines) await site.plug("berth", DOCUMENT, each);
    await driver.apply(DOCUMENT);
    const text = await readFile(join(ROOT, `docs/guides/${GUIDE}.md`), "utf8");
    const blocks = blocksOf(text);
    expect(blocks).toHaveLength(2);
    for (const { script, shown } of blocks) {
      const words = script.replaceAll("nodeagent network", `${executable("nodeagent")} network`)
        .replaceAll("/var/lib/berth-nodeagent", folder.path);
      const { code, out, err } = await site.attempt(["bash", "-euc", words]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(missingLine(shown ?? [], out)).toBeNull();
    }
  });

  test("the counter of a rule counts the connections that the rule decided about", async () => {
    await site.serve("vm-a4", 7_000, "hello");
    await site.inMachine("a1", "nc", "-w", "1", "10.0.2.6", "7000");
    expect((await agent("show")).out).toMatch(/^ {2}rule r1: 1 packets, \d+ bytes$/m);
  });

  test("the counter of a rule survives a change of the rules and a restart of the agent", async () => {
    const rules = async () => (await driver.ruleCounts(A.vni)).filter(({ rule_id }) => rule_id.startsWith("r"));
    const before = await rules();
    expect(before).toEqual([{ rule_id: "r1", packets: 1, bytes: expect.any(Number) }]);
    const more = rule({ rule_id: "r2", direction: "outbound", action: "deny", protocol: "udp" });
    await driver.apply({ ...DOCUMENT, firewall_rules: [...DOCUMENT.firewall_rules, more] });
    const none = { rule_id: "r2", packets: 0, bytes: 0 };
    expect(await open().ruleCounts(A.vni)).toEqual(expect.arrayContaining([...before, none]));
    expect(await driver.apply(DOCUMENT)).toMatchObject({ ruleset_replaced: true });
    expect(await driver.apply(DOCUMENT), "counters are not compared").toMatchObject({ ruleset_replaced: false });
    expect(await rules()).toEqual(before);
  });

  test("a check prints the differences and fails", async () => {
    await site.run(["ip", "-n", "berth-4096", "route", "del", "10.0.1.5"]);
    await site.run(["ip", "netns", "exec", "berth-4096", "nft", "flush", "chain", "inet", "berth", "rules_in"]);
    const { code, out } = await agent("check");
    expect(code).toBe(1);
    expect(out).toContain("  route replace 10.0.1.5 dev t020000010a05 scope link table 254 proto static\n");
    expect(out).toContain("  the firewall differs from the document\n");
  });
});
