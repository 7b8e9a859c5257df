// Knows the nodes whose requests wait for a job in this process. A create of an instance on such a node claims the job
// in its own commit, which saves the commit of the claim (docs/architecture.md, "Sagas, jobs and tells").
import type { WaitingNode } from "../../actors/job/messages.ts";
import { auditActor } from "../auth/authorize.ts";
import type { Ctx } from "../routes/deps.ts";
import type { Asked } from "./job-claims.ts";

type Origin = WaitingNode["origin"];
type Offer = { readonly origin: Origin; jobs: number };

/**
 * The number of jobs that are claimed for one waiting request. Creates that arrive together often choose the same node.
 * The request gets the first job, and the next requests of the node get the others.
 */
const JOBS_PER_WAIT = 8;

export type WaitingNodes = {
  /**
   * Offers the request of a node for jobs while it waits. Only a request that lists the jobs of its agent is offered:
   * the next requests of the node get the jobs that it did not get, because they do not list these jobs.
   */
  during<T>(c: Ctx, asked: Asked | null, wait: Promise<T>): Promise<T>;
  /** Takes a job for a waiting request of the node. Returns the origin of its claim, or null if no request waits. */
  take(server_uuid: string): Origin | null;
};

export function createWaitingNodes(): WaitingNodes {
  const offers = new Map<string, Set<Offer>>();

  function end(server_uuid: string, offer: Offer): void {
    const same = offers.get(server_uuid);
    same?.delete(offer);
    if (same?.size === 0) offers.delete(server_uuid);
  }

  return {
    async during(c, asked, wait) {
      if (asked === null || asked.running === null) return await wait;
      const origin = { actor: auditActor(c.get("principal")), request_id: c.get("requestId") };
      const offer = { origin, jobs: JOBS_PER_WAIT };
      offers.set(asked.server_uuid, (offers.get(asked.server_uuid) ?? new Set()).add(offer));
      return await wait.finally(() => end(asked.server_uuid, offer));
    },
    take(server_uuid) {
      const [offer] = offers.get(server_uuid) ?? [];
      if (offer === undefined) return null;
      offer.jobs -= 1;
      if (offer.jobs === 0) end(server_uuid, offer);
      return offer.origin;
    },
  };
}
