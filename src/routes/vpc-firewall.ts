// Defines the routes for the firewall rules of a VPC as one set (docs/networking.md, "Firewall rules").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findFirewallSet } from "../../actors/firewall-rule/reads.ts";
import { addRealized } from "../../actors/realization/reads.ts";
import { findVpc } from "../../actors/vpc/reads.ts";
import { atRow } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { type Fault, fault, FIREWALL_RULES_CHANGED, isFault, NOT_FOUND } from "../contract/fault.ts";
import { FirewallCheck, FirewallCheckQuery, FirewallRuleSet, FirewallRuleSetBody } from "../contract/firewall.ts";
import { faultResponse } from "../http/fault-status.ts";
import { decideAgain } from "../services/decide-again.ts";
import { firewallDifference } from "../services/firewall-set.ts";
import { checkFirewall } from "../services/firewall-check.ts";
import { answers, jsonBody, refuses, rights } from "./answer.ts";
import type { App, Ctx, RouteDeps, Writes } from "./deps.ts";
import { applied, PREFER_WAIT, type Waits } from "./prefer-wait.ts";

type Deps = Writes & Pick<RouteDeps, "mint"> & Waits;

const tags = ["Networking"];
const params = z.object({ vpc_id: Uuid });
const path = "/v1/vpcs/{vpc_id}/firewall-rules";
const HEADERS = PREFER_WAIT.extend({
  "If-Match": z.string().optional().describe("The ETag of the set that the request replaces, or * for any set"),
});
/** The maximum number of tries of a replacement, if other requests change the rules at the same time. */
const TRIES_MAX = 5;
const CHANGES_MEANWHILE = new Set([FIREWALL_RULES_CHANGED.error_code, NOT_FOUND.error_code]);

export function vpcFirewallRoutes(app: App, deps: Deps): void {
  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show the firewall rules of a VPC as one set, in the order of evaluation",
    description:
      "The ETag changes with every change of a rule. Send it as If-Match with the PUT that replaces the set.",
    ...rights(deps, "FirewallRuleList", atRow("vpc", "vpc_id")),
    request: { params },
    responses: answers(FirewallRuleSet, "The set"),
  });
  app.openapi(showRoute, async (c) => {
    const set = await setOf(c, deps, c.req.valid("param").vpc_id);
    return set === null ? faultResponse(c, NOT_FOUND) : c.json(set, 200);
  });

  const replaceRoute = createRoute({
    method: "put",
    path,
    tags,
    summary: "Replace all firewall rules of a VPC in one commit",
    description:
      "A rule whose name is in the set keeps its id; the other rules are deleted. If one rule is refused, nothing " +
      "is changed. 412 if If-Match names another version of the set than the current one. Without If-Match, the " +
      "last writer wins. The answer is the current set, even to a repeated request.",
    ...rights(deps, "FirewallRuleReplace", atRow("vpc", "vpc_id")),
    ...refuses(412),
    request: { params, headers: HEADERS, body: jsonBody(FirewallRuleSetBody) },
    responses: answers(FirewallRuleSet, "The set"),
  });
  app.openapi(replaceRoute, async (c) => {
    const { vpc_id } = c.req.valid("param");
    const { items } = c.req.valid("json");
    const expected = expectedTag(c.req.header("if-match"));
    if (expected !== null && typeof expected === "object") return faultResponse(c, expected);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const again = {
      tries_max: TRIES_MAX,
      isStale: ({ error_code }: Fault) => CHANGES_MEANWHILE.has(error_code),
    };
    const outcome = await decideAgain(idempotency, again, async (at) => {
      const [vpc, set] = [await findVpc(deps.kysely, vpc_id), await findFirewallSet(deps.kysely, vpc_id)];
      if (vpc === undefined || set === null) return { ok: false as const, fault: NOT_FOUND };
      const newId = (name: string) => deps.mint.idFrom(at.id, `rule ${name}`);
      const difference = firewallDifference(vpc, { rules: set.rules, items, newId });
      if (isFault(difference)) return { ok: false as const, fault: difference };
      const message = { type: "replace_firewall", expected, current: set.tag, ...difference } as const;
      return await deps.send(c, { kind: "vpc", id: vpc_id }, message, at);
    });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    await applied(c, deps, vpc_id);
    const set = await setOf(c, deps, vpc_id);
    return set === null ? faultResponse(c, NOT_FOUND) : c.json(set, 200);
  });

  const checkRoute = createRoute({
    method: "get",
    path: "/v1/vpcs/{vpc_id}/firewall-check",
    tags,
    summary: "Check whether the firewall of a VPC passes a packet, and which rule decides",
    description:
      "Checks the first packet of a connection against the current rules; the replies of an allowed connection " +
      "always pass. The field `realized` of a rule shows which nodes have applied the rule. 400 if neither address " +
      "is in the blocks of the VPC.",
    ...rights(deps, "FirewallRuleList", atRow("vpc", "vpc_id")),
    request: { params, query: FirewallCheckQuery },
    responses: answers(FirewallCheck, "The decision"),
  });
  app.openapi(checkRoute, async (c) => {
    const { vpc_id } = c.req.valid("param");
    const [vpc, set] = [await findVpc(deps.kysely, vpc_id), await findFirewallSet(deps.kysely, vpc_id)];
    if (vpc === undefined || set === null) return faultResponse(c, NOT_FOUND);
    const rules = await addRealized(deps.kysely, set.rules, (rule) => rule.vpc_id);
    const check = checkFirewall(vpc, rules, c.req.valid("query"));
    return isFault(check) ? faultResponse(c, check) : c.json(check, 200);
  });
}

/** Reads the rules as one set, and adds the ETag header to the answer. Returns null if the VPC does not exist. */
async function setOf(c: Ctx, deps: Deps, vpc_id: string): Promise<FirewallRuleSet | null> {
  const set = await findFirewallSet(deps.kysely, vpc_id);
  if (set === null) return null;
  c.header("etag", `"${set.tag}"`);
  return { items: await addRealized(deps.kysely, set.rules, (rule) => rule.vpc_id) };
}

/** Returns the ETag in If-Match, or null if any ETag is accepted. Returns a Fault if the header is not valid. */
function expectedTag(header: string | undefined): string | null | Fault {
  if (header === undefined || header.trim() === "*") return null;
  return /^"([0-9a-f]{32})"$/.exec(header.trim())?.[1] ?? NO_SUCH_TAG;
}

const NO_SUCH_TAG = fault("precondition_failed", "If-Match: is not an ETag of firewall rules");
