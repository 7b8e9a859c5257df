// Defines the poll of a node agent (docs/nodes.md, "Reports of a node"). One long-poll request sends the heartbeat and
// the reports, claims jobs and fetches network documents. The server ignores unknown fields in request bodies from
// agents.
import { z } from "zod";
import { CapacityReport, StatusReport } from "./agent.ts";
import { Uuid } from "./common.ts";
import { ClaimBody, ClaimView } from "./job.ts";
import { AGENT_POLL_S_MAX, AGENT_POLL_S_MIN, CLAIM_WAIT_S_MAX } from "./limits.ts";
import { NetworkPollBody, NetworkPollView } from "./network-document.ts";

/** The reports and requests that a node sends in one poll. All fields except `server_uuid` are optional. */
export const AgentPollBody = z.object({
  server_uuid: Uuid.describe("The node's own UUID"),
  wait: z.number().min(0).max(CLAIM_WAIT_S_MAX).nullish().describe(
    "Seconds to wait for work and documents, at most the advised interval; default 0",
  ),
  running_jobs: ClaimBody.shape.running_jobs.describe(
    "The jobs that the agent has. Their leases are renewed. If the poll has `work`, a claimed job that is missing " +
      "here is returned again",
  ),
  work: z.object({ known_consoles: ClaimBody.shape.known_consoles }).nullish().describe(
    "Requests the next job, the tombstones and the console calls, as POST /v1/agent/claim does",
  ),
  network: NetworkPollBody.omit({ wait: true }).nullish().describe(
    "Requests network documents, as POST /v1/agent/network/poll does",
  ),
  status: StatusReport.nullish().describe("The body of POST /v1/agent/status"),
  capacity: CapacityReport.nullish().describe("The body of POST /v1/agent/capacity"),
});
export type AgentPollBody = z.input<typeof AgentPollBody>;

/** The answer to a poll. The server stores the reports of the poll before it answers. */
export const AgentPollView = z.object({
  interval_s: z.number().int().min(AGENT_POLL_S_MIN).max(AGENT_POLL_S_MAX).describe(
    "The longest time between two polls of the node. The server holds a poll no longer than this",
  ),
  work: ClaimView.nullable().describe(
    "Null if the poll did not request work, or if the node is not approved: such a node gets no jobs",
  ),
  network: NetworkPollView.nullable().describe(
    "Null if the poll did not request documents, or if the node neither stores nor gets a document",
  ),
});
export type AgentPollView = z.infer<typeof AgentPollView>;
