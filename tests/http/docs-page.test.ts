import { createHash } from "node:crypto";
import { createRoute } from "@hono/zod-openapi";
import { expect, test } from "vitest";
import { z } from "zod";
import { CnApproval, CnParam, CnView, SetupProgress } from "../../src/contract/cn.ts";
import { docsPage } from "../../src/http/docs-page.ts";
import { ERROR_RESPONSES, openApiDocument } from "../../src/http/openapi.ts";
import { newApp } from "../../src/http/shell.ts";

const HOSTILE = `"><script>alert('x')</script>&`;

function render(search?: string) {
  const app = newApp();
  app.openapi(
    createRoute({
      method: "post",
      path: "/v1/cns/{server_uuid}/approve",
      tags: ["Compute nodes"],
      summary: `Approve a node ${HOSTILE}`,
      description: "Needs `claim_code`, once` only.",
      "x-rights": "CnApprove",
      "x-error-codes": ["NotFound", "TooManyRequests"],
      request: {
        params: CnParam,
        query: z.object({ wait: z.coerce.number().int().min(1).max(20).optional().describe(`Seconds ${HOSTILE}`) }),
        body: { required: true, content: { "application/json": { schema: CnApproval } } },
      },
      responses: {
        200: { description: "Approved", content: { "application/json": { schema: CnView } } },
        ...ERROR_RESPONSES,
      },
    }),
    (c) => c.body(null) as never,
  );
  return docsPage(openApiDocument(app, { version: "1.2.3", schemas: { CnView, SetupProgress, CnApproval } }), search);
}

test("an operation shows its method, path, permission, parameters, body, answers and codes", () => {
  const { html } = render();
  for (
    const piece of [
      "1.2.3",
      "Compute nodes",
      "POST",
      "/v1/cns/{server_uuid}/approve",
      "Permission: CnApprove",
      "<code>wait</code>",
      "at most 20",
      "<code>400 401 404 408 409 413 414 415 422 429 500 503</code>",
      '<a href="#schema-CnView">CnView</a>',
      "<code>NotFound</code>",
      "One of pending, approved, disabled, awaiting_setup, setting_up",
      '<a href="#schema-SetupProgress">SetupProgress</a> or null',
    ]
  ) expect(html).toContain(piece);
});

test("every link leads to an anchor on the page, to /docs or to /openapi.json", () => {
  const { html } = render();
  const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => `#${match[1]}`));
  const links = [...html.matchAll(/href="([^"]+)"/g)].map((match) => match[1]!);
  expect(links.length).toBeGreaterThan(5);
  expect(links.filter((link) => !ids.has(link) && link !== "/openapi.json" && link !== "/docs")).toEqual([]);
});

test("text between backticks is code, and a single backtick is text", () => {
  expect(render().html).toContain("<p>Needs <code>claim_code</code>, once` only.</p>");
});

test("a search shows the endpoints that contain every word, and the searched text is escaped", () => {
  const found = render("APPROVE claim_code").html;
  expect(found).toContain('<article id="post-');
  expect(found).toContain("1 endpoint contains <b>APPROVE claim_code</b>");
  const none = render(`approve ${HOSTILE} nowhere`).html;
  expect(none).not.toContain('<article id="post-');
  expect(none).not.toContain("<script");
  expect(none).toContain("No endpoint contains");
});

test("text from the document is escaped on the page", () => {
  const { html } = render();
  expect(html).not.toContain("<script");
  expect(html).toContain("&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;");
});

test("S-34: the page's content security policy allows exactly its own style, and the page loads nothing", () => {
  const { html, headers } = render();
  const styles = [...html.matchAll(/<style>([\s\S]*?)<\/style>/g)].map((match) => match[1]!);
  expect(styles.length).toBe(1);
  const hash = createHash("sha256").update(styles[0]!).digest("base64");
  expect(headers["content-security-policy"]).toContain(`default-src 'none'; style-src 'sha256-${hash}'`);
  expect(html).not.toMatch(/ style=| on\w+=|<link|<img|<iframe|@import|url\(/);
});

test("the HTTP shell keeps the headers that the page sets", async () => {
  const app = newApp();
  const { html, headers } = render();
  app.get("/docs", () => new Response(html, { headers }));
  const answer = await app.request("/docs");
  expect(answer.headers.get("content-security-policy")).toBe(headers["content-security-policy"]);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
});
