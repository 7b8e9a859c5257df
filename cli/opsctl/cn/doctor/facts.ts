// Gathers the facts about one machine for the doctor.
import type { BootPolicy, BootRecord, StagedImage } from "../../../../src/contract/boot.ts";
import type { CnView } from "../../../../src/contract/cn.ts";
import type { OperationSummary } from "../../../../src/contract/operation.ts";
import type { LayoutProposal } from "../../../../src/contract/setup.ts";
import { macsOf } from "../../../../src/lib/net/sysinfo-macs.ts";
import type { Io } from "../../../internal/io.ts";
import { OPERATIONS_PATH } from "../../../internal/operation/text.ts";
import { STAGED_PATH } from "../../pi/list.ts";
import { readPolicy } from "../boot/policy/policy.ts";
import { RECORDS_PATH } from "../boot/record.ts";
import { proposalPath } from "../setup/plan.ts";

export type NodeFacts = {
  readonly node: CnView;
  /** Boot records of its network ports, and records bound to it. */
  readonly records: readonly BootRecord[];
  /** Announced MACs without a boot record. */
  readonly macs_without_record: readonly string[];
  readonly site: SiteFacts;
  /** Newest first. */
  readonly operations: readonly OperationSummary[];
  /** Null unless the node waits for setup. */
  readonly proposal: LayoutProposal | null;
  readonly now: Date;
};

/** Facts about the site that affect the netboot of every machine. */
export type SiteFacts = { readonly policy: BootPolicy; readonly staged: readonly string[] };

const OPERATIONS_READ = 20;

export async function nodeFacts(io: Io, node: CnView): Promise<NodeFacts> {
  const { server_uuid } = node;
  const macs = macsOf(node.sysinfo);
  const [all, site, operations, proposal] = await Promise.all([
    io.all<BootRecord>(RECORDS_PATH),
    siteFacts(io),
    io.get<OperationSummary[]>(OPERATIONS_PATH, {
      resource_scope: "cn",
      resource_id: server_uuid,
      limit: OPERATIONS_READ,
    }),
    node.state === "awaiting_setup" ? io.get<LayoutProposal>(proposalPath(server_uuid)) : null,
  ]);
  const known = new Set(all.map(({ mac }) => mac));
  return {
    node,
    records: all.filter((record) => record.server_uuid === server_uuid || isUnboundPort(record, macs)),
    macs_without_record: macs.filter((mac) => !known.has(mac)),
    site,
    operations,
    proposal,
    now: new Date(),
  };
}

export async function siteFacts(io: Io): Promise<SiteFacts> {
  const [{ policy }, staged] = await Promise.all([readPolicy(io), io.all<StagedImage>(STAGED_PATH)]);
  return { policy, staged: staged.map(({ stamp }) => stamp) };
}

function isUnboundPort(record: BootRecord, macs: readonly string[]): boolean {
  return record.server_uuid === null && macs.includes(record.mac);
}
