// Reads the target of a route from exactly one of the --target-* flags.
import type { RouteTable, RouteTarget } from "../../../src/contract/network.ts";
import { usageFailure } from "../../internal/failure.ts";
import { NAT_GATEWAY } from "../nat-gateway/nat-gateway.ts";
import type { TenantIo } from "../open-io.ts";
import { isUuid } from "../../internal/record-name.ts";
import { resolveRecord } from "../record/scope.ts";
import { ROUTE_TABLE } from "../route-table/route-table.ts";

export type TargetFlags = {
  readonly targetNatGateway?: string;
  readonly targetBlackhole?: true;
  readonly targetReject?: true;
  readonly targetVirtualGateway?: true;
};
/** A target whose NAT gateway, a name or UUID, is not resolved yet. */
export type TargetChoice = { readonly kind: "blackhole" | "reject" | "virtual_gateway" } | {
  readonly kind: "nat_gateway";
  readonly gateway: string;
};

export function targetChoice(flags: TargetFlags): TargetChoice {
  const given: TargetChoice[] = [];
  if (flags.targetNatGateway !== undefined) given.push({ kind: "nat_gateway", gateway: flags.targetNatGateway });
  if (flags.targetBlackhole === true) given.push({ kind: "blackhole" });
  if (flags.targetReject === true) given.push({ kind: "reject" });
  if (flags.targetVirtualGateway === true) given.push({ kind: "virtual_gateway" });
  if (given.length === 1) return given[0]!;
  throw usageFailure(
    "pass exactly one of --target-nat-gateway, --target-blackhole, --target-reject, --target-virtual-gateway",
  );
}

type Location = { readonly route_table: string | undefined; readonly vpc: string | undefined };

/** Resolves the target; looks up a gateway's name in `vpc`, else in the VPC of the route table. */
export async function resolveTarget(
  io: TenantIo,
  choice: TargetChoice,
  { route_table, vpc }: Location,
): Promise<RouteTarget> {
  if (choice.kind !== "nat_gateway") return choice;
  const { kind, gateway: name } = choice;
  const needs_lookup = vpc === undefined && route_table !== undefined && !isUuid(name);
  const gateway_vpc = needs_lookup ? (await io.get<RouteTable>(`${ROUTE_TABLE.path}/${route_table}`)).vpc : vpc;
  return { kind, nat_gateway_id: await resolveRecord(io, NAT_GATEWAY, { name, vpc: gateway_vpc }) };
}
