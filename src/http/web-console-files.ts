// Serves the files of the web console. `task console:build` writes them. A path without a known file extension gets the
// page index.html, whose script shows the view of this path. The page needs no cookie, because a browser sends none
// when a user follows a link from another site. The Content-Security-Policy allows scripts, styles, images, fonts and
// requests only from and to this server. It does not allow strings to become scripts or markup (docs/reliability.md,
// S-34).
import type { Context } from "hono";
import type { HttpEnv } from "./env.ts";
import { markup } from "./markup.ts";
import { createTreeFiles } from "./tree-file.ts";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  ico: "image/x-icon",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  map: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  woff2: "font/woff2",
};

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/** A name with the hash of the file's content, such as main-3F2KQ7AB.js. Such a file never changes. */
const HASHED = /-[A-Z0-9]{8}\.[a-z0-9]+$/;
const IMMUTABLE = "public, max-age=31536000, immutable";
const INDEX = "index.html";

const NOT_BUILT = markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Berth</title></head><body>
<h1>The web console is not built</h1>
<p>Run <code>npx -y deno@2.9.6 task console:build</code> in the folder of the server. Then load this page again.</p>
<p>The API is described at <a href="/docs">/docs</a>.</p>
</body></html>
`;

export type WebConsoleFiles = {
  /** Returns the answer for a path below /console/; null for a file that does not exist. */
  answer(c: Context<HttpEnv>, path: string): Promise<Response | null>;
};

/** @param folder the folder that `task console:build` writes; it may be missing */
export function createWebConsoleFiles(folder: string): WebConsoleFiles {
  const file = createTreeFiles(folder);

  async function find(c: Context<HttpEnv>, path: string): Promise<Response | null> {
    const segments = path.split("/");
    const name = segments.at(-1) ?? "";
    const type = CONTENT_TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (!name.includes(".") || type === undefined) return await index(c);
    const found = await file(c, segments, type);
    if (found !== null && HASHED.test(name)) found.headers.set("cache-control", IMMUTABLE);
    return found;
  }

  async function index(c: Context<HttpEnv>): Promise<Response> {
    const html = CONTENT_TYPES.html ?? "";
    return await file(c, [INDEX], html) ?? c.body(NOT_BUILT.text, 404, { "content-type": html });
  }

  return {
    answer: async (c, path) => {
      const found = await find(c, path);
      if (found === null) return null;
      for (const [name, value] of Object.entries(HEADERS)) found.headers.set(name, value);
      return found;
    },
  };
}
