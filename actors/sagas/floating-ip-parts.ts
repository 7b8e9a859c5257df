// The step that attach and detach of a floating IP share: a node releases the address, and binds it again when the
// operation unwinds. A node that was not live when the operation began gets its job, but the operation does not wait
// for the node. Until the node has done the job, the floating IP cannot be deleted. While the node is live and has not
// done the job, the floating IP cannot be attached to an instance of another node.
import { NODE_WAIT_MS } from "../../src/contract/limits.ts";
import { toRfc3339 } from "../../src/lib/text/instant.ts";
import { withActor } from "../engine/effects.ts";
import { job, type Plan, type StepContext, wait, write } from "../engine/saga.ts";
import type { With } from "../engine/types.ts";
import type { FloatingIpMessage } from "../floating-ip/messages.ts";
import { type FloatingIpDetachParams, releaseOrder, sent } from "../floating-ip/operation.ts";

type Context = StepContext<FloatingIpDetachParams, Record<never, never>>;

export function toFloatingIp(c: Context, message: FloatingIpMessage): With {
  return withActor({ kind: "floating-ip", id: c.params.floating_ip_id }, message);
}

export function letGo(c: Context): Plan<unknown> {
  const { held, bound, limit_ms } = c.params;
  if (held === null) return write<unknown>(null);
  const order = releaseOrder(bound, held);
  if (held.live) return job<unknown>({ ...order, limit_ms });
  const id = c.id("job");
  return write<unknown>({ job_id: id }, sent(order, { id, operation_id: c.saga_id }));
}

export function takeBack(c: Context): Plan<unknown> {
  const { held } = c.params;
  if (held === null) return write(null);
  const { saga_id: operation_id, told_as } = c;
  const again = toFloatingIp(c, { type: "reclaim", operation_id, told_as, waits: held.live });
  return held.live ? wait(NODE_WAIT_MS, again) : write(null, again);
}

export function restored(c: Context): With {
  const reason = c.error ?? "the operation was undone";
  return toFloatingIp(c, { type: "restore", operation_id: c.saga_id, reason });
}

/** The reply to a caller that repeats the request later: the floating IP as the operation left it. */
export function settled({ params, now }: Context) {
  return { floating_ip: { ...params.floating_ip, updated_at: toRfc3339(now) } };
}
