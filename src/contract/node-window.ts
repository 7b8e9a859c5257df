// Defines the schemas of a window of the list of nodes, and of the summary of the fleet.
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { Labels } from "./labels.ts";
import { CN_ROLES, CN_STATES } from "./enums.ts";

/** A node in a list, without its large columns. */
export const NodeRow = z.object({
  server_uuid: z.string(),
  hostname: z.string(),
  state: z.enum(CN_STATES),
  role: z.enum(CN_ROLES),
  live: z.boolean().describe("Whether the node's last heartbeat is at most 60 s old"),
  admin_ip: z.string().nullable(),
  serial: z.string().nullable(),
  model: z.string().nullable().describe("The product name in the inventory"),
  cpu_threads: z.number().int().nullable(),
  ram_mb: z.number().int().nullable(),
  instances: z.number().int(),
  last_seen: Timestamp.nullable(),
  registered_at: Timestamp,
  labels: Labels,
  problem: z.string().nullable().describe("The most urgent condition that needs attention, or null"),
});
export type NodeRow = z.infer<typeof NodeRow>;

/** A window of the nodes that match the filter. `total` counts all nodes that match. */
export const NodeWindow = z.object({ items: z.array(NodeRow), total: z.number().int() });
export type NodeWindow = z.infer<typeof NodeWindow>;

/** The summary of the fleet: how many objects of each kind there are. A state without objects is left out. */
export const FleetSummary = z.object({
  nodes: z.object({
    by_state: z.record(z.string(), z.number().int()),
    silent: z.number().int().describe("Approved nodes without a recent heartbeat"),
  }),
  instances: z.record(z.string(), z.number().int()).describe("Instances by state"),
  operations: z.object({ running: z.number().int(), stuck: z.number().int() }),
  claims: z.number().int().describe("Registrations that wait for approval"),
  conflicts: z.number().int().describe("Nodes whose identity another machine announced"),
  tenants: z.number().int(),
});
export type FleetSummary = z.infer<typeof FleetSummary>;
