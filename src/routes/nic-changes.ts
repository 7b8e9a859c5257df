// Adds, changes and removes NICs of instances (docs/instances.md, "NICs").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import type { NicPlace } from "../../actors/instance/messages.ts";
import { findNic } from "../../actors/instance/reads.ts";
import { findSubnet } from "../../actors/subnet/reads.ts";
import { findVpc } from "../../actors/vpc/reads.ts";
import { scopeOf } from "../auth/authorize.ts";
import { atRow, inInstance } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { isFault, NOT_FOUND } from "../contract/fault.ts";
import { Nic, NicBody, NicPatch } from "../contract/instance.ts";
import { ADDITIONAL_IPS_MAX, ALLOWED_CIDRS_MAX, EXTRA_NICS_MAX } from "../contract/limits.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersCreated, answersNothing, jsonBody, rights } from "./answer.ts";
import type { App, Reads, RouteDeps, Writes } from "./deps.ts";
import { applied, PREFER_WAIT, type Waits } from "./prefer-wait.ts";

type Deps = Reads & Writes & Waits & Pick<RouteDeps, "mint">;

const tags = ["Instances"];
const path = "/v1/nics/{nic_id}";
const params = z.object({ nic_id: Uuid });
const atNic = atRow("nic", "nic_id");

export function nicChangeRoutes(app: App, deps: Deps): void {
  const createNicRoute = createRoute({
    method: "post",
    path: "/v1/nics",
    tags,
    summary: "Add a NIC to a stopped instance",
    description:
      "For each block of its subnet, the NIC gets the address that the body names, or else the lowest free address. " +
      `The next start gives the NIC to the guest. An instance has at most ${EXTRA_NICS_MAX + 1} NICs. The guest may ` +
      "send only from the addresses of the NIC, and from `allowed_cidrs`. 409 for an instance that is not stopped, " +
      "and for an address that is in use or reserved.",
    ...rights(deps, "NicCreate", inInstance),
    request: { query: z.object({ instance: Uuid }), headers: PREFER_WAIT, body: jsonBody(NicBody) },
    responses: answersCreated(Nic, "The NIC"),
  });
  app.openapi(createNicRoute, async (c) => {
    const body = c.req.valid("json");
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const place = await placeOf(deps, body.subnet_id);
    const id = deps.mint.idFrom(idempotency.id, "nic");
    const { name, labels, primary_ipv4 = null, primary_ipv6 = null, mac, additional_ips, allowed_cidrs } = body;
    const nic = {
      id,
      name,
      labels,
      mac: mac ?? macFrom(id),
      primary_ipv4,
      primary_ipv6,
      additional_ips,
      allowed_cidrs,
    };
    const to = { kind: "instance" as const, id: c.req.valid("query").instance };
    const token = deps.mint.idFrom(idempotency.id, "address");
    // If the subnet is missing or in another project, the message names a NIC that does not exist. The outcome is then
    // 404, or the first reply if the request is repeated.
    const message = place === null || place.project_id !== scopeOf(c).project_id
      ? { type: "update_nic", nic_id: id, ...UNCHANGED, place: NOWHERE, token } as const
      : { type: "create_nic", nic, place: place.place, token } as const;
    const outcome = await deps.send(c, to, message, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return c.json({ ...outcome.reply, realized: await applied(c, deps, outcome.reply.vpc_id) }, 201);
  });

  const updateRoute = createRoute({
    method: "patch",
    path,
    tags,
    summary: "Change the name, labels, further addresses or allowed blocks of a NIC",
    description:
      `A list replaces the current list. A NIC has at most ${ADDITIONAL_IPS_MAX} further addresses, which the guest ` +
      `configures itself, and ${ALLOWED_CIDRS_MAX} allowed blocks. The nodes of the VPC apply the change at once, ` +
      "even if the guest is running. Addresses that are left out return to the subnet. The primary NIC keeps its " +
      "name.",
    ...rights(deps, "NicUpdate", atNic),
    request: { params, headers: PREFER_WAIT, body: jsonBody(NicPatch) },
    responses: answers(Nic, "The NIC"),
  });
  app.openapi(updateRoute, async (c) => {
    const { nic_id } = c.req.valid("param");
    const { name = null, labels = null, additional_ips = null, allowed_cidrs = null } = c.req.valid("json");
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const nic = await findNic(deps.byKey, nic_id);
    const place = nic === undefined ? null : await placeOf(deps, nic.subnet_id);
    // If the NIC does not exist, the message goes to an instance with the NIC's id. There is no such instance, so the
    // outcome is 404. A repeated request gets the reply of the first request.
    const outcome = await deps.send(c, { kind: "instance", id: nic?.instance_id ?? nic_id }, {
      type: "update_nic",
      nic_id: nic?.id ?? nic_id,
      name,
      labels,
      additional_ips,
      allowed_cidrs,
      place: place?.place ?? NOWHERE,
      token: deps.mint.idFrom(idempotency.id, "address"),
    }, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    const floating_ips = nic?.floating_ips ?? [];
    return c.json({ ...outcome.reply, floating_ips, realized: await applied(c, deps, outcome.reply.vpc_id) }, 200);
  });

  const deleteRoute = createRoute({
    method: "delete",
    path,
    tags,
    summary: "Remove a NIC from a stopped instance",
    description:
      "The addresses of the NIC return to the subnet. 409 for the primary NIC, for an instance that is not stopped, " +
      "and while a floating IP or a port forward leads to the NIC.",
    ...rights(deps, "NicDelete", atNic),
    request: { params },
    responses: answersNothing("Removed"),
  });
  app.openapi(deleteRoute, async (c) => {
    const { nic_id } = c.req.valid("param");
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const nic = await findNic(deps.byKey, nic_id);
    // A repeated request gets the answer of the first request, even after its NIC was removed.
    if (nic === undefined && !idempotency.repeated) return faultResponse(c, NOT_FOUND);
    const to = { kind: "instance" as const, id: nic?.instance_id ?? nic_id };
    const outcome = await deps.send(c, to, { type: "delete_nic", nic_id: nic?.id ?? nic_id }, idempotency);
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}

const UNCHANGED = { name: null, labels: null, additional_ips: null, allowed_cidrs: null } as const;

/**
 * A placeholder in a message about a NIC that does not exist. The instance refuses the message without reading the
 * placeholder.
 */
const NOWHERE: NicPlace = {
  id: "",
  vpc_id: "",
  ipv4_block: null,
  ipv6_block: null,
  vpc: { ipv4_block: null, ipv6_block: null },
};

/** Reads a subnet with its VPC and its project. Returns null if the subnet or the VPC is missing. */
async function placeOf(
  { byKey, kysely }: Reads,
  subnet_id: string,
): Promise<{ readonly place: NicPlace; readonly project_id: string } | null> {
  const subnet = await findSubnet(byKey, subnet_id);
  const vpc = subnet && await findVpc(kysely, subnet.vpc_id);
  if (subnet === undefined || vpc === undefined) return null;
  const { id, vpc_id, ipv4_block, ipv6_block, project_id } = subnet;
  const place = { id, vpc_id, ipv4_block, ipv6_block, vpc: { ipv4_block: vpc.ipv4_block, ipv6_block: vpc.ipv6_block } };
  return { place, project_id };
}

/**
 * The number of hex digits of a MAC after its first octet. The first octet is 02, which means that the MAC is locally
 * administered.
 */
const MAC_DIGITS = 10;

/** Derives a MAC from the random id of a NIC, so that a repeated request gets the same MAC. */
function macFrom(id: string): string {
  return `02${id.replaceAll("-", "").slice(-MAC_DIGITS)}`;
}
