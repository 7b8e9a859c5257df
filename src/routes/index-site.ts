// Serves a published image index next to the API (docs/image-index.md). Any static web server can serve the same files.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { NOT_FOUND } from "../contract/fault.ts";
import { faultResponse } from "../http/fault-status.ts";
import { ERROR_RESPONSES } from "../http/openapi.ts";
import { createTreeFiles } from "../http/tree-file.ts";
import { openRights } from "./answer.ts";
import type { Access, App, Ctx } from "./deps.ts";

const tags = ["Image index"];
const JSON_TYPE = "application/json";

/** The files directly below v1/. */
const TOP_FILES = [
  ["index.json", JSON_TYPE, "Every distro in the index"],
  ["images.json", JSON_TYPE, "Every current build with its distro and release"],
  ["openapi.json", JSON_TYPE, "The OpenAPI description of the index, written by its builder"],
  ["SHA256SUMS", "text/plain; charset=utf-8", "Digests of the files of the index"],
  ["SHA256SUMS.asc", "text/plain; charset=utf-8", "Signature over SHA256SUMS"],
] as const;

/** The lists of a release, with their summaries in the API description. */
const RELEASE_LISTS = [["index", "Current builds of a release"], ["archive", "Archived builds of a release"]] as const;

const name = z.string().max(128);

/**
 * Removes the type of an answer. The router's types expect JSON of one schema, but the index may have files of any
 * version.
 */
function untyped(answer: Promise<Response>): never {
  return answer as never;
}

export function indexSiteRoutes(app: App, deps: Access, site: string): void {
  const answer = createTreeFiles(site);
  const responses = { 200: { description: "The file, with ETag and Last-Modified" }, ...ERROR_RESPONSES };

  async function file(c: Ctx, segments: readonly string[], contentType: string = JSON_TYPE): Promise<Response> {
    return await answer(c, segments, contentType) ?? faultResponse(c, NOT_FOUND);
  }

  for (const [top, contentType, summary] of TOP_FILES) {
    const route = createRoute({
      method: "get",
      path: `/v1/${top}`,
      tags,
      summary,
      ...openRights(deps, "ImageIndex"),
      responses,
    });
    app.openapi(route, (c) => untyped(file(c, ["v1", top], contentType)));
  }

  const distroRoute = createRoute({
    method: "get",
    path: "/v1/distros/{distro}/index.json",
    tags,
    summary: "One distro and its releases",
    ...openRights(deps, "ImageIndex"),
    request: { params: z.object({ distro: name }) },
    responses,
  });
  app.openapi(distroRoute, (c) => untyped(file(c, ["v1", "distros", c.req.valid("param").distro, "index.json"])));

  for (const [list, summary] of RELEASE_LISTS) {
    const route = createRoute({
      method: "get",
      path: `/v1/distros/{distro}/releases/{release}/${list}.json`,
      tags,
      summary,
      ...openRights(deps, "ImageIndex"),
      request: { params: z.object({ distro: name, release: name }) },
      responses,
    });
    app.openapi(route, (c) => {
      const { distro, release } = c.req.valid("param");
      return untyped(file(c, ["v1", "distros", distro, "releases", release, `${list}.json`]));
    });
  }

  for (const alias of ["latest", "lts", "dev"] as const) {
    const route = createRoute({
      method: "get",
      path: `/v1/distros/{distro}/aliases/${alias}.json`,
      tags,
      summary: `Builds of the release with the alias ${alias}`,
      ...openRights(deps, "ImageIndex"),
      request: { params: z.object({ distro: name }) },
      responses,
    });
    app.openapi(route, (c) => {
      return untyped(file(c, ["v1", "distros", c.req.valid("param").distro, "aliases", `${alias}.json`]));
    });
  }

  const aliasRoute = createRoute({
    method: "get",
    path: "/v1/distros/{distro}/aliases/{file}",
    tags,
    summary: "Builds of the release with another alias",
    description: "`file` is ALIAS.json. The index may have more aliases than latest, lts and dev.",
    ...openRights(deps, "ImageIndex"),
    request: { params: z.object({ distro: name, file: name }) },
    responses,
  });
  app.openapi(aliasRoute, (c) => {
    const { distro, file: alias } = c.req.valid("param");
    if (!alias.endsWith(".json")) return untyped(Promise.resolve(faultResponse(c, NOT_FOUND)));
    return untyped(file(c, ["v1", "distros", distro, "aliases", alias]));
  });
}
