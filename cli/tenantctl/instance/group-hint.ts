// Explains a refused placement of an instance in a required placement group. The server's message is the same for every
// reason.
import type { PlacementGroup } from "../../../src/contract/placement-group.ts";
import { Failure, reworded } from "../../internal/failure.ts";
import type { TenantIo } from "../open-io.ts";
import { PLACEMENT_GROUP } from "../placement-group/placement-group.ts";

const NO_NODE = "no eligible compute node for placement";
const UNAVAILABLE = 503;

/** Returns the error. If a required group may be the reason, adds the group's rule and a remedy to the message. */
export async function withGroupHint(io: TenantIo, group_id: string | undefined, error: unknown): Promise<unknown> {
  const is_refused = error instanceof Failure && error.status === UNAVAILABLE && error.message.startsWith(NO_NODE);
  if (!is_refused || group_id === undefined) return error;
  const group = await io.get<PlacementGroup>(`${PLACEMENT_GROUP.path}/${group_id}`).catch(() => null);
  if (group === null || group.strictness !== "required") return error;
  return reworded(error, `${error.message}\n${ruleOf(group)}`);
}

function ruleOf({ name, policy, level }: PlacementGroup): string {
  const [each, place] = level === "node" ? ["a node", "node"] : ["a fault domain", "fault domain"];
  const rule = policy === "anti_affinity"
    ? `Each instance of placement group ${name} needs ${each} of its own, and perhaps no ${place} is left.`
    : `All instances of placement group ${name} are on one ${place}, which perhaps has no room.`;
  return `${rule} To create the instance anyway, use another group, made with --strictness preferred, or no group.`;
}
