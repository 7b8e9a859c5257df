// Defines the routes with which operators manage external subnets. Floating IPs and NAT gateways get their addresses
// from external subnets or from the fixed pools (docs/networking.md).
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findExternalSubnets, listExternalSubnets } from "../../actors/external-subnet/reads.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { ADDRESS_FAMILIES, type AddressFamily } from "../contract/enums.ts";
import { ExternalSubnet, ExternalSubnetBody, ExternalSubnetPatch } from "../contract/external-network.ts";
import { badRequest, type Fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { parseProvisionRange, type ProvisionRange } from "../lib/net/provision-range.ts";
import { isShared } from "../lib/net/public-pool.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, Writes } from "./deps.ts";
import { deleteRecord } from "./record-routes.ts";

type Deps = Writes;

const tags = ["External networks"];
const path = "/v1/system/external-subnets/{external_subnet_id}";
const params = z.object({ external_subnet_id: Uuid });

const externalSubnet = {
  kind: "external-subnet",
  tags,
  path,
  params,
  id: "external_subnet_id",
  schema: ExternalSubnet,
  described: "The subnet",
} as const;

export function externalSubnetRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/system/external-subnets",
    tags,
    summary: "List external subnets",
    ...rights(deps, "SystemRead"),
    request: { query: z.object(PageQuery) },
    responses: answers(page(ExternalSubnet), "The subnets"),
  });
  app.openapi(listRoute, async (c) => {
    const result = await pageById(c.req.valid("query"), (at) => listExternalSubnets(deps.kysely, at));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createSubnetRoute = createRoute({
    method: "post",
    path: "/v1/system/external-subnets",
    tags,
    summary: "Create an external subnet",
    description:
      "The network address, the address after it, the gateway and the IPv4 broadcast address are never allocated. " +
      "409 SubnetCidrOverlap for a block that overlaps another external subnet or a fixed public pool. A subnet with " +
      "exactly the block of a fixed public pool shares the addresses of that pool.",
    ...rights(deps, "SystemConfigWrite"),
    request: { body: jsonBody(ExternalSubnetBody) },
    responses: answersCreated(ExternalSubnet, "The subnet"),
  });
  app.openapi(createSubnetRoute, async (c) => {
    const body = c.req.valid("json");
    const ranges = rangesOf(body);
    if (isFault(ranges)) return faultResponse(c, ranges);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const { name, description, nic_tag, vlan_id, owner_silos } = body;
    const outcome = await deps.send(c, { kind: "external-subnet", id: idempotency.id }, {
      type: "create",
      id: idempotency.id,
      name,
      description,
      nic_tag,
      vlan_id: vlan_id ?? null,
      ranges,
      owner_silos,
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show an external subnet",
    ...rights(deps, "SystemRead"),
    request: { params },
    responses: answers(ExternalSubnet, "The subnet"),
  });
  app.openapi(showRoute, async (c) => {
    const [found] = await findExternalSubnets(deps.kysely, [c.req.valid("param").external_subnet_id]);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const updateRoute = createRoute({
    method: "patch",
    path,
    tags,
    summary: "Rename or describe an external subnet, or offer it to other silos",
    description: "Floating IPs and NAT gateways keep their addresses of the subnet.",
    ...rights(deps, "SystemConfigWrite"),
    request: { params, body: jsonBody(ExternalSubnetPatch) },
    responses: answers(ExternalSubnet, "The subnet"),
  });
  app.openapi(updateRoute, async (c) => {
    const { name, description, owner_silos } = c.req.valid("json");
    const to = { kind: "external-subnet" as const, id: c.req.valid("param").external_subnet_id };
    const outcome = await deps.sendOnce(c, to, {
      type: "update",
      name: name ?? null,
      description: description ?? null,
      owner_silos: owner_silos ?? null,
    });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  deleteRecord(app, deps, {
    ...externalSubnet,
    action: "SystemConfigWrite",
    summary: "Delete an external subnet",
    description:
      "409 while a floating IP or a NAT gateway has an address of the subnet, while a network pool lists the subnet, " +
      "and while a node may still answer for an address of a deleted NAT gateway.",
  });
}

const NO_BLOCK = badRequest("external subnet must specify ipv4_block, ipv6_block, or both");

function rangesOf(body: ExternalSubnetBody): Record<AddressFamily, ProvisionRange | null> | Fault {
  if (!body.ipv4_block && !body.ipv6_block) return NO_BLOCK;
  const ranges: Record<AddressFamily, ProvisionRange | null> = { v4: null, v6: null };
  for (const family of ADDRESS_FAMILIES) {
    const range = rangeOf(family, body);
    if (range !== null && "kind" in range) return range;
    ranges[family] = range;
  }
  return ranges;
}

function rangeOf(family: AddressFamily, body: ExternalSubnetBody): ProvisionRange | null | Fault {
  const name = `ip${family}` as const;
  const [block, start, end] = [body[`${name}_block`], body[`provision_start_${name}`], body[`provision_end_${name}`]];
  const gateway = body[`gateway_${name}`];
  if (!block) {
    if (!start && !end && !gateway) return null;
    const field = start ? "provision_start" : end ? "provision_end" : "gateway";
    return badRequest(`${field}_${name} needs ${name}_block`);
  }
  const fields = { block, start: start ?? null, end: end ?? null };
  const parsed = parseProvisionRange(family, { ...fields, gateway: gateway ?? null });
  if ("error" in parsed) return badRequest(parsed.error);
  // The offsets of a shared pool count from the pool's network address. MAX_SAFE_INTEGER means that the first address
  // is too far from it.
  if (isShared(family, parsed.range.block) && parsed.range.offset === Number.MAX_SAFE_INTEGER) {
    return badRequest(
      `provision_start_${name} is above the highest address of the public pool`,
    );
  }
  // The shared pool reserves only the default address of the gateway, because it ignores the range of this subnet. So
  // the pool could allocate a gateway address other than the default.
  if (isShared(family, parsed.range.block)) {
    const usual = parseProvisionRange(family, { ...fields, gateway: null });
    if ("error" in usual || usual.range.gateway !== parsed.range.gateway) {
      return badRequest(`gateway_${name} cannot be set for the block of a fixed public pool`);
    }
  }
  return parsed.range;
}
