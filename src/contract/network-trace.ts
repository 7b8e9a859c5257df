// Defines the schemas of traces, which find out where a packet stops: the question to a node, the node's answer, and
// the result for an operator (docs/networking.md, "Traces").
import { z } from "zod";
import { Uuid, wholeNumber } from "./common.ts";
import { PACKET_PROTOCOLS, TRACE_VERDICTS } from "./enums.ts";
import { PORT_MAX, TRACE_STEP_CHARS_MAX, TRACE_STEPS_MAX } from "./limits.ts";

/** The packet of a trace, as a query. */
export const TraceQuery = z.object({
  destination: z.union([z.ipv4(), z.ipv6()]).describe("Address of the receiver, or a floating IP"),
  protocol: z.enum(PACKET_PROTOCOLS).default("tcp"),
  port: wholeNumber(0, PORT_MAX).optional().describe("Destination port; required for tcp and udp"),
});
export type TraceQuery = z.infer<typeof TraceQuery>;

/** A question to a node: where in the node's router of the VPC does the first packet of a connection stop? */
export const TraceQuestion = z.object({
  trace_id: z.string(),
  vpc_id: z.string(),
  source: z.string(),
  destination: z.string(),
  protocol: z.enum(PACKET_PROTOCOLS),
  port: z.number().int().nullable(),
  underlay_address: z.string().nullable().describe("The underlay address of the node that is asked"),
});
export type TraceQuestion = z.infer<typeof TraceQuestion>;

/**
 * Where a packet goes next: to another node of the VPC, or to an address outside the VPC. `source` is the packet's
 * source address outside the VPC.
 */
export const TraceNext = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("node"), underlay_address: z.ipv4() }),
  z.object({ kind: z.literal("outside"), source: z.union([z.ipv4(), z.ipv6()]) }),
]);
export type TraceNext = z.infer<typeof TraceNext>;

/** A node's answer to a question. */
export const TraceAnswer = z.object({
  trace_id: Uuid,
  generation: z.number().int().nullable().describe(
    "The generation of the node's document of the VPC; null: the node has no such document",
  ),
  steps: z.array(z.string().max(TRACE_STEP_CHARS_MAX)).min(1).max(TRACE_STEPS_MAX).describe(
    "Sentences that describe the packet's path, in its order. The last sentence names the place where the path ends",
  ),
  passes: z.boolean().describe("Whether the node's router passes the packet on"),
  rule_id: Uuid.nullable().describe("The firewall rule that decided last"),
  next: TraceNext.nullable().describe("Null: the packet ends on this node"),
  differences: z.number().int().min(0).describe("Differences between the node's router and its document"),
});
export type TraceAnswer = z.infer<typeof TraceAnswer>;

/** The part of a packet's path that is on one node. */
export const TraceHop = z.object({
  server_uuid: z.string(),
  hostname: z.string(),
  vpc_id: z.string(),
  desired_generation: z.number().int(),
  generation: z.number().int().nullable().describe(
    "The generation of the document that the node used; null: the node has no document of the VPC",
  ),
  differences: z.number().int().nullable().describe("Null: the node did not answer"),
  steps: z.array(z.string()),
});
export type TraceHop = z.infer<typeof TraceHop>;

/** The result of a trace: where the first packet of a connection from an instance ends. */
export const NetworkTrace = z.object({
  verdict: z.enum(TRACE_VERDICTS).describe(
    "arrives: the packet reaches the receiver's NIC. leaves: it goes to an address outside of the site's VPCs. " +
      "stops: a node drops it. unknown: a node did not answer",
  ),
  summary: z.string().describe("One sentence that names the place where the packet ends, and the rule that decided"),
  rule: z.object({ id: z.string(), name: z.string() }).nullable().describe("The firewall rule that decided last"),
  hops: z.array(TraceHop).describe("The nodes on the packet's path, in its order"),
});
export type NetworkTrace = z.infer<typeof NetworkTrace>;
