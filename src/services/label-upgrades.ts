// Plans an upgrade by label from the last committed state, and builds the messages that begin the upgrade and the drain
// of one node.
import { type Kysely, sql } from "kysely";
import { listCns } from "../../actors/cn/reads.ts";
import type { CnMessage, UpgradedRecord } from "../../actors/cn/messages.ts";
import { badRequest, conflict, type Fault, isFault } from "../contract/fault.ts";
import type { LabelUpgradeStarted } from "../contract/label-upgrade.ts";
import type { LabelFilter } from "../contract/labels.ts";
import { LABEL_DRAIN_NODES_MAX } from "../contract/limits.ts";
import type { DrainPreview } from "../contract/placement.ts";
import type { Database } from "../db/tables.ts";
import { previewDrain } from "../lib/placement/drain.ts";
import { DRAIN } from "../lib/placement/node-filters.ts";
import type { Booted } from "../lib/placement/upgrade-progress.ts";
import type { RouteDeps } from "../routes/deps.ts";
import { pause, previewOf } from "./drains.ts";
import { bridgesIn, findCapacity, hostedInstances, placementSnapshot } from "./placement-snapshot.ts";

type Db = Kysely<Database>;
type Deps = Pick<RouteDeps, "kysely" | "byKey" | "settings">;

const TOO_MANY = badRequest(
  `label: more than ${LABEL_DRAIN_NODES_MAX} nodes have the label; name a label of fewer nodes`,
);

/** Reads the boot id and the platform image from the last status reports of nodes. */
export async function bootsOf(db: Db, nodes: readonly string[]): Promise<ReadonlyMap<string, Booted>> {
  const { rows } = await sql<Booted & { server_uuid: string }>`
    select server_uuid, last_status->>'boot_id' as boot_id, last_status->>'platform_image' as platform_image
      from cn_signal where server_uuid = any(${nodes}::uuid[])`.execute(db);
  return new Map(rows.map(({ server_uuid, ...booted }) => [server_uuid, booted]));
}

/** Reads the enrolled boot records of nodes, by node. Leaves out records without an assigned image. */
async function recordsOf(db: Db, nodes: readonly string[]): Promise<ReadonlyMap<string, readonly UpgradedRecord[]>> {
  if (nodes.length === 0) return new Map();
  const rows = await db.selectFrom("boot_record").select(["server_uuid", "mac", "assigned_pi"])
    .where("server_uuid", "in", nodes).where("state", "=", "enrolled").orderBy("mac").execute();
  const of = new Map<string, UpgradedRecord[]>();
  for (const { server_uuid, mac, assigned_pi } of rows) {
    if (server_uuid === null || assigned_pi === null) continue;
    of.set(server_uuid, [...of.get(server_uuid) ?? [], { mac, assigned_pi }]);
  }
  return of;
}

/**
 * Plans the upgrades of the nodes with the label, in the order of their hostnames. Lists separately the nodes that are
 * up to date, are not approved or cannot be upgraded. A node that runs the image still needs the upgrade if a drain
 * left it cordoned, or if its boot record has another image.
 */
export async function labelUpgradePlan(
  deps: Deps,
  label: LabelFilter,
  platform_image: string,
): Promise<LabelUpgradeStarted | Fault> {
  const { kysely } = deps;
  const found = await listCns(kysely, { labels: label, rows: LABEL_DRAIN_NODES_MAX + 1 }, false);
  if (found.length > LABEL_DRAIN_NODES_MAX) return TOO_MANY;
  const sorted = found.sort((a, b) => `${a.hostname} ${a.server_uuid}` < `${b.hostname} ${b.server_uuid}` ? -1 : 1);
  const approved = sorted.filter(({ state }) => state === "approved");
  const ids = approved.map(({ server_uuid }) => server_uuid);
  const [boots, records] = await Promise.all([bootsOf(kysely, ids), recordsOf(kysely, ids)]);
  const sorts = approved.map(({ server_uuid, hostname, placement }) => {
    const image = boots.get(server_uuid)?.platform_image ?? null;
    const own = records.get(server_uuid) ?? [];
    const { cordoned, cordoned_reason } = placement;
    const is_left_cordoned = cordoned && cordoned_reason === DRAIN;
    const is_current = image === platform_image && own.every(({ assigned_pi }) => assigned_pi === platform_image) &&
      !is_left_cordoned;
    return {
      server_uuid,
      hostname,
      image,
      is_current,
      problem: is_current ? null : problemOf(boots.get(server_uuid), own),
    };
  });
  const fit = sorts.filter(({ is_current, problem }) => !is_current && problem === null);
  const previews = await previewsOf(deps, fit.map(({ server_uuid }) => server_uuid));
  return {
    nodes: fit.map(({ server_uuid, hostname, image }, index) => ({
      server_uuid,
      hostname,
      platform_image: image,
      preview: previews[index]!,
      operation_id: null,
    })),
    current: sorts.filter(({ is_current }) => is_current).map(({ server_uuid, hostname }) => ({
      server_uuid,
      hostname,
    })),
    skipped: sorted.filter(({ state }) => state !== "approved").map(({ server_uuid, hostname, state }) => ({
      server_uuid,
      hostname,
      state,
    })),
    unfit: sorts.flatMap(({ server_uuid, hostname, problem }) =>
      problem === null ? [] : [{ server_uuid, hostname, ...problem }]
    ),
    operation_id: null,
  };
}

