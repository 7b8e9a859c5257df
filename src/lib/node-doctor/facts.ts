// The facts about a machine, from which its findings follow. src/services/node-diagnosis.ts gathers them.
import type { BootPolicy, BootRecord } from "../../contract/boot.ts";
import type { CnPlacementRules } from "../../contract/cn-placement.ts";
import type { CnView } from "../../contract/cn.ts";
import type { OperationSummary } from "../../contract/operation.ts";

/** Facts about one node and its site. */
export type NodeFacts = {
  readonly node: CnView;
  /** Null for a node without placement rules. */
  readonly placement: Pick<CnPlacementRules, "cordoned" | "cordoned_reason" | "reserved"> | null;
  /** Boot records of its network ports that no other node has, and records bound to it. */
  readonly records: readonly BootRecord[];
  /** Ports that sent the node's UUID in a netboot request and are not the node's. */
  readonly strange_ports: readonly string[];
  /** Announced MACs without a boot record. */
  readonly macs_without_record: readonly string[];
  readonly site: SiteFacts;
  /** Newest first. */
  readonly operations: readonly OperationSummary[];
  /** Why no disk layout fits a node that waits for setup; null if one fits, and for other nodes. */
  readonly layout_error: string | null;
  /** The time by the database's clock. */
  readonly now: Date;
};

/** Facts about the site that affect the netboot of every machine. */
export type SiteFacts = { readonly policy: BootPolicy; readonly staged: readonly string[] };
