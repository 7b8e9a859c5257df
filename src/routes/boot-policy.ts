// Defines the routes for the boot policy, the declared roster and staged platform images (docs/booting.md, "Boot
// policy").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findPolicy } from "../../actors/boot-policy/reads.ts";
import { BOOT_POLICY } from "../../actors/boot-policy/transition.ts";
import { findBootRecords } from "../../actors/boot-record/reads.ts";
import { findDeclarations } from "../../actors/boot-roster/reads.ts";
import { BOOT_ROSTER } from "../../actors/boot-roster/transition.ts";
import { listStaged } from "../../actors/staging/reads.ts";
import { BootPolicy, Convergence, Roster, StagedBody, StagedImage } from "../contract/boot.ts";
import { page } from "../contract/common.ts";
import { badRequest, type Fault, fault, isFault } from "../contract/fault.ts";
import type { BootRecordRow } from "../db/tables.ts";
import { faultResponse } from "../http/fault-status.ts";
import { rosterTag } from "../lib/crypto/roster-tag.ts";
import { canonicalJson } from "../lib/text/canonical-json.ts";
import { canonicalMac, isMulticastMac } from "../lib/net/mac.ts";
import { answers, jsonBody, refuses, REPEATABLE, rights } from "./answer.ts";
import { spanOf } from "../services/admin-network.ts";
import { declaredOf } from "../services/boot-lookup.ts";
import { provenanceOf, underPolicy } from "./cn-boot.ts";
import type { App, Writes } from "./deps.ts";

type Deps = Writes;

const tags = ["Boot policy"];
const IF_MATCH = z.object({
  "If-Match": z.string().optional().describe("The ETag of the policy that the request replaces, or * for any policy"),
});

const ROSTER_IF_MATCH = z.object({
  "If-Match": z.string().optional().describe("The ETag of the roster that the request replaces, or * for any roster"),
});

/**
 * The number of boot records to which the declared networking is applied at the same time. They share commits, so
 * 10,000 records take only seconds.
 */
const CONVERGED_AT_ONCE = 100;

export function bootPolicyRoutes(app: App, deps: Deps): void {
  const showRoute = createRoute({
    method: "get",
    path: "/v2/cn-boot-policy",
    tags,
    summary: "Show the boot policy",
    description: "The ETag identifies this version. Send it as If-Match with the PUT that changes the policy.",
    ...rights(deps, "CnBootPolicyGet"),
    responses: answers(BootPolicy, "The policy"),
  });
  app.openapi(showRoute, async (c) => {
    const { policy, version } = await findPolicy(deps.kysely);
    c.header("etag", etagOf(version));
    return c.json(policy, 200);
  });

  const putRoute = createRoute({
    method: "put",
    path: "/v2/cn-boot-policy",
    tags,
    summary: "Replace the boot policy",
    ...refuses(412),
    description:
      "The body is the whole policy: 400 for a missing field. Only `rack_networks` and `label_arguments` may be " +
      "missing; they are then empty. `enrollment_pi` and `admin_network` may be null. 412 if If-Match names another " +
      "version than the current one. Without If-Match, the last writer wins. Records keep their addresses.",
    ...rights(deps, "CnBootPolicySet"),
    request: { headers: IF_MATCH, body: jsonBody(BootPolicy) },
    responses: answers(BootPolicy, "The policy in force"),
  });
  app.openapi(putRoute, async (c) => {
    const policy = c.req.valid("json");
    const span = spanOf(policy);
    if ("error" in span) return faultResponse(c, badRequest(span.error));
    const expected = expectedVersion(c.req.header("if-match"));
    if (expected !== null && typeof expected === "object") return faultResponse(c, expected);
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const outcome = await underPolicy(idempotency, async (at) => {
      const { version } = await findPolicy(deps.kysely);
      const message = { type: "put", policy, span: span.span, expected, current: version } as const;
      return await deps.send(c, BOOT_POLICY, message, at);
    });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    const reply = outcome.reply;
    c.header("etag", etagOf(reply.version));
    return c.json(reply.policy, 200);
  });

  const rosterRoute = createRoute({
    method: "get",
    path: "/v2/cn-boot-roster",
    tags,
    summary: "Show the declared roster",
    description: "The ETag identifies this roster. Send it as If-Match with the PUT that replaces the roster.",
    ...rights(deps, "CnBootRosterGet"),
    responses: answers(Roster, "The roster"),
  });
  app.openapi(rosterRoute, async (c) => {
    const { roster, tag } = await findDeclarations(deps.kysely);
    c.header("etag", rosterEtag(tag));
    return c.json(roster, 200);
  });

  const putRosterRoute = createRoute({
    method: "put",
    path: "/v2/cn-boot-roster",
    tags,
    summary: "Replace the declared roster",
    ...refuses(412),
    description:
      "The roster applies to records that enroll from now on. POST /v2/cn-boot-roster/converge applies it to older " +
      "records. 412 if If-Match names another roster than the current one. Without If-Match, the last writer wins.",
    ...rights(deps, "CnBootRosterSet"),
    request: { headers: ROSTER_IF_MATCH, body: jsonBody(Roster) },
    responses: answers(Roster, "The roster in force"),
  });
  app.openapi(putRosterRoute, async (c) => {
    const canonical = canonicalRoster(c.req.valid("json"));
    if ("error" in canonical) return faultResponse(c, badRequest(canonical.error));
    const expected = expectedRoster(c.req.header("if-match"));
    if (expected !== null && typeof expected === "object") return faultResponse(c, expected);
    const outcome = await deps.sendOnce(c, BOOT_ROSTER, { type: "set", entries: canonical.roster, expected });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    c.header("etag", rosterEtag(rosterTag(outcome.reply)));
    return c.json(outcome.reply, 200);
  });

  const convergeRoute = createRoute({
    method: "post",
    path: "/v2/cn-boot-roster/converge",
    tags,
    summary: "Apply the declared networking to older records",
    description: "A machine gets the declared networking at its next netboot.",
    ...rights(deps, "CnBootRosterSet"),
    ...REPEATABLE,
    responses: answers(Convergence, "The changes"),
  });
  app.openapi(convergeRoute, async (c) => {
    const declarations = await findDeclarations(deps.kysely);
    const macs = [...declarations.byBootMac.keys()];
    const records = await findBootRecords(deps.kysely, macs);
    const unchanged: string[] = [];
    const converged: string[] = [];
    for (const mac of macs) {
      const record = records.get(mac);
      if (record === undefined) continue;
      (agrees(record, declaredOf(declarations, mac)) ? unchanged : converged).push(mac);
    }
    for (let at = 0; at < converged.length; at += CONVERGED_AT_ONCE) {
      const outcomes = await Promise.all(
        converged.slice(at, at + CONVERGED_AT_ONCE).map((mac) => {
          const message = { type: "converge", declared: declaredOf(declarations, mac) } as const;
          return deps.send(c, { kind: "boot-record", id: mac }, message);
        }),
      );
      const refused = outcomes.find((outcome) => !outcome.ok);
      if (refused?.ok === false) return faultResponse(c, refused.fault);
    }
    return c.json({ converged, unchanged, unknown: macs.filter((mac) => !records.has(mac)) }, 200);
  });

  const stagedRoute = createRoute({
    method: "get",
    path: "/v2/platform-images",
    tags,
    summary: "List the platform images that booters have staged",
    ...rights(deps, "PlatformImageList"),
    responses: answers(page(StagedImage), "The images"),
  });
  app.openapi(stagedRoute, async (c) => c.json({ items: await listStaged(deps.kysely) }, 200));

  const stageRoute = createRoute({
    method: "put",
    path: "/v2/platform-images",
    tags,
    summary: "Replace the staged images of the calling booter",
    ...rights(deps, "PlatformImageStage"),
    request: { body: jsonBody(StagedBody) },
    responses: answers(page(StagedImage), "The images of all booters"),
  });
  app.openapi(stageRoute, async (c) => {
    const staged_by = provenanceOf(c);
    const { stamps, kinds } = c.req.valid("json");
    const unknown = Object.keys(kinds).find((stamp) => !stamps.includes(stamp));
    if (unknown !== undefined) return faultResponse(c, badRequest(`kinds: ${unknown} is not in stamps`));
    const staging = { kind: "staging", id: staged_by } as const;
    const outcome = await deps.sendOnce(c, staging, { type: "set", staged_by, stamps, kinds });
    return outcome.ok ? c.json({ items: await listStaged(deps.kysely) }, 200) : faultResponse(c, outcome.fault);
  });
}

