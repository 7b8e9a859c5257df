// Tests how the OpenAPI document is generated from routes and schemas.
import { createRoute } from "@hono/zod-openapi";
import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ApiKeyBody, ApiKeyView } from "../../src/contract/api-key.ts";
import { CapacityReport, RegisterStatusQuery, Registration, RegistrationView } from "../../src/contract/agent.ts";
import { AuditActor, AuditPage } from "../../src/contract/audit.ts";
import { CnApproval, CnParam, CnView, SetupProgress } from "../../src/contract/cn.ts";
import { page, PageQuery } from "../../src/contract/common.ts";
import { ERROR_CODES } from "../../src/contract/error-codes.ts";
import { ERROR_RESPONSES, type OpenApiDocument, openApiDocument } from "../../src/http/openapi.ts";
import { newApp } from "../../src/http/shell.ts";

const json = (schema: z.ZodType) => ({ "application/json": { schema } });
const Cat = z.object({ kind: z.literal("cat"), lives: z.number().int() });
const Dog = z.object({ kind: z.literal("dog"), name: z.string().optional() });
const Pet = z.discriminatedUnion("kind", [Cat, Dog]);
const Both = z.object({ size: z.number().default(3), pet: Pet.nullable() });
const Holder = z.object({ both: Both });

// The routes are in an array, and all get the same empty handler below. So no handler needs the type of its route.
const routes = [
  createRoute({
    method: "get",
    path: "/v1/cns",
    tags: ["Compute nodes"],
    request: { query: z.object({ ...PageQuery, ip: z.ipv4().optional() }) },
    responses: { 200: { description: "ok", content: json(page(CnView)) }, ...ERROR_RESPONSES },
  }),
  createRoute({
    method: "post",
    path: "/v1/cns/{server_uuid}/approve",
    request: { params: CnParam, body: { required: true, content: json(CnApproval) } },
    responses: { 200: { description: "ok", content: json(CnView) }, ...ERROR_RESPONSES },
  }),
  createRoute({
    method: "post",
    path: "/v1/agent/register",
    security: [],
    request: { query: RegisterStatusQuery, body: { required: true, content: json(Registration) } },
    responses: { 200: { description: "ok", content: json(RegistrationView) } },
  }),
  createRoute({
    method: "put",
    path: "/v1/agent/capacity",
    "x-never": [409, 422],
    request: { body: { required: true, content: json(CapacityReport) } },
    responses: { 200: { description: "ok", content: json(z.null()) } },
  }),
  createRoute({
    method: "get",
    path: "/v1/audit",
    responses: { 200: { description: "ok", content: json(AuditPage) } },
  }),
  createRoute({
    method: "post",
    path: "/v1/keys",
    request: { body: { required: true, content: json(ApiKeyBody) } },
    responses: { 201: { description: "made", content: json(ApiKeyView) } },
  }),
  createRoute({
    method: "put",
    path: "/v1/both",
    "x-refusals": [403],
    "x-also": [412],
    request: { body: { required: true, content: json(Holder) } },
    responses: {
      200: { description: "ok", content: json(Holder) },
      202: { description: "later" },
      204: { description: "nothing" },
    },
  }),
];
const schemas = {
  CnView,
  SetupProgress,
  CnApproval,
  Registration,
  RegistrationView,
  CapacityReport,
  AuditPage,
  AuditActor,
  ApiKeyView,
  ApiKeyBody,
  Cat,
  Dog,
  Pet,
  Both,
  Holder,
};

// Tests read the document by path; the validator checks its form.
// deno-lint-ignore no-explicit-any -- tests read the document at every depth
let document: any;
beforeAll(() => {
  const app = newApp();
  for (const route of routes) app.openapi(route, (c) => c.body(null) as never);
  document = openApiDocument(app, { version: "1.2.3", schemas }) satisfies OpenApiDocument;
});

test("the document is valid OpenAPI 3.0", async () => {
  const validator = new Validator();
  const result = await validator.validate(structuredClone(document));
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
  expect([validator.version, document.openapi, document.info.version]).toEqual(["3.0", "3.0.3", "1.2.3"]);
});

test("every reference names an existing component with a name of letters, digits and underscores", () => {
  const references = JSON.stringify(document).match(/"\$ref":"[^"]*"/g) ?? [];
  expect(references.length).toBeGreaterThan(10);
  for (const reference of references) {
    const [, kind = "", name] = /#\/components\/(schemas|responses)\/(\w+)"$/.exec(reference) ?? [];
    expect(Object.keys(document.components[kind] ?? {})).toContain(name);
  }
});

test("a nullable field refers to its named schema; the field is nullable, and the schema is not", () => {
  const { setup_progress } = document.components.schemas.CnView.properties;
  expect(setup_progress).toMatchObject({ nullable: true, allOf: [{ $ref: "#/components/schemas/SetupProgress" }] });
  expect(document.components.schemas.SetupProgress).not.toHaveProperty("nullable");
});

