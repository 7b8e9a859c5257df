// Converts zod schemas to OpenAPI 3.0 schema objects. A schema can have two forms: the input form describes values that
// requests may send, the output form describes values in answers. In the input form, fields with defaults are optional
// and transforms are not applied. A named schema whose forms differ becomes Name and NameInput.
import { z } from "zod";

type Json = { [key: string]: unknown };
type Io = "input" | "output";
/** A schema that a route uses, and the direction: input or output. */
export type Use = { readonly schema: z.ZodType; readonly io: Io };
/** Both forms of every schema, by the schema's id. */
type Forms = Record<Io, Record<string, Json>>;

export type SchemaSet = {
  readonly components: Record<string, Json>;
  /** Returns a $ref for a named schema, else the schema object. */
  of(schema: z.ZodType, io: Io): Json;
  /** Returns the schema object itself, even for a named schema. */
  inline(schema: z.ZodType, io: Io): Json;
};

const REF = "#/components/schemas/";
/** Formats whose pattern is left out of the description, because the pattern would span several lines. */
const PLAIN_FORMATS: ReadonlySet<unknown> = new Set(["date-time", "uuid", "ipv4", "ipv6", "email", "uri"]);

/**
 * Converts the schemas.
 * @param used every schema of the routes, with its direction
 */
export function schemaObjects(
  named: Readonly<Record<string, z.ZodType>>,
  used: readonly Use[],
): SchemaSet {
  const nameOf = new Map(Object.entries(named).map(([name, schema]) => [schema, name]));
  const idOf = new Map<z.ZodType, string>(nameOf);
  for (const { schema } of used) if (!idOf.has(schema)) idOf.set(schema, `anonymous ${idOf.size}`);
  const isNamed = (id: string) => Object.hasOwn(named, id);
  const forms: Forms = { output: generate(idOf, "output", isNamed), input: generate(idOf, "input", isNamed) };
  const reached = { output: reach("output", used, idOf, forms), input: reach("input", used, idOf, forms) };
  const split = differing([...reached.output].filter((name) => isNamed(name) && reached.input.has(name)), forms);
  const inputRef = (name: string) => ({ $ref: REF + (split.has(name) ? `${name}Input` : name) });

  const components: Record<string, Json> = {};
  for (const name of Object.keys(named).sort()) {
    const isInputOnly = reached.input.has(name) && !reached.output.has(name);
    components[name] = isInputOnly ? rewriteRefs(forms.input[name]!, inputRef) : forms.output[name]!;
    if (split.has(name)) components[`${name}Input`] = rewriteRefs(forms.input[name]!, inputRef);
  }
  const inline = (schema: z.ZodType, io: Io): Json => {
    const json = forms[io][idOf.get(schema)!]!;
    return io === "input" ? rewriteRefs(json, inputRef) : json;
  };
  return {
    components,
    inline,
    of(schema, io) {
      const name = nameOf.get(schema);
      if (name === undefined) return inline(schema, io);
      return io === "input" ? inputRef(name) : { $ref: REF + name };
    },
  };
}

function generate(idOf: Map<z.ZodType, string>, io: Io, isNamed: (id: string) => boolean): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of idOf) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    target: "openapi-3.0",
    io,
    unrepresentable: "any",
    uri: (id) => REF + id,
    override: ({ zodSchema, jsonSchema }) => tidy(zodSchema, jsonSchema as Json, io),
  });
  const whole = Object.fromEntries(
    Object.entries(schemas).map(([id, { $id: _, ...json }]) => [id, finished(json as Json) as Json]),
  );
  // Only named schemas are components. References to other schemas are replaced by their content.
  const expand = (json: Json): Json =>
    rewriteRefs(json, (id) => (isNamed(id) ? { $ref: REF + id } : expand(whole[id]!)));
  return Object.fromEntries(Object.entries(whole).map(([id, json]) => [id, expand(json)]));
}

function tidy(schema: z.core.$ZodType, json: Json, io: Io): void {
  if (PLAIN_FORMATS.has(json.format)) delete json.pattern;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  // Later versions may add fields to answers, so no answer forbids additional properties.
  if (io === "output" && json.additionalProperties === false) delete json.additionalProperties;
  const { def } = schema._zod as { def: { type: string; discriminator?: string } };
  if (def.type === "union" && def.discriminator !== undefined) json["x-discriminator"] = def.discriminator;
}

/**
 * Completes a schema and the schemas in it. Adds a discriminator only if all members are references. Adds null to the
 * values of a nullable enum.
 */
function finished(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(finished);
  if (typeof value !== "object" || value === null) return value;
  const { "x-discriminator": propertyName, ...json } = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, finished(member)]),
  ) as Json;
  const members = json.oneOf as Json[] | undefined;
  if (propertyName !== undefined && members?.every((member) => "$ref" in member)) json.discriminator = { propertyName };
  if (json.nullable === true && Array.isArray(json.enum) && !json.enum.includes(null)) json.enum = [...json.enum, null];
  return json;
}

/** Returns the ids of the schemas that the routes use in one direction, directly or through other schemas. */
function reach(io: Io, used: readonly Use[], idOf: Map<z.ZodType, string>, forms: Forms): Set<string> {
  const seen = new Set<string>();
  const visit = (id: string): void => {
    if (seen.has(id)) return;
    seen.add(id);
    for (const held of refsOf(forms[io][id]!)) visit(held);
  };
  for (const use of used) if (use.io === io) visit(idOf.get(use.schema)!);
  return seen;
}

/** Returns the names whose two forms differ, in the schema itself or in a schema that it contains. */
function differing(names: readonly string[], forms: Forms): Set<string> {
  const split = new Set(
    names.filter((name) => JSON.stringify(forms.output[name]) !== JSON.stringify(forms.input[name])),
  );
  for (let before = -1; before !== split.size;) {
    before = split.size;
    for (const name of names) if (refsOf(forms.input[name]!).some((held) => split.has(held))) split.add(name);
  }
  return split;
}

function refsOf(json: Json): string[] {
  const names: string[] = [];
  rewriteRefs(json, (name) => {
    names.push(name);
    return {};
  });
  return names;
}

function rewriteRefs<T>(value: T, target: (name: string) => Json): T {
  if (Array.isArray(value)) return value.map((item) => rewriteRefs(item, target)) as T;
  if (typeof value !== "object" || value === null) return value;
  // In OpenAPI 3.0 a $ref has no siblings, so the target replaces the whole object.
  if ("$ref" in value && typeof value.$ref === "string") return target(value.$ref.slice(REF.length)) as T;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, rewriteRefs(member, target)])) as T;
}
