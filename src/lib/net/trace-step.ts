// The steps of a trace that both a node's agent and the control plane know (docs/networking.md, "Traces").

/**
 * The last step of a packet that a route of the node's document stops. Agents of all versions send this text, and the
 * control plane compares it with its own, so it must stay.
 */
export function stopsAtRoute(destination: string, kind: "blackhole" | "reject"): string {
  return `stops: the route to ${destination} is a ${kind}`;
}
