// Answers the control plane's question where a packet stops, from the stored document and the state of the node's
// router.
import type { TraceAnswer, TraceQuestion } from "../../src/contract/network-trace.ts";
import { TRACE_STEP_CHARS_MAX } from "../../src/contract/limits.ts";
import type { NodeNetwork } from "./node-network.ts";
import { trace } from "./trace.ts";

/** The parts of the node's networks that an answer needs. */
export type Inspected = Pick<NodeNetwork, "documents" | "inspect">;

/** Returns the answer. If the node cannot trace the packet, the answer contains the reason. */
export async function answerTrace(network: Inspected, question: TraceQuestion): Promise<TraceAnswer> {
  const { trace_id, vpc_id, source, destination, protocol, port, underlay_address } = question;
  const document = network.documents().find((each) => each.vpc_id === vpc_id);
  const stopped = (why: string): TraceAnswer => ({
    ...{ trace_id, generation: document?.generation ?? null, passes: false, rule_id: null, next: null, differences: 0 },
    steps: [`stops: ${why}`.slice(0, TRACE_STEP_CHARS_MAX)],
  });
  if (document === undefined) return stopped("this node has no document of the VPC");
  try {
    const router = await network.inspect(document);
    if (router === null) return stopped("the router of the VPC does not exist");
    const { steps, ...end } = trace({
      ...{ document, underlay_address, protocol, port },
      ...{ taps: router.taps, from: source, to: destination },
    });
    const { generation } = document;
    return { trace_id, generation, steps: [...steps], ...end, differences: router.differences };
  } catch (error) {
    return stopped(`the node cannot inspect the router of the VPC: ${(error as Error).message}`);
  }
}
