// Firewall rules of a VPC (docs/networking.md, "Firewall rules").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findFirewallRule, listFirewallRules } from "../../actors/firewall-rule/reads.ts";
import { findVpc } from "../../actors/vpc/reads.ts";
import { atRow, inVpc } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { isFault, NOT_FOUND } from "../contract/fault.ts";
import { FirewallRule, FirewallRuleBody } from "../contract/network.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, Writes } from "./deps.ts";
import { deleteRecord, renameRecord, showRecord } from "./record-routes.ts";

type Deps = Writes;

const tags = ["Networking"];
const ofVpc = z.object({ vpc: Uuid, project: Uuid.optional() });

const firewallRule = {
  kind: "firewall-rule",
  tags,
  path: "/v1/firewall-rules/{firewall_rule_id}",
  params: z.object({ firewall_rule_id: Uuid }),
  id: "firewall_rule_id",
  schema: FirewallRule,
  described: "The rule",
  locate: atRow("firewall_rule", "firewall_rule_id"),
} as const;

export function firewallRuleRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v1/firewall-rules",
    tags,
    summary: "List the firewall rules of a VPC, oldest first",
    description: "404 if `project` is not the project of the VPC.",
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
    summary: "Create a firewall rule",
    description:
      "The rule applies to every NIC in the VPC. Rules with a higher priority are evaluated first. Ports need tcp " +
      "or udp; an ICMP type and code need icmp4 or icmp6. The VPC must have a block of the family of each network.",
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
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  showRecord(app, deps, {
    ...firewallRule,
    action: "FirewallRuleGet",
    summary: "Show a firewall rule",
    find: findFirewallRule,
  });

  renameRecord(app, deps, {
    ...firewallRule,
    action: "FirewallRuleUpdate",
    summary: "Rename or describe a firewall rule",
  });

  deleteRecord(app, deps, {
    ...firewallRule,
    action: "FirewallRuleDelete",
    summary: "Delete a firewall rule",
  });
}