function etagOf(version: number): string {
  return `"boot-policy-${version}"`;
}

/** Returns the version that If-Match requires; null if it accepts any version; a Fault if its text is not valid. */
function expectedVersion(header: string | undefined): number | null | Fault {
  if (header === undefined || header.trim() === "*") return null;
  const found = /^"boot-policy-(\d{1,15})"$/.exec(header.trim());
  return found === null ? NO_SUCH_VERSION : Number(found[1]);
}

const NO_SUCH_VERSION = fault("precondition_failed", "If-Match: is not an ETag of the boot policy");

function rosterEtag(tag: string): string {
  return `"boot-roster-${tag}"`;
}

/** Returns the tag that If-Match requires; null if it accepts any roster; a Fault if its text is not valid. */
function expectedRoster(header: string | undefined): string | null | Fault {
  if (header === undefined || header.trim() === "*") return null;
  return /^"boot-roster-([0-9a-f]{32})"$/.exec(header.trim())?.[1] ?? NO_SUCH_ROSTER;
}

const NO_SUCH_ROSTER = fault("precondition_failed", "If-Match: is not an ETag of the roster");

/** Returns the roster with canonical MACs, or an error text if a MAC is not valid or in two entries. */
function canonicalRoster(entries: Roster): { readonly roster: Roster } | { readonly error: string } {
  const seen = new Set<string>();
  const roster: Roster = [];
  for (const [index, entry] of entries.entries()) {
    const macs = entry.macs.map(canonicalMac);
    const members = entry.aggregate?.macs.map(canonicalMac) ?? [];
    if ([...macs, ...members].some((mac) => mac === null || isMulticastMac(mac))) {
      return { error: `[${index}].macs: every MAC must be 12 hex digits of one network port` };
    }
    for (const mac of new Set([...macs, ...members])) {
      if (mac === null) continue;
      if (seen.has(mac)) return { error: `[${index}].macs: ${mac} is declared twice` };
      seen.add(mac);
    }
    const aggregate = entry.aggregate === undefined ? undefined : { ...entry.aggregate, macs: members as string[] };
    roster.push({ ...entry, macs: macs as string[], aggregate });
  }
  return { roster };
}

function agrees(record: BootRecordRow, declared: ReturnType<typeof declaredOf>): boolean {
  if (record.hostname !== declared.hostname) return false;
  if (record.networking === null) return true;
  const { hostname, nic_tags, aggregate } = record.networking;
  const held = { hostname, nic_tags, aggregate: aggregate ?? null };
  return canonicalJson(held) === canonicalJson({ ...declared, aggregate: declared.aggregate ?? null });
}
