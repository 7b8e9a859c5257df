// Defines the routes for images (docs/instances.md, "Images").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { findImage, listImages, listPublicImages } from "../../actors/image/reads.ts";
import { atScoped } from "../auth/resource-scope.ts";
import { page, Uuid } from "../contract/common.ts";
import type { ImageScopeKind } from "../contract/enums.ts";
import { badRequest, type Fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { Image, ImageBody } from "../contract/image.ts";
import { LabelQuery } from "../contract/labels.ts";
import type { ScopeColumns } from "../contract/scope.ts";
import { faultResponse } from "../http/fault-status.ts";
import { pageById } from "../http/page.ts";
import { isLiterallyPrivate, PUBLIC_RULE, readRanges } from "../lib/net/public-address.ts";
import { scopedId } from "../lib/ids/scope.ts";
import { isUuid5 } from "../lib/ids/uuid5.ts";
import { answers, answersCreated, jsonBody, openRights, rights, wholeList } from "./answer.ts";
import type { App, Ctx, RouteDeps, Writes } from "./deps.ts";
import { deleteRecord, renameRecord } from "./record-routes.ts";
import { LEVELS, PUBLIC, PublicQuery, publicScopeFault, scopeAt, scopesAt } from "./scopes.ts";

type Deps = Writes & Pick<RouteDeps, "settings">;

const tags = ["Images"];
const path = "/v1/images/{image_id}";
const params = z.object({ image_id: Uuid });
const atImage = atScoped("image", "image_id");
const ABOUT =
  "The bytes stay at `source_url`; the control plane never fetches them. Nodes fetch them from public addresses and " +
  "from the addresses in the setting `fetch.allowed_private`. A node follows at most 3 redirects. It checks each " +
  "redirect and each resolved name, and connects to the address that it checked. A node keeps a copy of an image " +
  "for one tenant only, unless the image is public. 400 if the host of `source_url` is a private address outside " +
  "this setting. 409 if the scope already has an image with that name, or if the id exists.";
const UNION =
  "Lists the public images, then the images of the silo, of the tenant and of the project. The field `scope` shows " +
  "the scope of each image. Within a scope, the oldest image comes first.";

const image = {
  kind: "image",
  tags,
  path,
  params,
  id: "image_id",
  schema: Image,
  described: "The image",
  locate: atImage,
  has_labels: true,
} as const;

const byLabel = z.object({ label: LabelQuery });

export function imageRoutes(app: App, deps: Deps): void {
  const listPublicRoute = createRoute({
    method: "get",
    path: "/v1/images",
    tags,
    summary: "List the public images",
    ...openRights(deps, "ImageListPublic"),
    request: { query: PublicQuery.extend(byLabel.shape) },
    responses: answers(page(Image), "The images"),
  });
  app.openapi(listPublicRoute, async (c) => {
    const refused = publicScopeFault(c);
    if (refused !== null) return faultResponse(c, refused);
    const { label: labels, ...query } = c.req.valid("query");
    const result = await pageById(query, (at) => listPublicImages(deps.kysely, { labels, ...at }));
    return result.ok ? c.json(result.page, 200) : faultResponse(c, result.fault);
  });

  const createPublicRoute = createRoute({
    method: "post",
    path: "/v1/images",
    tags,
    summary: "Create a public image",
    description: ABOUT,
    ...rights(deps, "ImageCreatePublic"),
    request: { body: jsonBody(ImageBody) },
    responses: answersCreated(Image, "The image"),
  });
  app.openapi(createPublicRoute, async (c) => {
    const outcome = await make(c, { deps, scope: PUBLIC, body: c.req.valid("json") });
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });

  const showRoute = createRoute({
    method: "get",
    path,
    tags,
    summary: "Show an image",
    ...openRights(deps, "ImageGet", atImage),
    request: { params },
    responses: answers(Image, "The image"),
  });
  app.openapi(showRoute, async (c) => {
    const found = await findImage(deps.byKey, c.req.valid("param").image_id);
    return found === undefined ? faultResponse(c, NOT_FOUND) : c.json(found, 200);
  });

  renameRecord(app, deps, {
    ...image,
    action: "ImageUpdate",
    summary: "Rename, describe or label an image",
  });

  deleteRecord(app, deps, {
    ...image,
    action: "ImageDelete",
    summary: "Delete an image that no instance uses",
    description: "403 for an image that the caller may see but not delete.",
  });

  for (const level of LEVELS) levelRoutes(app, deps, level);
}

function levelRoutes(app: App, deps: Deps, { of, about, path, params, locate }: (typeof LEVELS)[number]): void {
  const listRoute = createRoute({
    method: "get",
    path: `${path}/images`,
    tags,
    summary: of === "a project"
      ? "List the images for instances of a project"
      : `List the images of ${of}, oldest first`,
    description: of === "a project" ? UNION : `Only the images of ${of} itself.${about}`,
    ...rights(deps, "ImageList", locate),
    request: { params, query: byLabel },
    responses: answers(z.array(Image), "The images"),
  });
  app.openapi(listRoute, async (c) => {
    const { label: labels } = c.req.valid("query");
    const images = await wholeList(
      "narrow it with label=",
      (rows) => listImages(deps.kysely, scopesAt(c), { rows, labels }),
    );
    return isFault(images) ? faultResponse(c, images) : c.json(images, 200);
  });

  const createImageRoute = createRoute({
    method: "post",
    path: `${path}/images`,
    tags,
    summary: `Create an image of ${of}`,
    description: ABOUT + about,
    ...rights(deps, "ImageCreate", locate),
    request: { params, body: jsonBody(ImageBody) },
    responses: answersCreated(Image, "The image"),
  });
  app.openapi(createImageRoute, async (c) => {
    const outcome = await make(c, { deps, scope: scopeAt(c), body: c.req.valid("json") });
    return outcome.ok ? c.json(outcome.reply, 201) : faultResponse(c, outcome.fault);
  });
}

type Wanted = {
  readonly deps: Deps;
  readonly scope: ScopeColumns<ImageScopeKind>;
  readonly body: z.infer<typeof ImageBody>;
};

async function make(c: Ctx, { deps, scope, body }: Wanted) {
  const { id: given, version: os_version, compatibility, source_url, content_bytes, ...rest } = body;
  const literal = await sourceFault(deps, source_url ?? null);
  if (literal !== null) return { ok: false, fault: literal } as const;
  const id = idOf(given, scopedId(scope, body.sha256), scope.scope_kind);
  if (typeof id !== "string") return { ok: false, fault: id } as const;
  const idempotency = await deps.idempotency(c);
  if (isFault(idempotency)) return { ok: false, fault: idempotency } as const;
  const { user_id: _nobody, ...columns } = scope;
  return await deps.send(c, { kind: "image", id }, {
    type: "create",
    id,
    ...columns,
    ...rest,
    os_version,
    content_bytes: content_bytes ?? null,
    source_url: source_url ?? null,
    compatibility: compatibility ? withoutNull(compatibility) : null,
  }, idempotency);
}

/**
 * Returns the 400 for a URL with an address from which no node would fetch; otherwise null. Host names are not checked
 * here: a node checks them each time it fetches.
 */
async function sourceFault(deps: Deps, source_url: string | null): Promise<Fault | null> {
  if (source_url === null) return null;
  const allowed = readRanges(await deps.settings.allowedPrivate());
  return isLiterallyPrivate(new URL(source_url), allowed) ? badRequest(`source_url: ${PUBLIC_RULE}`) : null;
}

/** Returns the id of the image. Returns the 400 if the given id is derived from another scope or other content. */
function idOf(given: string | null | undefined, derived: string, kind: ImageScopeKind): string | Fault {
  const id = given ?? derived;
  if (kind === "public" || id === derived || !isUuid5(id)) return id;
  return badRequest(
    "body.id: a UUID of version 5 must be derived from this scope and this sha256; leave the id out",
  );
}

function withoutNull({ min_platform, ...rest }: NonNullable<Wanted["body"]["compatibility"]>) {
  return min_platform ? { ...rest, min_platform } : rest;
}
