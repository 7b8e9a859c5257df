// Generates v1/openapi.json, the API description (OpenAPI 3.0.3), from the schemas.
import { z } from "zod";
import { ALIASES } from "../../src/lib/image-index/values.ts";
import * as model from "./model.ts";
import { documentText } from "../../src/lib/image-index/documents.ts";

type Json = Record<string, unknown>;
const named = {
  DistroList: model.DistroList,
  ImageList: model.ImageList,
  Image: model.Image,
  Distro: model.Distro,
  DistroSummary: model.DistroSummary,
  Release: model.Release,
  Alias: model.AliasName,
  OsinfoRef: model.OsinfoRef,
  BuildList: model.BuildList,
  Build: model.Build,
  Artifact: model.Artifact,
  Location: model.Location,
  Integrity: model.Integrity,
  Digest: model.Digest,
  ChecksumSource: model.ChecksumSource,
  HttpMetadata: model.HttpMetadata,
  Signature: model.Signature,
  ChecksumFormat: model.ChecksumFormatName,
  Compression: model.CompressionName,
  ImageFormat: model.ImageFormatName,
  SignatureKind: model.SignatureKindName,
} as const;

const ErrorSchema: Json = {
  type: "object",
  required: ["message", "request_id"],
  properties: { message: { type: "string" }, request_id: { type: "string" }, error_code: { type: "string" } },
};

type Operation = { path: string; id: string; summary: string; schema: string | null };
const OPERATIONS: readonly Operation[] = [
  { path: "/v1/index.json", id: "distro_list", summary: "Every distro in the index", schema: "DistroList" },
  {
    path: "/v1/images.json",
    id: "image_list",
    summary: "Every current build with its distro and release",
    schema: "ImageList",
  },
  {
    path: "/v1/distros/{distro}/index.json",
    id: "distro_view",
    summary: "One distro and its releases",
    schema: "Distro",
  },
  {
    path: "/v1/distros/{distro}/releases/{release}/index.json",
    id: "release_builds",
    summary: "Current builds of a release, from the vendor's main tree",
    schema: "BuildList",
  },
  {
    path: "/v1/distros/{distro}/releases/{release}/archive.json",
    id: "release_archive",
    summary: "Archived builds, available only from a vendor vault",
    schema: "BuildList",
  },
  ...ALIASES.map((alias) => ({
    path: `/v1/distros/{distro}/aliases/${alias}.json`,
    id: `alias_${alias}`,
    summary: `Current builds of the release with the alias ${alias}${
      alias === "latest" ? "" : "; 404 without such a release"
    }`,
    schema: "BuildList",
  })),
  {
    path: "/v1/openapi.json",
    id: "api_description",
    summary: "This description, from the version of the builder that wrote the tree",
    schema: null,
  },
];

/** Returns the text of v1/openapi.json. */
export function openapiText(): string {
  return documentText({
    openapi: "3.0.3",
    info: {
      title: "Image index",
      description: "A read-only catalogue of cloud images: distro, release, build, artifact.",
      version: "1.0.0",
    },
    paths: Object.fromEntries(OPERATIONS.map((operation) => [operation.path, { get: operationObject(operation) }])),
    components: { schemas: schemas() },
  });
}

function operationObject({ path, id, summary, schema }: Operation): Json {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
  const error = { description: "Error", content: json(ref("Error")) };
  return {
    operationId: id,
    summary,
    ...(names.length === 0
      ? {}
      : { parameters: names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })) }),
    responses: {
      "200": { description: "OK", content: json(schema === null ? {} : ref(schema)) },
      "4XX": error,
      "5XX": error,
    },
  };
}

function schemas(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, {
    target: "openapi-3.0",
    io: "input",
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ zodSchema, jsonSchema }) => {
      const values = z.globalRegistry.get(zodSchema)?.open_values;
      const schema = jsonSchema as Json;
      if (Array.isArray(values)) openEnum(schema, values);
      // Zod adds JavaScript's largest exact number as the maximum, but the API allows every uint64.
      if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
    },
  }).schemas as Record<string, Json>;
  const cleaned = Object.entries(made).map(([id, schema]) => [id, withoutFrame(schema)] as const);
  return Object.fromEntries([...cleaned, ["Error", ErrorSchema] as const].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Describes a known value or any other string. Client generators understand this form, but not `not: {enum}`. */
function openEnum(schema: Json, values: readonly string[]): void {
  delete schema.type;
  delete schema.open_values;
  schema.oneOf = [
    { type: "string", enum: [...values] },
    { type: "string", pattern: `^(?!(?:${values.join("|")})$)` },
  ];
}

/** Removes keys of JSON Schema that OpenAPI 3.0 does not know. */
function withoutFrame(schema: Json): Json {
  const { $schema: _schema, $id: _id, id: _name, ...rest } = schema;
  return rest;
}

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function json(schema: Json): Json {
  return { "application/json": { schema } };
}
