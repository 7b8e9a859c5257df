// Defines the schemas of NAT gateways' port forwards (docs/networking.md, "Port forwards").
import { z } from "zod";
import { Timestamp, Uuid, withDefault } from "./common.ts";
import { PORT_FORWARD_PROTOCOLS } from "./enums.ts";
import { Labels, NewLabels } from "./labels.ts";
import { PORT_MAX } from "./limits.ts";
import { Realized } from "./network.ts";
import { Description, ResourceName } from "./tenancy.ts";

const port = z.number().int().min(1).max(PORT_MAX);
const protocol = z.enum(PORT_FORWARD_PROTOCOLS);

/** A port forward: connections to this TCP or UDP port of a NAT gateway's public address go to a NIC. */
export const PortForward = z.object({
  id: z.string(),
  tenant_id: z.string(),
  project_id: z.string(),
  project: z.string(),
  vpc_id: z.string(),
  vpc: z.string(),
  name: z.string(),
  description: z.string(),
  labels: Labels,
  nat_gateway_id: z.string(),
  nic_id: z.string().describe("The NIC that gets the connections. The port forward is deleted together with the NIC"),
  protocol,
  public_port: port.describe("The port of the gateway's public address"),
  nic_port: port.describe("The port of the NIC"),
  realized: Realized.nullable().describe("Null in the answer to a write without Prefer: wait"),
  created_at: Timestamp,
});
export type PortForward = z.infer<typeof PortForward>;

/** The body that creates a port forward. The gateway and the NIC must be in the VPC that the query names. */
export const PortForwardBody = z.strictObject({
  name: ResourceName,
  description: withDefault(Description, ""),
  labels: withDefault(NewLabels, {}),
  nat_gateway_id: Uuid,
  nic_id: Uuid.describe("A NIC with an address of the gateway's family"),
  protocol: withDefault(protocol, "tcp"),
  public_port: port.describe("The same port can be forwarded once for each protocol"),
  nic_port: port.nullish().describe("Default: the public port"),
});
export type PortForwardBody = z.infer<typeof PortForwardBody>;
