// Where a route leads, from the --target-* flags. Document 3: exactly one of them.
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
/** The NAT gateway as it was typed. */
export type TargetWords = { readonly kind: "blackhole" | "reject" | "virtual_gateway" } | {
  readonly kind: "nat_gateway";
  readonly gateway: string;
};

export function targetWords(flags: TargetFlags): TargetWords {
  const given: TargetWords[] = [];
  if (flags.targetNatGateway !== undefined) given.push({ kind: "nat_gateway", gateway: flags.targetNatGateway });
  if (flags.targetBlackhole === true) given.push({ kind: "blackhole" });
  if (flags.targetReject === true) given.push({ kind: "reject" });
  if (flags.targetVirtualGateway === true) given.push({ kind: "virtual_gateway" });
  if (given.length === 1) return given[0]!;
  throw usageFailure(
    "pass exactly one of --target-nat-gateway, --target-blackhole, --target-reject, --target-virtual-gateway",
  );
}

type Home = { readonly route_table: string | undefined; readonly vpc: string | undefined };

/** A gateway's name is looked up in the VPC of the route table. */
export async function resolveTarget(
  io: TenantIo,
  argv: TargetWords,
  { route_table, vpc }: Home,
): Promise<RouteTarget> {
  if (argv.kind !== "nat_gateway") return argv;
  const { kind, gateway: name } = argv;
  const asks = vpc === undefined && route_table !== undefined && !isUuid(name);
  const home = asks ? (await io.get<RouteTable>(`${ROUTE_TABLE.path}/${route_table}`)).vpc : vpc;
  return { kind, nat_gateway_id: await resolveRecord(io, NAT_GATEWAY, { name, vpc: home }) };
}
