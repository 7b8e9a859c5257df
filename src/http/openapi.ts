// The OpenAPI 3.0.3 document, made from the routes and their schemas. Every named schema becomes one component, found by
// identity wherever it is used. The schema objects themselves come from zod's own generator: the one that
// @hono/zod-openapi brings names a schema only when it was created after that library was loaded, makes a component
// itself nullable when it is first seen behind `.nullable()`, and prints `format: ip`.
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import type { HttpEnv } from "./env.ts";
import { ErrorBody } from "../contract/common.ts";
import { schemaObjects, type SchemaSet, type Use } from "./openapi-schema.ts";

type Route = Extract<OpenAPIHono<HttpEnv>["openAPIRegistry"]["definitions"][number], { type: "route" }>["route"];
/** A JSON object of the document. Its form is checked by a validator in the tests, not by types. */
export type OpenApiObject = { [key: string]: unknown };

export type OpenApiDocument = {
  openapi: "3.0.3";
  info: { title: string; version: string; description: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, OpenApiObject>>;
  components: { schemas: Record<string, OpenApiObject>; securitySchemes: OpenApiObject };
};

const JSON_TYPE = "application/json";

/** For the `responses` of every route: what a caller reads when it did not work. */
export const ERROR_RESPONSES = {
  "4XX": { description: "Refused; the message says why", content: { [JSON_TYPE]: { schema: ErrorBody } } },
  "5XX": { description: "Not the caller's fault", content: { [JSON_TYPE]: { schema: ErrorBody } } },
} as const;

/**
 * @param app with all its routes; `x-rights` on a route is shown in the docs, `security: []` marks an anonymous one
 * @param described.schemas name to schema; names appear in the document as they are
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
      description: "Control plane from bare iron to tenant machines",
    },
    tags,
    paths,
    components: {
      schemas: set.components,
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
  const parameters = [
    ...parametersOf(request?.params, "path", set),
    ...parametersOf(request?.query, "query", set),
    ...headersOf(route).flatMap((headers) => parametersOf(headers, "header", set)),
  ];
  const body = bodySchema(request?.body?.content);
  const { middleware: _middleware, getRoutingPath: _getRoutingPath, hide: _hide, ...shown } =
    described as OpenApiObject;
  return {
    ...shown,
    security: route.security ?? [{ bearer: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(isSchema(body) && {
      requestBody: {
        required: request?.body?.required ?? false,
        content: { [JSON_TYPE]: { schema: set.of(body, "input") } },
      },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => {
        const schema = bodySchema(contentOf(response));
        const content = isSchema(schema) ? { content: { [JSON_TYPE]: { schema: set.of(schema, "output") } } } : {};
        return [status, { description: (response as { description: string }).description, ...content }];
      }),
    ),
  };
}

function parametersOf(schema: unknown, place: "path" | "query" | "header", set: SchemaSet): OpenApiObject[] {
  if (!isSchema(schema)) return [];
  const object = set.inline(schema, "input") as { properties?: Record<string, OpenApiObject>; required?: string[] };
  if (object.properties === undefined) throw new Error(`the ${place} parameters of a route must be one z.object`);
  return Object.entries(object.properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === "path" || (object.required?.includes(name) ?? false),
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
