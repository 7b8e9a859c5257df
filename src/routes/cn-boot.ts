// Defines the routes with which operators manage boot records (docs/booting.md, "Boot records").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findBootClients, findBootRecord, listBootRecords } from "../../actors/boot-record/reads.ts";
import { findDeclarations } from "../../actors/boot-roster/reads.ts";
import type { BootRecordMessage } from "../../actors/boot-record/messages.ts";
import type { BootRecordState } from "../../actors/boot-record/state.ts";
import { bootRecordView } from "../../actors/boot-record/view.ts";
import { listStaged } from "../../actors/staging/reads.ts";
import type { Outcome } from "../../actors/engine/types.ts";
import type { Action } from "../auth/policy.ts";
import { AssignBody, BootArguments, BootRecord, BootRecordShown } from "../contract/boot.ts";
import { page, PageQuery } from "../contract/common.ts";
import { BOOT_RECORD_STATES } from "../contract/enums.ts";
import { badRequest, type Fault, isFault, NOT_FOUND, POLICY_CHANGED } from "../contract/fault.ts";
import { faultResponse } from "../http/fault-status.ts";
import { resultsPage, rowsToFetch } from "../http/page.ts";
import { canonicalMac, isMulticastMac } from "../lib/net/mac.ts";
import { decodePageToken, FOREIGN_PAGE_TOKEN } from "../lib/ids/page-token.ts";
import { answers, jsonBody, rights } from "./answer.ts";
import { findBootArguments } from "../services/boot-arguments.ts";
import { lookUp } from "../services/boot-lookup.ts";
import { decideAgain } from "../services/decide-again.ts";
import type { App, Ctx, IdempotencyClaim, Writes } from "./deps.ts";

type Deps = Writes;

const tags = ["Boot records"];
type PlainAction = Extract<BootRecordMessage, { type: "reactivate" | "decommission" | "rescue" }>;
/** The maximum number of tries of a decision, if the boot policy changes before each commit. */
const POLICY_TRIES_MAX = 5;

/** A MAC in any notation with 12 hex digits, converted to the canonical notation. */
export const Mac = z.string().max(32).transform((text, context) => {
  const mac = canonicalMac(text);
  if (mac !== null && !isMulticastMac(mac)) return mac;
  context.addIssue({
    code: "custom",
    message: "must be 12 hex digits, with or without separators, of one network port",
  });
  return z.NEVER;
}).pipe(z.string());

const MacParam = z.object({ mac: Mac });

