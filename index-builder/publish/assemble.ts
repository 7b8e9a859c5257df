// Merges the parts of vendors into a tree. A new part replaces the distro's old part, and the other distros stay.
import type { TrustState, VendorTrust } from "../signatures/trust.ts";
import { SITE_PAGES } from "../pages/site.ts";
import { checkFiles, type Expected, type Problem } from "../tree/check.ts";
import { openapiText } from "../tree/openapi.ts";
import { DOCS_PATH, OPENAPI_PATH, PAGE_PATH } from "../../src/lib/image-index/paths.ts";
import { type DistroTree, type Files, filesOf, imagesOf, type Tree } from "../tree/tree.ts";
import { VENDORS } from "../vendors/all.ts";

export const EXPECTED: Expected = {
  pages: SITE_PAGES,
  hosts: new Map(VENDORS.map((vendor) => [vendor.id, vendor])),
};

export type Part = { readonly tree: DistroTree; readonly trust: VendorTrust };

/** Merges the parts, in the order of VENDORS. A distro that has no vendor any more is removed. */
export function assembleTree(before: Tree | null, parts: ReadonlyMap<string, Part>): Tree {
  const old = new Map((before?.distros ?? []).map((tree) => [tree.distro.id, tree]));
  return { distros: VENDORS.flatMap(({ id }) => parts.get(id)?.tree ?? old.get(id) ?? []) };
}

export function assembleTrust(before: TrustState, parts: ReadonlyMap<string, Part>): TrustState {
  const built = [...parts].map(([id, { trust }]) => [id, trust] as const);
  const all = Object.entries({ ...before.vendors, ...Object.fromEntries(built) });
  return { vendors: Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Returns every file of a site except SHA256SUMS and its signature. */
export function siteFiles(tree: Tree): Files {
  const pages = [[OPENAPI_PATH, openapiText()], [PAGE_PATH, SITE_PAGES.page(imagesOf(tree))], [
    DOCS_PATH,
    SITE_PAGES.docs(),
  ]] as const;
  return new Map([...filesOf(tree), ...pages].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Checks the part of one vendor alone, so that its problems do not block other vendors. */
export function partProblems({ tree }: Part): Problem[] {
  return checkFiles(siteFiles({ distros: [tree] }), EXPECTED);
}
