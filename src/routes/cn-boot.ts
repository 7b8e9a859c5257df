// Boot records for operators. Document 2, Boot record; document 4, 1.17.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findBootRecord, listBootRecords } from "../../actors/boot-record/reads.ts";
import type { BootRecordMessage } from "../../actors/boot-record/messages.ts";
import type { BootRecordState } from "../../actors/boot-record/state.ts";
import { bootRecordView } from "../../actors/boot-record/view.ts";
import { listStaged } from "../../actors/staging/reads.ts";
import type { Outcome } from "../../actors/engine/types.ts";
import type { Action } from "../auth/policy.ts";
import { AssignBody, BootRecord } from "../contract/boot.ts";
import { page, PageQuery } from "../contract/common.ts";
import { BOOT_RECORD_STATES } from "../contract/enums.ts";
import { badRequest, type Fault, isFault, NOT_FOUND, POLICY_CHANGED } from "../contract/fault.ts";
import { faultResponse } from "../http/fault-status.ts";
import { resultsPage, rowsToFetch } from "../http/page.ts";
import { canonicalMac, isMulticastMac } from "../lib/net/mac.ts";
import { decodePageToken } from "../lib/ids/page-token.ts";
import { answers, jsonBody, rights } from "./answer.ts";
import { lookUp } from "../services/boot-lookup.ts";
import { decideAgain } from "../services/decide-again.ts";
import type { App, Ctx, IdempotencyClaim, Writes } from "./deps.ts";

type Deps = Writes;

const tags = ["Boot records"];
type PlainAction = Extract<BootRecordMessage, { type: "reactivate" | "decommission" | "rescue" }>;
/** How often a decision is made again after the boot policy changed under it. */
const POLICY_TRIES_MAX = 5;

/** Any 12-hex-digit form, in the path or a body; the canonical one comes out. */
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
    summary: "List boot records in the order of their MACs",
    ...rights(deps, "CnBootList"),
    request: { query: z.object({ state: z.enum(BOOT_RECORD_STATES).optional(), ...PageQuery }) },
    responses: answers(page(BootRecord), "The records"),
  });
  app.openapi(listRoute, async (c) => {
    const { state, limit, page_token } = c.req.valid("query");
    const cursor = page_token === undefined ? undefined : z.object({ mac: z.string() })
      .safeParse(decodePageToken(page_token));
    if (cursor?.success === false) return faultResponse(c, badRequest("page_token: is not one of this list"));
    const rows = await listBootRecords(deps.kysely, { state, after: cursor?.data.mac, rows: rowsToFetch(limit) });
    const result = resultsPage({
      rows,
      limit,
      view: (row) => bootRecordView(row as BootRecordState),
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
    responses: answers(BootRecord, "The record"),
  });
  app.openapi(showRoute, async (c) => {
    const row = await findBootRecord(deps.kysely, c.req.valid("param").mac);
    return row === undefined ? faultResponse(c, NOT_FOUND) : c.json(bootRecordView(row as BootRecordState), 200);
  });

  const authorizeRoute = createRoute({
    method: "post",
    path: "/v2/cn-boot/{mac}/authorize",
    tags,
    summary: "Let a machine enrol",
    description:
      "Reserves the lowest free address of the admin network on the record. A MAC that was never seen gets " +
      "a record; one that enrols already is answered as it is.",
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
        { type: "authorize", mac, by: callerOf(c), ...found },
        at,
      );
    });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  plainAction("reactivate", "CnBootReactivate", "Let a decommissioned machine be discovered again", {
    type: "reactivate",
  });
  plainAction("decommission", "CnBootDecommission", "Stop serving a machine that no node in use is bound to", {
    type: "decommission",
  });
  plainAction("rescue/clear", "CnBootRescue", "End rescue", { type: "rescue", on: false });

  const rescueRoute = createRoute({
    method: "post",
    path: "/v2/cn-boot/{mac}/rescue",
    tags,
    summary: "Boot the machine into rescue, whatever its state",
    description:
      "A record without an address gets the lowest free one of the admin network and keeps it, since the booter serves " +
      "a machine only at its address. 409 when there is no admin network, or no free address.",
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

/** The key that acts, for a record's provenance. */
export function callerOf(c: Ctx): string {
  const principal = c.get("principal");
  return principal.kind === "user" ? principal.key_id ?? principal.user_id : "anonymous";
}

/** Decides again while the boot policy changes under the decision. */
export function underPolicy<R>(
  idempotency: IdempotencyClaim | undefined,
  decide: (idempotency: IdempotencyClaim | undefined) => Promise<Outcome<R>>,
): Promise<Outcome<R>> {
  const isStale = ({ error_code }: Fault) => error_code === POLICY_CHANGED.error_code;
  return decideAgain(idempotency, { tries_max: POLICY_TRIES_MAX, isStale }, decide);
}
