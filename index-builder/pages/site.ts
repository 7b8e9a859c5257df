import type { Pages } from "../tree/check.ts";
import { docsPage } from "./docs.ts";
import { sitePage } from "./page.ts";

/** Generates both pages of a site. */
export const SITE_PAGES: Pages = { page: sitePage, docs: docsPage };
