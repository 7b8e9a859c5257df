// Firewall rules of a VPC. Document 3, Networking.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findFirewallRule, listFirewallRules } from "../../actors/firewall-rule/reads.ts";
import { findVpc } from "../../actors/vpc/reads.ts";
import { atRow, inVpc } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { FirewallRule, FirewallRuleBody } from "../contract/network.ts";
import { NamedPatch } from "../contract/tenancy.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, answersNothing, jsonBody, rights } from "./answer.ts";
import { type App, type RouteDeps } from "./deps.ts";
import { isFault } from "../contract/fault.ts";

const tags = ["Networking"];
const path = "/v1/firewall-rules/{firewall_rule_id}";
const params = z.object({ firewall_rule_id: Uuid });
const ofVpc = z.object({ vpc: Uuid, project: Uuid.optional() });
const atRule = atRow("firewall_rule", "firewall_rule_id");

export function firewallRuleRoutes(app: App, deps: RouteDeps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/firewall-rules",
    tags,
    summary: "List the firewall rules of a VPC, oldest first",
    description: "A `project` that is not the VPC's is a 404.",
    ...rights(deps, "FirewallRuleList", inVpc),
    request: { query: ofVpc.extend(PageQuery) },
    responses: answers(page(FirewallRule), "The rules"),
  });
  app.openapi(listRoute, async (c) => {
    const { vpc: vpc_id, ...query } = c.req.valid("query");
    const result = await pageById(query, (at) => listFirewallRules(deps.kysely, { vpc_id, ...at }));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createRuleRoute = createRoute({
    method: "post",
    path: "/v1/firewall-rules",
    tags,
    summary: "Make a firewall rule",
    description: "Every NIC in the VPC inherits it. Higher priorities evaluate first. Ports go with tcp and udp, an " +
      "ICMP type and code with icmp4 and icmp6. Networks must be of a family that the VPC has a block of.",
    ...rights(deps, "FirewallRuleCreate", inVpc),
    request: { query: ofVpc, body: jsonBody(FirewallRuleBody) },
    responses: answersCreated(FirewallRule, "The rule"),
  });
  app.openapi(createRuleRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const vpc = await findVpc(deps.kysely, c.req.valid("query").vpc);
    if (vpc === undefined) return faultResponse(c, NOT_FOUND);
    const body = c.req.valid("json");
    const outcome = await deps.send(c, { kind: "firewall-rule", id: idempotency.id }, {
      type: "create",
      id: idempotency.id,
      tenant_id: vpc.tenant_id,
      project_id: vpc.project_id,
      vpc_id: vpc.id,
      ...body,
      source_cidr: body.source_cidr ?? null,
      destination_cidr: body.destination_cidr ?? null,
      source_ports: body.source_ports ?? null,
      destination_ports: body.destination_ports ?? null,
      icmp_type_code: body.icmp_type_code ?? null,
      plan: { ipv4_block: vpc.ipv4_block, ipv6_block: vpc.ipv6_block },
    }, idempotency);
    return outcome.ok ? c.json(outcome.reply as FirewallRule, 201) : faultResponse(c, outcome.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show a firewall rule",
    ...rights(deps, "FirewallRuleGet", atRule),
    request: { params },
    responses: answers(FirewallRule, "The rule"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findFirewallRule(deps.kysely, c.req.valid("param").firewall_rule_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  const updateRoute = createRoute({
    method: "patch",
    path,
    tags,
    summary: "Rename or describe a firewall rule",
    ...rights(deps, "FirewallRuleUpdate", atRule),
    request: { params, body: jsonBody(NamedPatch) },
    responses: answers(FirewallRule, "The rule"),
  });
  app.openapi(updateRoute, async (c) => {
    const { name, description } = c.req.valid("json");
    const to = { kind: "firewall-rule" as const, id: c.req.valid("param").firewall_rule_id };
    const outcome = await deps.sendOnce(c, to, {
      type: "update",
      name: name ?? null,
      description: description ?? null,
    });
    return outcome.ok ? c.json(outcome.reply as FirewallRule, 200) : faultResponse(c, outcome.fault);
  });

  const deleteRoute = createRoute({
    method: "delete",
    path,
    tags,
    summary: "Delete a firewall rule",
    ...rights(deps, "FirewallRuleDelete", atRule),
    request: { params },
    responses: answersNothing("Deleted"),
  });
  app.openapi(deleteRoute, async (c) => {
    const to = { kind: "firewall-rule" as const, id: c.req.valid("param").firewall_rule_id };
    const outcome = await deps.sendOnce(c, to, { type: "delete" });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}
