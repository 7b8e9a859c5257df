// Defines the facts about a machine, from which its findings follow. src/services/node-diagnosis.ts gathers them.
import type { BootPolicy, BootRecord } from "../../contract/boot.ts";
import type { CnPlacementRules } from "../../contract/cn-placement.ts";
import type { CnView } from "../../contract/cn.ts";
import type { OperationSummary } from "../../contract/operation.ts";

/** Facts about one node and its site. */
export type NodeFacts = {
  readonly node: CnView;
  /** Null for a node without placement rules. */
  readonly placement: Pick<CnPlacementRules, "cordoned" | "cordoned_reason" | "reserved"> | null;
  /**
   * The boot records that are bound to the node, and the boot records of its network ports that are bound to no other
   * node.
   */
  readonly records: readonly BootRecord[];
  /** Ports that sent the node's UUID in a netboot request and do not belong to the node. */
  readonly strange_ports: readonly string[];
  /** Announced MACs without a boot record. */
  readonly macs_without_record: readonly string[];
  readonly site: SiteFacts;
  /** The node's newest operations, newest first. */
  readonly operations: readonly OperationSummary[];
  /** For a node that waits for setup: why no disk layout fits; null if a layout fits. Null for all other nodes. */
  readonly layout_error: string | null;
  /** The time by the database's clock. */
  readonly now: Date;
};

/** Facts about the site that affect the netboot of every machine. */
export type SiteFacts = { readonly policy: BootPolicy; readonly staged: readonly string[] };
