// Builds the OpenAPI 3.0.3 document from the routes and their schemas. Every named schema becomes a component
// (openapi-schema.ts). The schema objects come from zod's generator. The generator of @hono/zod-openapi does not fit,
// for three reasons:
// - It names only schemas that were created after it was loaded.
// - It makes a component nullable if the component is first used with `.nullable()`.
// - It prints `format: ip`.
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import type { HttpEnv } from "./env.ts";
import { ANSWER_EXAMPLES } from "../contract/answer-examples.ts";
import { BODY_EXAMPLES } from "../contract/body-examples.ts";
import { ErrorBody } from "../contract/common.ts";
import { IDEMPOTENCY_KEY_CHARS_MAX } from "../contract/limits.ts";
import { refusalComponents, refusalResponses, refusalStatuses } from "./refusals.ts";
import { schemaObjects, type SchemaSet, type Use } from "./openapi-schema.ts";

type Route = Extract<OpenAPIHono<HttpEnv>["openAPIRegistry"]["definitions"][number], { type: "route" }>["route"];
/** A JSON object of the document. The tests validate its form. */
export type OpenApiObject = { [key: string]: unknown };

export type OpenApiDocument = {
  openapi: "3.0.3";
  info: { title: string; version: string; description: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, OpenApiObject>>;
  components: {
    schemas: Record<string, OpenApiObject>;
    responses: Record<string, OpenApiObject>;
    securitySchemes: OpenApiObject;
  };
};

const JSON_TYPE = "application/json";

/** The errors in the `responses` of every route. The API description instead lists each error status (refusals.ts). */
export const ERROR_RESPONSES = {
  "4XX": {
    description: "An error of the request; the message says why",
    content: { [JSON_TYPE]: { schema: ErrorBody } },
  },
  "5XX": { description: "An error of the server", content: { [JSON_TYPE]: { schema: ErrorBody } } },
} as const;

/** Members of a route definition that are left out of the API description. */
const UNSHOWN: ReadonlySet<string> = new Set([
  "middleware",
  "getRoutingPath",
  "hide",
  "x-refusals",
  "x-also",
  "x-never",
]);

/** The header of every route whose errors include 422 (docs/wire.md, "Repeating a request"). */
const IDEMPOTENCY_KEY: OpenApiObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Requests with the same key and body take effect once, and all of them get the same answer",
  schema: { type: "string", minLength: 1, maxLength: IDEMPOTENCY_KEY_CHARS_MAX },
};

/**
 * Builds the document.
 * @param app the app with all its routes. The page /docs shows a route's `x-rights`; `security: []` marks a route that
 *   needs no credential
 * @param described.schemas the named schemas
 * @throws Error when the parameters of a route are not one z.object
 */
export function openApiDocument(
  app: OpenAPIHono<HttpEnv>,
  described: { version: string; schemas: Readonly<Record<string, z.ZodType>> },
): OpenApiDocument {
  const routes = app.openAPIRegistry.definitions.flatMap((definition) =>
    definition.type === "route" ? [definition.route] : []
  );
  const set = schemaObjects({ ErrorBody, ...described.schemas }, routes.flatMap(schemasOf));
  const paths: OpenApiDocument["paths"] = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method] = operation(route, set);
  const tags = [...new Set(routes.flatMap((route) => route.tags ?? []))].map((name) => ({ name }));
  return {
    openapi: "3.0.3",
    info: {
      title: "Berth",
      version: described.version,
      description: "Control plane from bare metal to virtual machines of tenants",
    },
    tags,
    paths,
    components: {
      schemas: withExamples(set.components),
      responses: refusalComponents(set.of(ErrorBody, "output")),
      securitySchemes: { bearer: { type: "http", scheme: "bearer", description: "An API key: opsk_..." } },
    },
  };
}

function schemasOf(route: Route): Use[] {
  const { params, query, body } = route.request ?? {};
  const inputs = [params, query, ...headersOf(route), bodySchema(body?.content)].filter(isSchema);
  const outputs = Object.values(route.responses).map((response) => bodySchema(contentOf(response))).filter(isSchema);
  return [
    ...inputs.map((schema): Use => ({ schema, io: "input" })),
    ...outputs.map((schema): Use => ({ schema, io: "output" })),
  ];
}

function operation(route: Route, set: SchemaSet): OpenApiObject {
  const { method: _method, path: _path, request, responses, ...described } = route;
  const refusals = refusalStatuses(route);
  const parameters = [
    ...parametersOf(request?.params, "path", set),
    ...parametersOf(request?.query, "query", set),
    ...headersOf(route).flatMap((headers) => parametersOf(headers, "header", set)),
    ...(refusals.includes(422) ? [IDEMPOTENCY_KEY] : []),
  ];
  const body = bodySchema(request?.body?.content);
  const shown = Object.fromEntries(Object.entries(described).filter(([key]) => !UNSHOWN.has(key)));
  return {
    ...shown,
    security: route.security ?? [{ bearer: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(isSchema(body) && {
      requestBody: {
        required: request?.body?.required ?? false,
        content: { [JSON_TYPE]: { schema: set.of(body, "input"), ...exampleOf(route) } },
      },
    }),
    responses: { ...successes(responses, set), ...refusalResponses(route) },
  };
}

function exampleOf({ method, path }: Route): OpenApiObject {
  const example = BODY_EXAMPLES[`${method.toUpperCase()} ${path}`];
  return example === undefined ? {} : { example };
}

function withExamples(components: SchemaSet["components"]): Record<string, OpenApiObject> {
  return Object.fromEntries(
    Object.entries(components).map(([name, schema]) => {
      const example = ANSWER_EXAMPLES[name];
      return [name, example === undefined ? schema : { ...schema, example }];
    }),
  );
}

function successes(responses: Route["responses"], set: SchemaSet): OpenApiObject {
  return Object.fromEntries(
    Object.entries(responses).filter(([status]) => !(status in ERROR_RESPONSES)).map(([status, response]) => {
      const schema = bodySchema(contentOf(response));
      const content = isSchema(schema) ? { content: { [JSON_TYPE]: { schema: set.of(schema, "output") } } } : {};
      return [status, { description: (response as { description: string }).description, ...content }];
    }),
  );
}

function parametersOf(schema: unknown, location: "path" | "query" | "header", set: SchemaSet): OpenApiObject[] {
  if (!isSchema(schema)) return [];
  const object = set.inline(schema, "input") as { properties?: Record<string, OpenApiObject>; required?: string[] };
  if (object.properties === undefined) throw new Error(`the ${location} parameters of a route must be one z.object`);
  return Object.entries(object.properties).map(([name, { description, ...rest }]) => ({
    name,
    in: location,
    required: location === "path" || (object.required?.includes(name) ?? false),
    ...(description !== undefined && { description }),
    schema: rest,
  }));
}

function headersOf(route: Route): unknown[] {
  const headers = route.request?.headers;
  return headers === undefined ? [] : [headers].flat();
}

function contentOf(response: unknown): Record<string, unknown> | undefined {
  return (response as { content?: Record<string, unknown> }).content;
}

function bodySchema(content: Record<string, unknown> | undefined): unknown {
  return (content?.[JSON_TYPE] as { schema?: unknown } | undefined)?.schema;
}

function isSchema(value: unknown): value is z.ZodType {
  return value instanceof z.ZodType;
}
