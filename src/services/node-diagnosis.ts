// Gathers the facts about one machine and evaluates them (src/lib/node-doctor). All times are by the database's clock.
import { type Kysely, sql } from "kysely";
import { findBootClients, listBootRecordsOf, listStrangePorts } from "../../actors/boot-record/reads.ts";
import type { BootRecordState } from "../../actors/boot-record/state.ts";
import { bootRecordView } from "../../actors/boot-record/view.ts";
import { findPolicy } from "../../actors/boot-policy/reads.ts";
import { findAnnounced, findCn, findCnSettings } from "../../actors/cn/reads.ts";
import { cnView } from "../../actors/cn/view.ts";
import { listOperations } from "../../actors/saga/reads.ts";
import { listStaged } from "../../actors/staging/reads.ts";
import type { BootRecord } from "../contract/boot.ts";
import type { CnView } from "../contract/cn.ts";
import type { BootDiagnosis, CnDiagnosis, Finding } from "../contract/node-diagnosis.ts";
import type { Database } from "../db/tables.ts";
import { disksOf } from "../lib/disk-layout/disks.ts";
import { layoutProposal } from "../lib/disk-layout/proposal.ts";
import { macsOf } from "../lib/net/sysinfo-macs.ts";
import type { NodeFacts, SiteFacts } from "../lib/node-doctor/facts.ts";
import { machineFindings } from "../lib/node-doctor/boot-findings.ts";
import { nodeFindings } from "../lib/node-doctor/node-findings.ts";

type Db = Kysely<Database>;

/**
 * How many of the node's newest operations are checked. Older operations that are stuck appear only in the list of
 * operations.
 */
const OPERATIONS_READ = 20;

/** The maximum number of other machines' ports that a finding names. */
const STRANGE_PORTS_MAX = 4;

/** Returns whether a node can run new instances, and the findings about it; null for an unknown node. */
export async function diagnoseNode(db: Db, server_uuid: string): Promise<CnDiagnosis | null> {
  const row = (await findCn.many(db, [server_uuid])).get(server_uuid);
  if (row === undefined) return null;
  const node = cnView(row);
  const findings = nodeFindings(await nodeFacts(db, node));
  const { hostname, state } = node;
  return { server_uuid, hostname, state, usable: isUsable(findings), findings };
}

/**
 * Returns the findings about the machine of a boot record. If the record is bound to a node, these are the findings of
 * the node's diagnosis. Otherwise they say why the machine is not usable.
 */
export async function diagnoseRecord(db: Db, record: BootRecord): Promise<BootDiagnosis> {
  const { mac, state, server_uuid } = record;
  const node = server_uuid === null ? null : await diagnoseNode(db, server_uuid);
  if (node !== null) return { mac, state, server_uuid, usable: node.usable, findings: node.findings };
  const [site, clients] = await Promise.all([siteFacts(db), findBootClients(db, [mac])]);
  const findings = machineFindings(record, site, clients.get(mac) ?? null);
  return { mac, state, server_uuid, usable: false, findings };
}

function isUsable(findings: readonly Finding[]): boolean {
  return findings.every(({ level }) => level !== "stops");
}

async function nodeFacts(db: Db, node: CnView): Promise<NodeFacts> {
  const { server_uuid } = node;
  const macs = macsOf(node.sysinfo);
  const [rows, strange_ports, site, operations, announced, settings, clock] = await Promise.all([
    listBootRecordsOf(db, { server_uuid, macs }),
    // Before the machine has announced its ports, its own ports are unknown, so no port counts as strange.
    macs.length === 0 ? [] : listStrangePorts(db, { server_uuid, macs, rows: STRANGE_PORTS_MAX }),
    siteFacts(db),
    listOperations(db, { rows: OPERATIONS_READ, reference: { scope: "cn", id: server_uuid } }),
    findAnnounced(db, server_uuid),
    findCnSettings(db, server_uuid),
    sql<{ now: Date }>`select berth_now() as now`.execute(db),
  ]);
  const known = new Set(rows.map(({ mac }) => mac));
  const proposal = node.state === "awaiting_setup" ? layoutProposal(disksOf(announced)) : null;
  return {
    node,
    placement: settings?.placement ?? null,
    // A record that is bound to another node is not this node's record.
    records: rows.filter((row) => row.server_uuid === null || row.server_uuid === server_uuid)
      .map((row) => bootRecordView(row as BootRecordState)),
    strange_ports,
    macs_without_record: macs.filter((mac) => !known.has(mac)),
    site,
    operations,
    layout_error: proposal?.error ?? null,
    now: clock.rows[0]!.now,
  };
}

async function siteFacts(db: Db): Promise<SiteFacts> {
  const [{ policy }, staged] = await Promise.all([findPolicy(db), listStaged(db)]);
  return { policy, staged: staged.map(({ stamp }) => stamp) };
}
