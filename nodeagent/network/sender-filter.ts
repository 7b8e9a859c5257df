// Keeps the filter of the underlay up to date. The filter accepts packets of VPCs only from the nodes that the stored
// documents and the list of nodes name.
import { createOneAtATime } from "../one-at-a-time.ts";
import type { DocumentStore } from "./document-store.ts";
import type { NetworkDriver } from "./network-driver.ts";

export type SenderFilter = {
  /**
   * Sets the filter if it differs from the filter that this process set last. Does nothing before the first list of
   * nodes.
   * @param nodes underlay addresses of all nodes that share a VPC with this node
   */
  set(nodes?: readonly string[] | null): Promise<void>;
  /** Makes the next `set` write the filter in any case, because the filter in the kernel may have changed. */
  forget(): void;
};

export function createSenderFilter(driver: Pick<NetworkDriver, "acceptSenders">, store: DocumentStore): SenderFilter {
  const serialized = createOneAtATime();
  /** The senders that this process set last, as JSON; null if the filter is unknown. */
  let last: string | null = null;
  return {
    set: (nodes = store.nodes()) =>
      serialized("filter", async () => {
        if (nodes === null) return;
        const vpcs = store.all().flatMap(({ vni, peers }) => peers === undefined ? [] : [{ vni, peers }]);
        const wanted = JSON.stringify({ nodes, vpcs });
        if (wanted === last) return;
        last = null;
        await driver.acceptSenders({ nodes, vpcs });
        last = wanted;
      }),
    forget: () => void (last = null),
  };
}