test("an IPv4 address has the format ipv4 and no pattern", () => {
  const parameter = document.paths["/v1/cns"].get.parameters.find(({ name }: { name: string }) => name === "ip");
  expect(parameter).toEqual({ name: "ip", in: "query", required: false, schema: { type: "string", format: "ipv4" } });
});

test("a page of a named schema refers to the schema", () => {
  const { schema } = document.paths["/v1/cns"].get.responses["200"].content["application/json"];
  expect(schema.properties.items).toEqual({ type: "array", items: { $ref: "#/components/schemas/CnView" } });
});

test("a body that refuses unknown fields has additionalProperties false; an answer does not have this field", () => {
  expect(document.components.schemas.CnApproval.additionalProperties).toBe(false);
  expect(document.components.schemas.Registration).not.toHaveProperty("additionalProperties");
  expect(document.components.schemas.CnView).not.toHaveProperty("additionalProperties");
});

test("a schema whose input and output forms differ becomes two components, and so do the schemas that contain it", () => {
  const { Both, BothInput, Holder, HolderInput } = document.components.schemas;
  expect([Both.required, BothInput.required]).toEqual([["size", "pet"], ["pet"]]);
  expect(Holder.properties.both.$ref).toBe("#/components/schemas/Both");
  expect(HolderInput.properties.both.$ref).toBe("#/components/schemas/BothInput");
  const { put } = document.paths["/v1/both"];
  expect(put.requestBody.content["application/json"].schema.$ref).toBe("#/components/schemas/HolderInput");
  expect(put.responses["200"].content["application/json"].schema.$ref).toBe("#/components/schemas/Holder");
  expect(Object.keys(document.components.schemas).filter((name) => name.endsWith("Input"))).toEqual([
    "BothInput",
    "HolderInput",
  ]);
});

test("a union of named members has its discriminator", () => {
  expect(document.components.schemas.Pet).toEqual({
    oneOf: [{ $ref: "#/components/schemas/Cat" }, { $ref: "#/components/schemas/Dog" }],
    discriminator: { propertyName: "kind" },
  });
  expect(document.components.schemas.AuditActor).not.toHaveProperty("discriminator");
});

test("a key is required unless a route is anonymous", () => {
  expect(document.components.securitySchemes.bearer).toMatchObject({ type: "http", scheme: "bearer" });
  expect(document.paths["/v1/cns"].get.security).toEqual([{ bearer: [] }]);
  expect(document.paths["/v1/agent/register"].post.security).toEqual([]);
});

const refusals = (path: string, method: string) =>
  Object.keys(document.paths[path][method].responses).filter((status) => status >= "400").join(" ");

test("each operation names all its error statuses, derived from its route", () => {
  expect(refusals("/v1/cns", "get")).toBe("400 401 414 429 500 503");
  expect(refusals("/v1/cns/{server_uuid}/approve", "post")).toBe("400 401 404 408 409 413 414 415 422 429 500 503");
  expect(refusals("/v1/agent/capacity", "put")).toBe("400 401 408 413 414 415 429 500 503");
  expect(refusals("/v1/both", "put")).toBe("400 401 403 408 409 412 413 414 415 422 429 500 502 503");
});

test("every error has the error body and the codes of its status", () => {
  const { responses, schemas } = document.components;
  for (const [name, { content }] of Object.entries<{ content: unknown }>(responses)) {
    expect([name, content]).toEqual([name, {
      "application/json": { schema: { $ref: "#/components/schemas/ErrorBody" } },
    }]);
  }
  for (const [code, { status, when }] of Object.entries(ERROR_CODES)) {
    expect(responses[`Refused${status}`].description).toContain(code);
    expect(schemas.ErrorBody.properties.error_code.description).toContain(`${code} (${status}): ${when}`);
  }
  expect(schemas.ErrorBody.properties.error_code["x-extensible-enum"]).toEqual(Object.keys(ERROR_CODES));
});

test("the Idempotency-Key header is described where it is accepted, and internal extensions of routes are not shown", () => {
  const headersOf = (path: string, method: string) =>
    (document.paths[path][method].parameters ?? []).filter((each: { in: string }) => each.in === "header");
  expect(headersOf("/v1/keys", "post")).toMatchObject([{ name: "Idempotency-Key", required: false }]);
  expect(headersOf("/v1/agent/capacity", "put")).toEqual([]);
  expect(JSON.stringify(document)).not.toMatch(/"x-(?:refusals|also|never)"/);
});

test("path parameters are required, and a status without a body has no content", () => {
  const [parameter] = document.paths["/v1/cns/{server_uuid}/approve"].post.parameters;
  expect(parameter).toMatchObject({ name: "server_uuid", in: "path", required: true, schema: { format: "uuid" } });
  expect(document.paths["/v1/both"].put.responses["204"]).toEqual({ description: "nothing" });
});
