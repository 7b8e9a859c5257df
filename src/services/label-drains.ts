// Plans a drain by label from the last committed state, and builds the message that begins the drain of one node.
import { listCns } from "../../actors/cn/reads.ts";
import type { CnMessage } from "../../actors/cn/messages.ts";
import { badRequest, type Fault, isFault } from "../contract/fault.ts";
import type { LabelDrainStarted } from "../contract/label-drain.ts";
import type { LabelFilter } from "../contract/labels.ts";
import { LABEL_DRAIN_NODES_MAX } from "../contract/limits.ts";
import { previewDrains } from "../lib/placement/drain.ts";
import type { RouteDeps } from "../routes/deps.ts";
import { pause, previewOf } from "./drains.ts";
import { bridgesIn, findCapacity, hostedInstances, placementSnapshot } from "./placement-snapshot.ts";

type Deps = Pick<RouteDeps, "kysely" | "byKey" | "settings">;

const TOO_MANY = badRequest(
  `label: more than ${LABEL_DRAIN_NODES_MAX} nodes have the label; name a label of fewer nodes`,
);

/** Returns the label filter as text, such as `rack=a3,ssd`. */
export function labelText(label: LabelFilter): string {
  return label.map(({ key, value }) => value === null ? key : `${key}=${value}`).join(",");
}

/**
 * Plans the drains of the approved nodes with the label, in the order of their hostnames. No plan has one of these
 * nodes as a target. The other nodes with the label are listed as skipped.
 */
export async function labelDrainPlan(deps: Deps, label: LabelFilter): Promise<LabelDrainStarted | Fault> {
  const { kysely } = deps;
  const found = await listCns(kysely, { labels: label, rows: LABEL_DRAIN_NODES_MAX + 1 }, false);
  if (found.length > LABEL_DRAIN_NODES_MAX) return TOO_MANY;
  const sorted = found.sort((a, b) => `${a.hostname} ${a.server_uuid}` < `${b.hostname} ${b.server_uuid}` ? -1 : 1);
  const approved = sorted.filter(({ state }) => state === "approved");
  const bridgesOf = bridgesIn(kysely);
  const drained = await Promise.all(approved.map(async ({ server_uuid }) => ({
    server_uuid,
    capacity: (await findCapacity(deps.byKey, server_uuid))?.capacity ?? null,
    instances: await hostedInstances(kysely, server_uuid, bridgesOf),
  })));
  const { profile, load_stale_s } = await deps.settings.placement();
  const previews = await previewDrains(
    drained,
    await placementSnapshot(kysely, { load_stale_s }),
    profile,
    pause,
  );
  return {
    nodes: approved.map(({ server_uuid, hostname }, index) => ({
      server_uuid,
      hostname,
      preview: previews[index]!,
      operation_id: null,
    })),
    skipped: sorted.filter(({ state }) => state !== "approved").map(({ server_uuid, hostname, state }) => ({
      server_uuid,
      hostname,
      state,
    })),
    operation_id: null,
  };
}

type Part = { readonly server_uuid: string; readonly operation_id: string; readonly part_of: string };

/**
 * Builds the message that begins the drain of one node. The plan in the message has no other node of the operation as a
 * target.
 */
export async function drainOfPart(
  deps: Deps,
  { server_uuid, operation_id, part_of }: Part,
  others: ReadonlySet<string>,
): Promise<CnMessage | Fault> {
  const preview = await previewOf(deps, server_uuid, others);
  return isFault(preview) ? preview : { type: "drain", operation_id, preview, part_of };
}
