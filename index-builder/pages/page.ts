// Generates index.html, a page with all images. The page contains its data, so the page works from a disk, on any host
// and without the internet.
import type { ImageList } from "../tree/model.ts";
import { embeddedJson, pageHtml } from "./html.ts";
import { imageRows } from "./image-rows.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import { STYLE } from "./style.ts";

const FILTERS = [
  { id: "distro", label: "Distro" },
  { id: "release", label: "Release" },
  { id: "arch", label: "Architecture" },
  { id: "variant", label: "Variant" },
  { id: "format", label: "Format" },
] as const;

export function sitePage(images: ImageList): string {
  const selects = FILTERS.map(({ id, label }) =>
    `<div><label for="${id}">${label}</label><select id="${id}"><option value="">Any</option></select></div>`
  ).join("\n");
  return pageHtml({
    title: "Cloud images",
    style: STYLE,
    script: PAGE_SCRIPT,
    body: `<header>
<h1>Cloud images</h1>
<p class="soft">Images from the vendors, with the vendors' own digests and signatures. For programs:
<a href="v1/images.json">images.json</a>, <a href="v1/index.json">index.json</a>,
<a href="docs/index.html">the API</a>.</p>
</header>
<div class="filters" role="search">
<div class="wide"><label for="search">Search (press / to focus)</label>
<input id="search" type="search" autocomplete="off" spellcheck="false" placeholder="ubuntu lts aarch64"></div>
${selects}
<div><label for="clear">Filters</label><button id="clear" type="button">Clear</button></div>
</div>
<main>
<p id="count" role="status" class="soft"></p>
<ul id="list" class="images"></ul>
<noscript><p>This page needs JavaScript; <a href="v1/images.json">images.json</a> lists the same images.</p></noscript>
</main>
<script type="application/json" id="images">${embeddedJson(imageRows(images))}</script>`,
  });
}
