// Defines routes that many kinds of records share. They show, rename and delete the record whose id is in the path.
import { createRoute } from "@hono/zod-openapi";
import type { z } from "zod";
import type { Find } from "../../actors/record/reads.ts";
import type { Messages } from "../../actors/registry.ts";
import type { Action } from "../auth/policy.ts";
import type { Locate } from "../auth/resource-scope.ts";
import { NOT_FOUND } from "../contract/fault.ts";
import { LabeledPatch, NamedPatch } from "../contract/tenancy.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, answersNothing, jsonBody, rights } from "./answer.ts";
import type { App, Ctx, Writes } from "./deps.ts";
import { applied, PREFER_WAIT, prefersWait, type Waits } from "./prefer-wait.ts";

type Deps = Writes;

type KindsThatTake<M> = { [K in keyof Messages]: M extends Messages[K] ? K : never }[keyof Messages];
type RenamedKind = KindsThatTake<{ readonly type: "update"; readonly name: null; readonly description: null }>;
type DeletedKind = KindsThatTake<{ readonly type: "delete" }>;

/** The properties that the routes of one kind of record share. */
export type RecordPath<K extends keyof Messages> = {
  readonly kind: K;
  readonly tags: string[];
  readonly path: string;
  readonly params: z.ZodObject;
  /** The path parameter with the id of the record. */
  readonly id: string;
  /** The schema of the record, and the record's description in the API, such as `The project`. */
  readonly schema: z.ZodType;
  readonly described: string;
  readonly locate?: Locate;
  /** If set, the route that renames a record also changes its labels. */
  readonly has_labels?: true;
};

/** The action of one route, and its texts in the API description. */
type Texts = { readonly action: Action; readonly summary: string; readonly description?: string };

type Shown = { readonly find: Pick<Find<object>, "many"> };

export function showRecord(app: App, deps: Deps, of: RecordPath<keyof Messages> & Texts & Shown): void {
  const route = createRoute({
    method: "get",
    path: of.path,
    tags: of.tags,
    summary: of.summary,
    ...(of.description !== undefined && { description: of.description }),
    ...rights(deps, of.action, of.locate),
    request: { params: of.params },
    responses: answers(of.schema, of.described),
  });
  app.openapi(route, async (c) => {
    const found = await deps.findOne(of.find, idOf(c, of));
    return found === null ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });
}

export function renameRecord(app: App, deps: Deps, of: RecordPath<RenamedKind> & Texts): void {
  const route = createRoute({
    method: "patch",
    path: of.path,
    tags: of.tags,
    summary: of.summary,
    ...(of.description !== undefined && { description: of.description }),
    ...rights(deps, of.action, of.locate),
    request: { params: of.params, body: jsonBody(of.has_labels ? LabeledPatch : NamedPatch) },
    responses: answers(of.schema, of.described),
  });
  app.openapi(route, async (c) => {
    const { name, description, labels }: LabeledPatch = c.req.valid("json");
    const message = {
      type: "update",
      name: name ?? null,
      description: description ?? null,
      ...of.has_labels && { labels: labels ?? null },
    } as const;
    const outcome = await deps.sendOnce(c, { kind: of.kind, id: idOf(c, of) }, message);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });
}

/**
 * The message that a create sends if the parent of the new record does not exist. The new id has no record, so the
 * outcome is 404, or the first reply if the request is repeated.
 */
export const NO_PARENT = { type: "update", name: null, description: null } as const;

/** A route that deletes a record and thereby changes a VPC. `find` finds the record with its VPC. */
type OfVpc = { readonly find: Pick<Find<{ readonly vpc_id: string }>, "many"> };

/**
 * Like deleteRecord, for an object of a VPC. With `Prefer: wait=N`, the request waits until the nodes have removed the
 * object.
 */
export function deleteVpcRecord(
  app: App,
  deps: Deps & Waits,
  of: RecordPath<DeletedKind> & Texts & OfVpc,
): void {
  const route = createRoute({
    method: "delete",
    path: of.path,
    tags: of.tags,
    summary: of.summary,
    ...(of.description !== undefined && { description: of.description }),
    ...rights(deps, of.action, of.locate),
    request: { params: of.params, headers: PREFER_WAIT },
    responses: answersNothing("Deleted"),
  });
  app.openapi(route, async (c) => {
    const before = prefersWait(c) ? await deps.findOne(of.find, idOf(c, of)) : null;
    const outcome = await deps.sendOnce(c, { kind: of.kind, id: idOf(c, of) }, { type: "delete" });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    if (before !== null) await applied(c, deps, before.vpc_id);
    return c.body(null, 204);
  });
}

export function deleteRecord(app: App, deps: Deps, of: RecordPath<DeletedKind> & Texts): void {
  const route = createRoute({
    method: "delete",
    path: of.path,
    tags: of.tags,
    summary: of.summary,
    ...(of.description !== undefined && { description: of.description }),
    ...rights(deps, of.action, of.locate),
    request: { params: of.params },
    responses: answersNothing("Deleted"),
  });
  app.openapi(route, async (c) => {
    const outcome = await deps.sendOnce(c, { kind: of.kind, id: idOf(c, of) }, { type: "delete" });
    return outcome.ok ? c.body(null, 204) : faultResponse(c, outcome.fault);
  });
}

/** Returns the id from the validated parameters. It is in lower case. */
function idOf(c: Ctx, { id }: { readonly id: string }): string {
  const params = c.req.valid("param" as never) as Readonly<Record<string, string>>;
  return params[id]!;
}
