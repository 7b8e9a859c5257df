// Defines the routes for firewall rules of a VPC (docs/networking.md, "Firewall rules").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findFirewallRule, listFirewallRules } from "../../actors/firewall-rule/reads.ts";
import { addRealized, withRealized } from "../../actors/realization/reads.ts";
import { findVpc } from "../../actors/vpc/reads.ts";
import { atRow, inVpc } from "../auth/resource-scope.ts";
import { page, PageQuery, Uuid } from "../contract/common.ts";
import { isFault } from "../contract/fault.ts";
import { LabelQuery } from "../contract/labels.ts";
import { FirewallRule, FirewallRuleBody, FirewallRulePatch, type Vpc } from "../contract/network.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { answers, answersCreated, jsonBody, rights } from "./answer.ts";
import type { App, Writes } from "./deps.ts";
import { applied, PREFER_WAIT, type Waits } from "./prefer-wait.ts";
import { deleteVpcRecord, NO_PARENT, showRecord } from "./record-routes.ts";

type Deps = Writes & Waits;

const ofVpcId = ({ vpc_id }: { readonly vpc_id: string }) => vpc_id;
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
    request: { query: ofVpc.extend({ label: LabelQuery, ...PageQuery }) },
    responses: answers(page(FirewallRule), "The rules"),
  });
  app.openapi(listRoute, async (c) => {
    const { vpc: vpc_id, label: labels, ...query } = c.req.valid("query");
    const result = await pageById(
      query,
      async (at) => addRealized(deps.kysely, await listFirewallRules(deps.kysely, { vpc_id, labels, ...at }), ofVpcId),
    );
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createRuleRoute = createRoute({
    method: "post",
    path: "/v1/firewall-rules",
    tags,
    summary: "Create a firewall rule",
    description:
      "The rule applies to every NIC in the VPC. Rules with a higher priority are evaluated first. Ports need tcp " +
      "or udp; an ICMP type and code need icmp4 or icmp6. An IPv6 CIDR needs a VPC with an IPv6 block, and an IPv4 " +
      "CIDR a VPC with an IPv4 block.",
    ...rights(deps, "FirewallRuleCreate", inVpc),
    request: { query: ofVpc, headers: PREFER_WAIT, body: jsonBody(FirewallRuleBody) },
    responses: answersCreated(FirewallRule, "The rule"),
  });
  app.openapi(createRuleRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const vpc = await findVpc(deps.kysely, c.req.valid("query").vpc);
    const body = c.req.valid("json");
    const message = vpc === undefined ? NO_PARENT : {
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
      plan: blocksOf(vpc),
    } as const;
    const outcome = await deps.send(c, { kind: "firewall-rule", id: idempotency.id }, message, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return c.json({ ...outcome.reply, realized: await applied(c, deps, outcome.reply.vpc_id) }, 201);
  });

  showRecord(app, deps, {
    ...firewallRule,
    action: "FirewallRuleGet",
    summary: "Show a firewall rule",
    find: withRealized(findFirewallRule, ofVpcId),
  });

  const updateRoute = createRoute({
    method: "patch",
    path: firewallRule.path,
    tags,
    summary: "Change a firewall rule",
    description:
      "Missing fields stay unchanged. Null in a CIDR, a port range or `icmp_type_code` removes that condition. " +
      "The changed rule must be valid as a whole: to change the protocol from tcp to icmp4, also set the ports to " +
      "null.",
    ...rights(deps, "FirewallRuleUpdate", firewallRule.locate),
    request: { params: firewallRule.params, headers: PREFER_WAIT, body: jsonBody(FirewallRulePatch) },
    responses: answers(FirewallRule, "The rule"),
  });
  app.openapi(updateRoute, async (c) => {
    const { firewall_rule_id: id } = c.req.valid("param");
    const { name, description, labels, ...changes } = c.req.valid("json");
    const before = await findFirewallRule(deps.kysely, id);
    const vpc = before && await findVpc(deps.kysely, before.vpc_id);
    const rule = ruleChanges(changes);
    const named = { name: name ?? null, description: description ?? null, labels: labels ?? null };
    // If the rule does not exist, the outcome is 404. A repeated request gets the reply of the first request.
    const change = vpc !== undefined && Object.keys(rule).length > 0 && { rule: { ...rule, plan: blocksOf(vpc) } };
    const message = { type: "update", ...named, ...change } as const;
    const outcome = await deps.sendOnce(c, { kind: "firewall-rule", id }, message);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return c.json({ ...outcome.reply, realized: await applied(c, deps, outcome.reply.vpc_id) }, 200);
  });

  deleteVpcRecord(app, deps, {
    ...firewallRule,
    action: "FirewallRuleDelete",
    summary: "Delete a firewall rule",
    find: findFirewallRule,
  });
}

function blocksOf({ ipv4_block, ipv6_block }: Vpc): Pick<Vpc, "ipv4_block" | "ipv6_block"> {
  return { ipv4_block, ipv6_block };
}

type Changes = Omit<FirewallRulePatch, "name" | "description" | "labels">;
type Columns = Pick<FirewallRule, Exclude<keyof Changes, undefined>>;

/** Returns the columns that a body changes. If a column cannot be null, a null in the body leaves it unchanged. */
function ruleChanges({ priority, direction, action, protocol, ...conditions }: Changes) {
  const required = Object.entries({ priority, direction, action, protocol }).filter(([, value]) => value != null);
  const optional = Object.entries(conditions).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...required, ...optional]) as Partial<Columns>;
}
