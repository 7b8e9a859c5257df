// Opens a node's network with a driver that does not change the kernel. The tests check how a node handles network
// documents.
import { afterEach, beforeEach } from "vitest";
import { openDocumentStore } from "../../../nodeagent/network/document-store.ts";
import type { NetworkDriver } from "../../../nodeagent/network/network-driver.ts";
import {
  createNodeNetwork,
  type NodeNetwork,
  type NodeNetworkOptions,
} from "../../../nodeagent/network/node-network.ts";
import { simulatedNetwork } from "../../../nodeagent/network/simulated.ts";
import { machine, type TestVpc } from "../../networks/documents.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary-folder.ts";

export const A: TestVpc = {
  vni: 4_096,
  machines: [machine("a1", "n1", { net: 1, host: 5, vpc: "a" })],
  rules: [],
  edge: null,
  routes: [],
};
export const NIC = { id: "a1", mac: A.machines[0]!.mac, vpc_id: "vpc-4096" };
/** Time limits of a wait that succeeds and of a wait that fails. No wait depends on the speed of the machine. */
export const [NEVER_MS, SOON_MS] = [3_600_000, 20] as const;
export const SIGNAL = new AbortController().signal;

/** Returns a driver that reports that it carries packets. Its `apply` throws `trouble.why` unless `why` is null. */
export function driverWith(trouble: { why: string | null }): NetworkDriver & { readonly applied: string[] } {
  const applied: string[] = [];
  const inner = simulatedNetwork();
  return {
    ...inner,
    carries_packets: true,
    applied,
    apply: async (document, taps) => {
      if (trouble.why !== null) throw new Error(trouble.why);
      applied.push(`${document.vpc_id} ${document.generation} ${[...taps?.values() ?? []].join(" ")}`.trim());
      return await inner.apply(document, taps);
    },
  };
}

/** Returns a function that opens the node's network. Each test has its own folder. */
export function useNodeNetwork() {
  let folder: TemporaryFolder;
  let log: string[];
  beforeEach(async () => {
    folder = await temporaryFolder("network");
    log = [];
  });
  afterEach(() => folder.remove());

  async function open(
    driver: NetworkDriver = driverWith({ why: null }),
    limit_ms = 1_000,
    options: Partial<NodeNetworkOptions> = {},
  ): Promise<NodeNetwork> {
    const write = (line: string) => void log.push(line);
    const limits = { wait_limit_ms: limit_ms, release_limit_ms: limit_ms };
    const store = await openDocumentStore(folder.path, write);
    return createNodeNetwork({ driver, store, log: write, ...limits, ...options });
  }

  return { open, folder: () => folder.path, log: () => log };
}
