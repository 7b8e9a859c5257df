// Renders /docs: the OpenAPI document as one static HTML page. It has no scripts and loads nothing, so that it works on
// a closed network. Its Content-Security-Policy allows only its own style, by hash (docs/reliability.md, S-34).
import { createHash } from "node:crypto";
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

/** Returns the page and its headers. */
export function docsPage(document: OpenApiDocument): { html: string; headers: Record<string, string> } {
  const groups = grouped(document);
  const page = markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${document.info.title} API ${document.info.version}</title>
<style>${trusted(DOCS_STYLE)}</style></head><body>
${index(document, groups)}<main>${introduction(document)}
${[...groups].map(([tag, entries]) => markup`<h2>${tag}</h2>${entries.map(endpoint)}`)}
<h2 id="refusals">Errors</h2>${table(Object.entries(document.components.responses).map(refusalRow))}
<h2>Schemas</h2>${Object.entries(document.components.schemas).map(component)}
</main></body></html>
`;
  const hash = createHash("sha256").update(DOCS_STYLE).digest("base64");
  return {
    html: page.text,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      "cache-control": "no-cache",
    },
  };
}

function grouped(document: OpenApiDocument): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, object] of Object.entries(methods)) {
      // The document is untyped JSON; the tests validate its form.
      const operation = object as unknown as Operation;
      const anchor = `${method}-${path}`.replace(/[^a-zA-Z0-9]+/g, "-");
      const tag = operation.tags?.[0] ?? UNTAGGED;
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
  return markup`<nav><span class="name">${title}</span><span class="version">${version}</span>
${[...groups].map(([tag, entries]) => markup`<h2>${tag}</h2><ul>${entries.map(link)}</ul>`)}
<h2>Schemas</h2><ul>${names.map((name) => markup`<li><a href="#schema-${name}">${name}</a></li>`)}</ul></nav>`;
}

function introduction(document: OpenApiDocument): Markup {
  const { title, description } = document.info;
  return markup`<h1>${title} API</h1><p>${description}.
For programs: <a href="/openapi.json">/openapi.json</a>.</p>
<p>Send an API key as <code>Authorization: Bearer opsk_...</code>. Bodies are JSON. Every error has the body
<a href="#schema-ErrorBody">ErrorBody</a>: a message, a request id (also in <code>x-request-id</code>) and, if there
is one, an error code. <code>429</code> and <code>503</code> may carry <code>Retry-After</code> in seconds.</p>`;
}

function endpoint({ method, path, anchor, operation }: Entry): Markup {
  const { summary, description, parameters, requestBody, responses, security } = operation;
  const body = requestBody?.content["application/json"]?.schema;
  const codes = operation["x-error-codes"] ?? [];
  const rights = operation["x-rights"] ?? (security?.length === 0 ? "anonymous" : "an API key");
  return markup`<article id="${anchor}"><h3>${verb(method)}<span class="path">${path}</span></h3>
<p>${summary}</p>${description !== undefined && markup`<p>${description}</p>`}
<p class="rights">Permission: ${rights}</p>
${parameters && section("Parameters", table(parameters.map(parameterRow)))}
${body && section("Body", fields(body))}
${section("Responses", table(responseRows(responses)))}
${codes.length > 0 && section("Error codes", markup`<p>${codes.map((code) => markup`<code>${code}</code> `)}</p>`)}
</article>`;
}

function component([name, schema]: [string, OpenApiObject]): Markup {
  return markup`<article id="schema-${name}"><h3><span class="path">${name}</span></h3>
${schema.description !== undefined && markup`<p>${schema.description}</p>`}${fields(schema)}</article>`;
}

function fields(schema: SchemaObject): Markup {
  const lines = schemaLines(schema);
  if (lines.length === 0) return markup`<p class="type">${schemaType(schema)}</p>`;
  return table(lines.map((line) => row(line.name, line.type, line.required, line.text)));
}

function parameterRow({ name, in: place, required, description, schema }: Parameter): Markup {
  return row(name, markup`${schemaType(schema)} in ${place}`, required, schemaRules({ ...schema, description }));
}

/** Returns one row for each success and one row for all errors, whose meanings the page lists once. */
function responseRows(responses: Operation["responses"]): Markup[] {
  const all = Object.entries(responses);
  const refused = all.filter(([, answer]) => "$ref" in answer).map(([status]) => status);
  const successes = all.flatMap(([status, answer]) => "$ref" in answer ? [] : [responseRow(status, answer)]);
  const last = row(
    refused.join(" "),
    markup`<a href="#schema-ErrorBody">ErrorBody</a>`,
    false,
    "Refused; see Refusals",
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
<td class="req">${required ? "required" : ""}</td><td>${text}</td></tr>`;
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
