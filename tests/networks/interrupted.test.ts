// Ends the driver at every step of the creation of a router. The next driver, which knows nothing of the first driver,
// must make the router equal to a router whose creation was not interrupted.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { kernelNetwork } from "../../nodeagent/network/kernel.ts";
import type { Run } from "../../nodeagent/network/run.ts";
import { lacking } from "../support/optional-programs.ts";
import { documentOf, machine, NODES, type TestVpc } from "./documents.ts";
import { BUILD_LIMIT_MS, type NetworkSite, openNetworkSite } from "./site.ts";

const missing = lacking("ip", "nft", "unshare", "nsenter", "conntrack", "arping");

const VPC: TestVpc = {
  vni: 4_096,
  machines: [machine("a2", "n2", { net: 1, host: 6, vpc: "a" })],
  rules: [],
  edge: "n1",
  routes: [],
};
const ROUTER = "n1-4096";
const DOCUMENT = documentOf(VPC, "n1");

describe.skipIf(missing !== null)("a router whose creation was interrupted", () => {
  let site: NetworkSite;
  beforeAll(async () => void (site = await openNetworkSite()), BUILD_LIMIT_MS);
  afterAll(() => site?.close());
  afterEach(async () => void await site.driver("n1").keepOnly(new Set()));

  /** Runs programs until this number of steps is done. Each program and each line of a batch is a step. */
  function ending(steps: number): { readonly run: Run; ended(): boolean } {
    let [left, ended] = [steps, false];
    const run: Run = async (argv, input) => {
      const lines = argv.includes("-batch") ? (input ?? "").trimEnd().split("\n") : null;
      const wanted = lines?.length ?? 1;
      const done = Math.min(wanted, left);
      left -= done;
      ended ||= done < wanted;
      if (!ended) return await site.run(argv, input);
      if (lines !== null && done > 0) await site.run(argv, `${lines.slice(0, done).join("\n")}\n`);
      throw new Error("the agent was killed");
    };
    return { run, ended: () => ended };
  }

  const inRouter = (...argv: readonly string[]) => site.run(["ip", "netns", "exec", ROUTER, ...argv]);

  /** Returns the router's devices, settings, addresses, rules, routes and ruleset, without random values. */
  async function stateOfRouter() {
    const links = JSON.parse(await inRouter("ip", "-j", "-d", "link")) as Record<string, unknown>[];
    return {
      links: links.map(({ ifname, mtu, flags, inet6_addr_gen_mode }) => ({ ifname, mtu, flags, inet6_addr_gen_mode })),
      addresses: (await inRouter("ip", "-br", "addr")).split("\n").map((line) =>
        // The MAC address of the external device is random, and so is its link-local address.
        line.startsWith("xt@") ? line.replace(/@\S+ */, "").replace(/fe80\S+/, "") : line
      ),
      sysctls: (await inRouter("sh", "-c", "cd /proc/sys/net; grep -rs '' ipv4/conf ipv6/conf; true")).split("\n"),
      rules: [await inRouter("ip", "-4", "rule"), await inRouter("ip", "-6", "rule")],
      routes: (await inRouter("ip", "-4", "route", "show", "table", "all")).split("\n").sort(),
      ruleset: await inRouter("nft", "-s", "list", "ruleset"),
    };
  }

  test("equals an uninterrupted router after the next application", async () => {
    await site.driver("n1").apply(DOCUMENT);
    const whole = await stateOfRouter();
    await site.driver("n1").keepOnly(new Set());
    const place = { host_namespace: "n1", prefix: "n1-", underlay_address: NODES.n1 };
    let steps = 1;
    for (;; steps++) {
      const { run, ended } = ending(steps);
      await kernelNetwork(place, run).apply(DOCUMENT).catch(() => {});
      if (!ended()) break;
      await site.driver("n1").apply(DOCUMENT);
      expect.soft(await stateOfRouter(), `after ${steps} steps`).toEqual(whole);
      await site.driver("n1").keepOnly(new Set());
    }
    expect(steps).toBeGreaterThan(20);
  }, 300_000);
});
