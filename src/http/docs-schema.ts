// Renders a schema object as text: a type for a table cell, and one line per field.
import { type Markup, markup } from "./markup.ts";

export type SchemaObject = { readonly [key: string]: unknown };
export type SchemaLine = {
  readonly name: string;
  readonly type: Markup;
  readonly required: boolean;
  readonly text: string;
};

const REF = "#/components/schemas/";
/** The depth to which nested objects without a name are listed. */
const DEPTH_MAX = 4;

/** Returns the type, with links to named schemas: "array of CnView or null". */
export function schemaType(schema: SchemaObject): Markup {
  const nothing = schema.nullable === true ? " or null" : "";
  return markup`${bareType(schema)}${nothing}`;
}

/** Returns the fields of an object or of the objects in an array. Nested fields have dotted names. */
export function schemaLines(schema: SchemaObject, prefix = "", depth = 0): SchemaLine[] {
  if (depth > DEPTH_MAX) return [];
  const items = schema.items as SchemaObject | undefined;
  if (items) return schemaLines(items, `${prefix}[]`, depth + 1);
  const variants = (schema.oneOf ?? schema.anyOf) as SchemaObject[] | undefined;
  if (variants && schema.properties === undefined) {
    return variants.flatMap((variant) => schemaLines(variant, prefix, depth + 1));
  }
  const required = new Set((schema.required ?? []) as string[]);
  return Object.entries((schema.properties ?? {}) as Record<string, SchemaObject>).flatMap(([key, member]) => {
    const name = prefix === "" ? key : `${prefix}.${key}`;
    const line = { name, type: schemaType(member), required: required.has(key), text: schemaRules(member) };
    return [line, ...schemaLines(member, name, depth + 1)];
  });
}

function bareType(schema: SchemaObject): Markup {
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.slice(REF.length);
    return markup`<a href="#schema-${name}">${name}</a>`;
  }
  const parts = (schema.allOf ?? schema.oneOf ?? schema.anyOf) as SchemaObject[] | undefined;
  if (parts) return markup`${parts.map((part, at) => markup`${at > 0 ? " or " : ""}${schemaType(part)}`)}`;
  if (schema.type === "array") return markup`array of ${schemaType((schema.items ?? {}) as SchemaObject)}`;
  if (schema.type === "object" && typeof schema.additionalProperties === "object") {
    return markup`object of ${schemaType(schema.additionalProperties as SchemaObject)}`;
  }
  return markup`${schema.format ?? schema.type ?? "any JSON"}`;
}

/** Returns the description of a field, its allowed values, its bounds, its pattern and its default. */
export function schemaRules(schema: SchemaObject): string {
  const facts = [
    schema.description,
    Array.isArray(schema.enum) && `One of ${schema.enum.filter((value) => value !== null).join(", ")}`,
    schema.minimum !== undefined && `at least ${schema.minimum}`,
    schema.maximum !== undefined && `at most ${schema.maximum}`,
    schema.minLength !== undefined && `at least ${characters(schema.minLength)}`,
    schema.maxLength !== undefined && `at most ${characters(schema.maxLength)}`,
    schema.pattern !== undefined && `pattern ${schema.pattern}`,
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
  ];
  return facts.filter(Boolean).join("; ");
}

function characters(count: unknown): string {
  return `${count} ${count === 1 ? "character" : "characters"}`;
}
