// Defines the steps of a trace that a node's agent and the control plane both know (docs/networking.md, "Traces").

/**
 * Returns the last step of a trace if a route in the node's document stops the packet. Agents of all versions send this
 * text. The control plane compares the text with its own, so the text must never change.
 */
export function stopsAtRoute(destination: string, kind: "blackhole" | "reject"): string {
  return `stops: the route to ${destination} is a ${kind}`;
}

/**
 * Returns the last step of a trace if the packet goes to an address of the VPC that no NIC in the node's document has.
 * The control plane compares this text, too.
 */
export function stopsWithoutNic(address: string): string {
  return `stops: no NIC of the VPC has ${address}`;
}
