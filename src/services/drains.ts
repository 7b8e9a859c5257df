// Computes the preview of a drain of a node from the last committed state.
import { type Fault, NOT_FOUND } from "../contract/fault.ts";
import type { DrainPreview } from "../contract/placement.ts";
import { previewDrain } from "../lib/placement/drain.ts";
import type { RouteDeps } from "../routes/deps.ts";
import { findCapacity, hostedInstances, placementSnapshot } from "./placement-snapshot.ts";

type Deps = Pick<RouteDeps, "kysely" | "byKey" | "settings">;

/** Lets the process do other work. */
export const pause = () => new Promise<void>((wake) => setTimeout(wake, 0));

/**
 * Previews the drain of a node; NOT_FOUND for an unknown node.
 * @param avoided - Nodes that must not be targets. The node itself is never a target.
 */
export async function previewOf(
  deps: Deps,
  server_uuid: string,
  avoided: ReadonlySet<string> = new Set(),
): Promise<DrainPreview | Fault> {
  const node = await findCapacity(deps.byKey, server_uuid);
  if (node === undefined) return NOT_FOUND;
  const { profile, load_stale_s } = await deps.settings.placement();
  const instances = await hostedInstances(deps.kysely, server_uuid);
  const snapshot = await placementSnapshot(deps.kysely, { load_stale_s });
  const nodes = snapshot.nodes.filter((each) => !avoided.has(each.server_uuid));
  return await previewDrain({ server_uuid, ...node, instances }, { ...snapshot, nodes }, profile, pause);
}
