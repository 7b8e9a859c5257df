import type { Pages } from "../tree/check.ts";
import { docsPage } from "./docs.ts";
import { sitePage } from "./page.ts";

/** Both pages of a site, in full. */
export const SITE_PAGES: Pages = { page: sitePage, docs: docsPage };
