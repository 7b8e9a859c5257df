// Simulates the networks of a machine: accepts every document, and no packet passes.
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { tapName } from "./names.ts";
import type { NetworkDriver } from "./network-driver.ts";

export function simulatedNetwork(): NetworkDriver {
  const routers = new Map<number, string>();
  return {
    carries_packets: false,
    apply: (document: NetworkDocument) => {
      const text = JSON.stringify(document);
      const is_new = routers.get(document.vni) !== text;
      routers.set(document.vni, text);
      return Promise.resolve({ changes: is_new ? 1 : 0, ruleset_replaced: is_new });
    },
    holdGateways: () => Promise.resolve(),
    removeTap: () => Promise.resolve(),
    tapBytes: () => Promise.resolve(new Map()),
    ruleCounts: () => Promise.resolve([]),
    // Every NIC of the applied document counts as if its tap were in the router.
    inspect: ({ vni }) => {
      const applied = routers.get(vni);
      if (applied === undefined) return Promise.resolve(null);
      const { local_nics } = JSON.parse(applied) as NetworkDocument;
      return Promise.resolve({ taps: new Set(local_nics.map(({ mac }) => tapName(mac))), differences: 0 });
    },
    keepOnly: (vnis) => {
      const removed = [...routers.keys()].filter((vni) => !vnis.has(vni));
      for (const vni of removed) routers.delete(vni);
      return Promise.resolve(removed);
    },
    acceptSenders: () => Promise.resolve(),
  };
}