export function cnBootRoutes(app: App, deps: Deps): void {
  const listRoute = createRoute({
    method: "get",
    path: "/v2/cn-boot",
    tags,
    summary: "List boot records, ordered by MAC",
    ...rights(deps, "CnBootList"),
    request: {
      query: z.object({
        state: z.enum(BOOT_RECORD_STATES).optional(),
        declared: z.literal("true").optional().describe("Only the records of machines in the roster, by boot MAC"),
        ...PageQuery,
      }),
    },
    responses: answers(page(BootRecordShown), "The records"),
  });
  app.openapi(listRoute, async (c) => {
    const { state, declared, limit, page_token } = c.req.valid("query");
    const cursor = page_token === undefined ? undefined : MacParam.safeParse(decodePageToken(page_token));
    if (cursor?.success === false) return faultResponse(c, FOREIGN_PAGE_TOKEN);
    const macs = declared && [...(await findDeclarations(deps.kysely)).byBootMac.keys()];
    const at = { after: cursor?.data.mac, rows: rowsToFetch(limit) };
    const rows = await listBootRecords(deps.kysely, { state, macs, ...at });
    const [clients, argumentsOf] = await Promise.all([
      findBootClients(deps.kysely, rows.map(({ mac }) => mac)),
      findBootArguments(deps.kysely, rows),
    ]);
    const result = resultsPage({
      rows,
      limit,
      view: (row) => ({
        ...bootRecordView(row as BootRecordState),
        boot_arguments: argumentsOf(row.mac),
        client: clients.get(row.mac) ?? null,
      }),
      cursorOf: (row) => ({ mac: row.mac }),
      narrow: "state=",
    });
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path: "/v2/cn-boot/{mac}",
    tags,
    summary: "Show one boot record",
    ...rights(deps, "CnBootList"),
    request: { params: MacParam },
    responses: answers(BootRecordShown, "The record"),
  });
  app.openapi(showRoute, async (c) => {
    const { mac } = c.req.valid("param");
    const [row, clients] = await Promise.all([findBootRecord(deps.byKey, mac), findBootClients(deps.kysely, [mac])]);
    if (row === undefined) return faultResponse(c, NOT_FOUND);
    const boot_arguments = (await findBootArguments(deps.kysely, [row]))(mac);
    return c.json(
      { ...bootRecordView(row as BootRecordState), boot_arguments, client: clients.get(mac) ?? null },
      200,
    );
  });

  const authorizeRoute = createRoute({
    method: "post",
    path: "/v2/cn-boot/{mac}/authorize",
    tags,
    summary: "Authorize a machine to enroll",
    description:
      "Reserves the lowest free address of the machine's network for the record: the admin network, or the network " +
      "of the machine's rack. Creates the record of an unknown MAC. A record that is already enrolling is returned " +
      "unchanged.",
    ...rights(deps, "CnBootAuthorize"),
    request: { params: MacParam },
    responses: answers(BootRecord, "The record, enrolling"),
  });
  app.openapi(authorizeRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const { mac } = c.req.valid("param");
    const outcome = await underPolicy(idempotency, async (at) => {
      const { enroll: _enroll, ...found } = await lookUp(deps.kysely, mac);
      return await deps.send(
        c,
        { kind: "boot-record", id: mac },
        { type: "authorize", mac, by: provenanceOf(c), ...found },
        at,
      );
    });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  plainAction("reactivate", "CnBootReactivate", "Allow a decommissioned machine to be discovered again", {
    type: "reactivate",
  });
  plainAction("decommission", "CnBootDecommission", "Stop serving a machine that is not bound to a node in use", {
    type: "decommission",
  });
  plainAction("rescue/clear", "CnBootRescue", "End rescue mode", { type: "rescue", on: false });

  const rescueRoute = createRoute({
    method: "post",
    path: "/v2/cn-boot/{mac}/rescue",
    tags,
    summary: "Boot the machine into rescue mode, in any state",
    description:
      "A record without an address gets the lowest free address of the machine's network, because booters serve " +
      "only machines with an address. 409 if the machine has no network or no address is free.",
    ...rights(deps, "CnBootRescue"),
    request: { params: MacParam },
    responses: answers(BootRecord, "The record"),
  });
  app.openapi(rescueRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const { mac } = c.req.valid("param");
    const outcome = await underPolicy(idempotency, async (at) => {
      const { enroll: _enroll, ...found } = await lookUp(deps.kysely, mac);
      return await deps.send(c, { kind: "boot-record", id: mac }, { type: "rescue", on: true, ...found }, at);
    });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  function plainAction(verb: string, action: Action, summary: string, message: PlainAction): void {
    const route = createRoute({
      method: "post",
      path: `/v2/cn-boot/{mac}/${verb}`,
      tags,
      summary,
      ...rights(deps, action),
      request: { params: MacParam },
      responses: answers(BootRecord, "The record"),
    });
    app.openapi(route, async (c) => {
      const { mac } = c.req.valid("param");
      const outcome = await deps.sendOnce(c, { kind: "boot-record", id: mac }, message);
      return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
    });
  }

  const argumentsRoute = createRoute({
    method: "put",
    path: "/v2/cn-boot/{mac}/arguments",
    tags,
    summary: "Set the kernel arguments and the console of a machine",
    description:
      "Replaces both the arguments and the console, from the next netboot on. The boot policy has arguments and a " +
      "console for labels of nodes. The arguments of the policy come before the arguments of the machine; the " +
      "console of the machine replaces the console of the policy. A rescue boot uses only the console.",
    ...rights(deps, "CnBootArguments"),
    request: { params: MacParam, body: jsonBody(BootArguments) },
    responses: answers(BootRecord, "The record"),
  });
  app.openapi(argumentsRoute, async (c) => {
    const { mac } = c.req.valid("param");
    const message = { type: "set_arguments" as const, boot_arguments: c.req.valid("json") };
    const outcome = await deps.sendOnce(c, { kind: "boot-record", id: mac }, message);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const assignRoute = createRoute({
    method: "post",
    path: "/v2/cn-boot/{mac}/assign",
    tags,
    summary: "Set the platform image of the next netboot",
    ...rights(deps, "CnBootAssign"),
    request: { params: MacParam, body: jsonBody(AssignBody) },
    responses: answers(BootRecord, "The record"),
  });
  app.openapi(assignRoute, async (c) => {
    const { mac } = c.req.valid("param");
    const { platform_image } = c.req.valid("json");
    const staged = await listStaged(deps.kysely);
    if (!staged.some(({ stamp }) => stamp === platform_image)) {
      return faultResponse(c, badRequest(`platform_image: ${platform_image} is not staged on any booter`));
    }
    const outcome = await deps.sendOnce(c, { kind: "boot-record", id: mac }, { type: "assign", platform_image });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });
}

/**
 * Returns the id of the request's key or, without a key, of the request's user. The id becomes a part of the boot
 * record's provenance.
 */
export function provenanceOf(c: Ctx): string {
  const principal = c.get("principal");
  return principal.kind === "user" ? principal.key_id ?? principal.user_id : "anonymous";
}

/** Retries a decision if the boot policy changed between the read and the commit, up to POLICY_TRIES_MAX tries. */
export function underPolicy<R>(
  idempotency: IdempotencyClaim | undefined,
  decide: (idempotency: IdempotencyClaim | undefined) => Promise<Outcome<R>>,
): Promise<Outcome<R>> {
  const isStale = ({ error_code }: Fault) => error_code === POLICY_CHANGED.error_code;
  return decideAgain(idempotency, { tries_max: POLICY_TRIES_MAX, isStale }, decide);
}
