// Finds the NAT gateway of this node to which a route leads.
import type { DocumentNatGateway, DocumentRoute, NetworkDocument } from "../../src/contract/network-document.ts";
import { familyOf } from "./ruleset-text.ts";

/**
 * Returns the gateway; undefined if the route does not lead to a gateway of this node. A document from an older server
 * does not name the gateway. Its routes then lead to the node's first gateway of their family.
 */
export function gatewayOf(
  { nat_gateways }: NetworkDocument,
  { destination, target }: DocumentRoute,
): DocumentNatGateway | undefined {
  if (target.kind !== "nat_gateway") return undefined;
  return nat_gateways.find(({ nat_gateway_id, public_address }) =>
    familyOf(public_address) === familyOf(destination) &&
    (target.nat_gateway_id == null || target.nat_gateway_id === nat_gateway_id)
  );
}
