// Renders /docs: the OpenAPI document as one static HTML page. It has no scripts and loads nothing, so that it works on
// a closed network. Its Content-Security-Policy allows only its own style, by hash (docs/reliability.md, S-34). The
// search is a form. The server answers with a page of the endpoints that match.
import { createHash } from "node:crypto";
import { SEARCH_CHARS_MAX } from "../contract/limits.ts";
import { schemaLines, type SchemaObject, schemaRules, schemaType } from "./docs-schema.ts";
import { DOCS_STYLE } from "./docs-style.ts";
import { type Markup, markup, trusted } from "./markup.ts";
import type { OpenApiDocument, OpenApiObject } from "./openapi.ts";

type Parameter = { name: string; in: string; required: boolean; description?: string; schema: SchemaObject };
type Content = { "application/json"?: { schema: SchemaObject } };
type Answer = { description: string; content?: Content };
type Operation = {
  summary?: string;
  description?: string;
  tags?: string[];
  security?: unknown[];
  "x-rights"?: string;
  "x-error-codes"?: string[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, Answer | { $ref: string }>;
};
type Entry = { method: string; path: string; anchor: string; operation: Operation };

const UNTAGGED = "Other";

/**
 * Returns the page and its headers. With a search text, the page has only the endpoints whose method, path, tag,
 * summary or description together contain every word of the text. Letter case is ignored.
 */
export function docsPage(document: OpenApiDocument, search = ""): { html: string; headers: Record<string, string> } {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const groups = grouped(document, words);
  const page = markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${document.info.title} API ${document.info.version}</title>
<style>${trusted(DOCS_STYLE)}</style></head><body>
<main><a class="skip" href="#contents">Contents</a>${introduction(document)}
${searchForm(search)}${words.length > 0 && searchResult(groups, search)}
${[...groups].map(([tag, entries]) => markup`<h2>${tag}</h2>${entries.map(endpoint)}`)}
<h2 id="refusals">Errors</h2>${table(Object.entries(document.components.responses).map(refusalRow))}
<h2>Schemas</h2>${Object.entries(document.components.schemas).map(component)}
</main>${index(document, groups)}</body></html>
`;
  const hash = createHash("sha256").update(DOCS_STYLE).digest("base64");
  return {
    html: page.text,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
      "cache-control": "no-cache",
    },
  };
}

function grouped(document: OpenApiDocument, words: readonly string[]): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, object] of Object.entries(methods)) {
      // The document is untyped JSON; the tests validate its form.
      const operation = object as unknown as Operation;
      const anchor = `${method}-${path}`.replace(/[^a-zA-Z0-9]+/g, "-");
      const tag = operation.tags?.[0] ?? UNTAGGED;
      const { summary = "", description = "" } = operation;
      const text = [method, path, tag, summary, description].join("\n").toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
      groups.set(tag, [...(groups.get(tag) ?? []), { method, path, anchor, operation }]);
    }
  }
  return groups;
}

function index(document: OpenApiDocument, groups: Map<string, Entry[]>): Markup {
  const { title, version } = document.info;
  const link = ({ method, path, anchor }: Entry) =>
    markup`<li><a href="#${anchor}">${verb(method)}<span>${path}</span></a></li>`;
  const names = Object.keys(document.components.schemas);
  return markup`<nav id="contents"><span class="name">${title}</span><span class="version">${version}</span>
${[...groups].map(([tag, entries]) => markup`<h2>${tag}</h2><ul>${entries.map(link)}</ul>`)}
<h2>Schemas</h2><ul>${names.map((name) => markup`<li><a href="#schema-${name}">${name}</a></li>`)}</ul></nav>`;
}

function introduction(document: OpenApiDocument): Markup {
  const { title, description } = document.info;
  return markup`<h1>${title} API</h1><p>${description}.
For programs: <a href="/openapi.json">/openapi.json</a>.</p>
<p>Send an API key as <code>Authorization: Bearer opsk_...</code>. Bodies are JSON, except parts of uploaded images.
Every error has the body <a href="#schema-ErrorBody">ErrorBody</a>: a message, a request id (also in
<code>x-request-id</code>) and, if there is one, an error code. <code>409</code>, <code>429</code> and <code>503</code>
may have the header <code>Retry-After</code> in seconds.</p>`;
}

function searchForm(search: string): Markup {
  return markup`<form role="search" action="/docs"><label for="q">Search endpoints</label>
<input id="q" name="q" type="search" maxlength="${SEARCH_CHARS_MAX}" value="${search}"><button>Search</button></form>`;
}

function searchResult(groups: Map<string, Entry[]>, search: string): Markup {
  const count = [...groups.values()].reduce((sum, entries) => sum + entries.length, 0);
  const found = count === 0
    ? "No endpoint contains"
    : count === 1
    ? "1 endpoint contains"
    : `${count} endpoints contain`;
  return markup`<p>${found} <b>${search}</b>. <a href="/docs">Show all</a></p>`;
}

/** Returns text in which the parts between backticks are marked as code. */
function prose(text: string): readonly (Markup | string)[] {
  return text.split("`").map((part, at, parts) => {
    // A backtick without a second backtick stays text.
    if (at % 2 === 0) return part;
    return at === parts.length - 1 ? `\`${part}` : markup`<code>${part}</code>`;
  });
}