type Problem = { readonly reason: string; readonly remedy: string };

/** Returns why the node cannot be upgraded, or null. */
function problemOf(booted: Booted | undefined, records: readonly UpgradedRecord[]): Problem | null {
  if (records.length === 0) {
    return {
      reason: "no enrolled boot record belongs to the node, so the node does not boot from a booter",
      remedy: "upgrade its operating system by hand, and name a label of the other nodes",
    };
  }
  if (booted?.boot_id === undefined || booted.boot_id === null || booted.platform_image === null) {
    return {
      reason: "the node's agent does not report its boot and its platform image",
      remedy: "upgrade the node agent, or restart the node",
    };
  }
  return null;
}

/** Previews the drain of each node alone, because the nodes that were upgraded before are in service again. */
async function previewsOf(deps: Deps, nodes: readonly string[]): Promise<DrainPreview[]> {
  if (nodes.length === 0) return [];
  const { profile, load_stale_s } = await deps.settings.placement();
  const snapshot = await placementSnapshot(deps.kysely, { load_stale_s });
  const bridgesOf = bridgesIn(deps.kysely);
  return await Promise.all(nodes.map(async (server_uuid) => {
    const capacity = (await findCapacity(deps.byKey, server_uuid))?.capacity ?? null;
    const instances = await hostedInstances(deps.kysely, server_uuid, bridgesOf);
    return await previewDrain({ server_uuid, capacity, instances }, snapshot, profile, pause);
  }));
}

/** Refuses a plan with nodes that cannot be upgraded. In this case no upgrade begins. */
export function unfitFault({ unfit: [first] }: Pick<LabelUpgradeStarted, "unfit">): Fault | null {
  return first === undefined
    ? null
    : conflict(`${first.hostname} cannot be upgraded: ${first.reason}; ${first.remedy}`);
}

type Part = { readonly server_uuid: string; readonly operation_id: string; readonly part_of: string };
type Upgrade = Extract<CnMessage, { type: "upgrade" }>;

/** Builds the message that begins the upgrade of one node. */
export async function upgradeOfPart(
  { kysely }: Deps,
  { server_uuid, operation_id, part_of }: Part,
  wanted: Pick<Upgrade, "platform_image" | "reboot">,
): Promise<CnMessage | Fault> {
  const records = (await recordsOf(kysely, [server_uuid])).get(server_uuid) ?? [];
  const problem = problemOf((await bootsOf(kysely, [server_uuid])).get(server_uuid), records);
  if (problem !== null) return conflict(`${problem.reason}; ${problem.remedy}`);
  return { type: "upgrade", operation_id, records, part_of, ...wanted };
}

/**
 * Builds the message that begins the drain of an upgrade's node. If possible, no instance moves to a node that will be
 * upgraded later, so that most instances move only once.
 */
export async function drainOfUpgrade(
  deps: Deps,
  { server_uuid, operation_id, part_of }: Part,
  later: ReadonlySet<string>,
): Promise<CnMessage | Fault> {
  const once = await previewOf(deps, server_uuid, later);
  if (isFault(once)) return once;
  const preview = once.not_placeable.length === 0 ? once : await previewOf(deps, server_uuid);
  return isFault(preview) ? preview : { type: "drain", operation_id, preview, part_of };
}
