// Generates docs/index.html, a page about the API, from openapi.json. The page has no script and loads nothing.
import { openapiText } from "../tree/openapi.ts";
import { escapeHtml, pageHtml } from "./html.ts";
import { STYLE } from "./style.ts";

type Schema = {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  nullable?: boolean;
  enum?: string[];
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
};
type Operation = {
  summary: string;
  responses: Record<string, { content: { "application/json": { schema: Schema } } }>;
};
type Description = { paths: Record<string, { get: Operation }>; components: { schemas: Record<string, Schema> } };

export function docsPage(): string {
  // This program generated the document, so its shape is known.
  const { paths, components } = JSON.parse(openapiText()) as Description;
  const operations = Object.entries(paths).map(([path, { get }]) =>
    `<tr><td><code>GET ${escapeHtml(path)}</code></td><td>${escapeHtml(get.summary)}</td><td>${
      typeText(get.responses["200"]!.content["application/json"].schema)
    }</td></tr>`
  );
  const schemas = Object.entries(components.schemas).map(([name, schema]) => schemaSection(name, schema));
  return pageHtml({
    title: "Image index API",
    style: STYLE,
    script: null,
    body: `<header>
<h1>Image index API</h1>
<p class="soft">Read-only JSON documents, all fetched with GET, relative to the address of this site.
<a href="../index.html">Images</a>, <a href="../v1/openapi.json">openapi.json</a>.</p>
</header>
<main>
<p>If a type ends with "or any other string", it lists the values that this version knows, and a client must accept
other values. The body of an error response is an Error object if the host can send one.</p>
<h2>Documents</h2>
<table><thead><tr><th>Address</th><th>Content</th><th>Schema</th></tr></thead>
<tbody>
${operations.join("\n")}
</tbody></table>
<h2>Schemas</h2>
${schemas.join("\n")}
</main>`,
  });
}

function schemaSection(name: string, schema: Schema): string {
  const about = schema.description === undefined ? "" : `<p>${escapeHtml(schema.description)}</p>`;
  const head = `<h3 id="${name}">${name}</h3>\n${about}`;
  if (schema.properties === undefined) return `${head}<p>${typeText(schema)}</p>`;
  const rows = Object.entries(schema.properties).map(([field, shape]) => {
    const always = schema.required?.includes(field) === true ? "yes" : "no";
    return `<tr><td><code>${field}</code></td><td>${typeText(shape)}</td><td>${always}</td><td>${
      escapeHtml(shape.description ?? "")
    }</td></tr>`;
  });
  return `${head}<table><thead><tr><th>Field</th><th>Type</th><th>Required</th><th>Description</th></tr></thead><tbody>
${rows.join("\n")}
</tbody></table>`;
}

function typeText(schema: Schema): string {
  const null_too = schema.nullable === true ? " or null" : "";
  const named = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (named !== undefined) {
    const name = named.split("/").at(-1)!;
    return `<a href="#${name}">${name}</a>${null_too}`;
  }
  if (schema.oneOf !== undefined) return `${codeList(schema.oneOf[0]?.enum ?? [])}, or any other string`;
  if (schema.enum !== undefined) return `${codeList(schema.enum)}${null_too}`;
  if (schema.type === "array") return `list of ${typeText(schema.items ?? {})}${null_too}`;
  if (schema.type === undefined) return "any JSON";
  return escapeHtml(`${schema.type}${schema.format === undefined ? "" : ` (${schema.format})`}`) + null_too;
}

function codeList(values: readonly string[]): string {
  return values.map((value) => `<code>${escapeHtml(value)}</code>`).join(", ");
}