function endpoint({ method, path, anchor, operation }: Entry): Markup {
  const { summary, description, parameters, requestBody, responses, security } = operation;
  const body = requestBody?.content["application/json"]?.schema;
  const codes = operation["x-error-codes"] ?? [];
  const rights = operation["x-rights"] ?? (security?.length === 0 ? "anonymous" : "an API key");
  return markup`<article id="${anchor}"><h3>${verb(method)}<span class="path">${path}</span></h3>
<p>${summary && prose(summary)}</p>${description !== undefined && markup`<p>${prose(description)}</p>`}
<p class="rights">Permission: ${rights}</p>
${parameters && section("Parameters", table(parameters.map(parameterRow)))}
${body && section("Body", fields(body))}
${section("Responses", table(responseRows(responses)))}
${codes.length > 0 && section("Error codes", markup`<p>${codes.map((code) => markup`<code>${code}</code> `)}</p>`)}
</article>`;
}

function component([name, schema]: [string, OpenApiObject]): Markup {
  return markup`<article id="schema-${name}"><h3><span class="path">${name}</span></h3>
${typeof schema.description === "string" && markup`<p>${prose(schema.description)}</p>`}${fields(schema)}</article>`;
}

function fields(schema: SchemaObject): Markup {
  const lines = schemaLines(schema);
  if (lines.length === 0) return markup`<p class="type">${schemaType(schema)}</p>`;
  return table(lines.map((line) => row(line.name, line.type, line.required, line.text)));
}

function parameterRow({ name, in: place, required, description, schema }: Parameter): Markup {
  return row(name, markup`${schemaType(schema)} in ${place}`, required, schemaRules({ ...schema, description }));
}

/** Returns one row for each success and one row for all errors. The page lists the meanings of errors only once. */
function responseRows(responses: Operation["responses"]): Markup[] {
  const all = Object.entries(responses);
  const refused = all.filter(([, answer]) => "$ref" in answer).map(([status]) => status);
  const successes = all.flatMap(([status, answer]) => "$ref" in answer ? [] : [responseRow(status, answer)]);
  const last = row(
    refused.join(" "),
    markup`<a href="#schema-ErrorBody">ErrorBody</a>`,
    false,
    "An error; see Errors",
  );
  return refused.length === 0 ? successes : [...successes, last];
}

function responseRow(status: string, { description, content }: Answer): Markup {
  const schema = content?.["application/json"]?.schema;
  return row(status, schema ? schemaType(schema) : "", false, description);
}

function refusalRow([name, answer]: [string, OpenApiObject]): Markup {
  return responseRow(name.replace("Refused", ""), answer as Answer);
}

function row(name: string, type: Markup | string, required: boolean, text: string): Markup {
  return markup`<tr><td><code>${name}</code></td><td class="type">${type}</td>
<td class="req">${required ? "required" : ""}</td><td>${prose(text)}</td></tr>`;
}

function table(rows: Markup[]): Markup {
  return markup`<div class="scroll"><table>${rows}</table></div>`;
}

function section(title: string, content: Markup): Markup {
  return markup`<h4>${title}</h4>${content}`;
}

function verb(method: string): Markup {
  return markup`<span class="m ${method}">${method.toUpperCase()}</span>`;
}
