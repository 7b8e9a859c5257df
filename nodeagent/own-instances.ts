// Asks the control plane which instances are on this node, before the agent starts VMs after a boot.
import type { AgentConfig } from "../src/contract/agent.ts";
import { pause } from "../cli/internal/api.ts";
import { atLeastMs } from "../cli/internal/backoff.ts";
import type { Environment } from "../cli/internal/environment.ts";
import { type Answer, exchange, type Link, Unreachable } from "../cli/internal/exchange.ts";
import { refusalText, REQUEST_LIMIT_MS } from "./agent.ts";
import { type Credentials, readSavedKey } from "./credentials.ts";

export type Asking = {
  readonly environment: Environment;
  readonly link: Omit<Link, "token">;
  readonly state_dir: string;
  readonly error_retry_ms: number;
  /** Enrols a node that has no key. */
  readonly enrol: () => Promise<Pick<Credentials, "api_key">>;
  readonly log: (line: string) => void;
};

/**
 * Returns the ids of this node's instances; null if the server is too old to answer. Waits for an answer without limit:
 * a VM that was evacuated must not start a second time. If no key is saved, the node has lost its key, and is first
 * enrolled again. Returns no ids if the key is not valid any more: the node was removed or reset, which is possible
 * only without instances. Throws a Failure if the saved key cannot be read or the enrolment ends without a key: the
 * instances are then not known, so no VM may start.
 */
export async function ownInstances(asking: Asking): Promise<ReadonlySet<string> | null> {
  const { environment, link, state_dir, error_retry_ms, log } = asking;
  const saved = await readSavedKey(state_dir);
  if (saved === null) log("the VMs wait for the approval of this node, because it has no saved key");
  const token = saved ?? (await asking.enrol()).api_key;
  let told = false;
  for (;;) {
    const answer = await ask({ environment, link: { ...link, token } });
    if (answer.status === 401) return new Set();
    if (answer.status < 300) {
      const { instance_ids } = answer.body as AgentConfig;
      return Array.isArray(instance_ids) ? new Set(instance_ids) : null;
    }
    if (!told) log(`the VMs wait for the control plane, which knows whether they are still here: ${answer.why}`);
    told = true;
    await pause(environment, atLeastMs(error_retry_ms, environment.random()));
  }
}

type Told = Pick<Answer, "status" | "body"> & { readonly why: string };

/** The status that is used if no answer arrives. */
const UNREACHED = 503;

async function ask({ environment, link }: Pick<Asking, "environment"> & { readonly link: Link }): Promise<Told> {
  const call = { method: "GET", path: "/v1/agent/config", query: { include: "instances" } } as const;
  try {
    const answer = await exchange(environment, link, { ...call, limit_ms: REQUEST_LIMIT_MS });
    return { ...answer, why: refusalText(answer) };
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    return { status: UNREACHED, body: null, why: error.message };
  }
}
