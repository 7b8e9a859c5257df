// Generates requests that a route must refuse, from the route's entry in the API description.
import { JSON_DEPTH_MAX } from "../../src/contract/limits.ts";
import { limitsOf } from "./limits-of.ts";
import type { CallOptions } from "../support/control-plane.ts";
import type { Parameter, RouteDescription, Schema } from "./description.ts";

export type BadCase = {
  readonly name: string;
  readonly options: CallOptions;
  /** Values for path parameters, by the parameter's name. */
  readonly at?: Readonly<Record<string, string>>;
  /** The query, including its question mark. */
  readonly query?: string;
  /** The acceptable statuses, and a word that the message must contain. */
  readonly expected: { readonly statuses: readonly number[]; readonly names?: string };
};

/** Texts that are not times, and times in a UTC year that PostgreSQL or an answer cannot express. */
const WRONG_TIMES = [
  ...["yesterday", "2026-13-01T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00+24:00"],
  ...["0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"],
];
const WRONG_DAYS = ["yesterday", "2026-02-30", "0000-01-01"];

type Body = Readonly<Record<string, unknown>>;

const BAD: BadCase["expected"] = { statuses: [400] };

/** Returns requests with an invalid body. `accepted` is a valid body, or one valid item if the body is an array. */
export function badBodies(route: RouteDescription & { readonly accepted: Body }): BadCase[] {
  const { body, accepted } = route;
  if (body === null) return [];
  const isList = body.type === "array";
  const fields = (isList ? body.items : body) ?? {};
  const object = JSON.stringify(accepted);
  const cases = [
    ...brokenTexts(object),
    ...hostileTexts(route),
    ...Object.entries(fields.properties ?? {}).flatMap(([field, schema]) => wrongField(field, schema, accepted)),
    ...(fields.required ?? []).map((field) => missing(field, accepted)),
    ...unknownFields(route, accepted),
  ];
  return [...(isList ? cases.map(asItem) : cases), ...wrongForms(route, object)];
}

/** Wraps the body of a case in an array, for a route whose body is an array. */
function asItem(each: BadCase): BadCase {
  const { text, body } = each.options;
  const options = text === undefined ? { body: [body] } : { text: `[${text}]` };
  return { ...each, options: { ...each.options, ...options } };
}

function text(name: string, value: string, expected = BAD): BadCase {
  return { name, options: { text: value }, expected };
}

function brokenTexts(sound: string): BadCase[] {
  return ["{", "[", '"', "nul", "{'a':1}", "{a:1}", sound + "x", sound + sound, sound.slice(0, -1)]
    .map((each) => text(`broken JSON ${JSON.stringify(each.slice(0, 20))}`, each));
}

function hostileTexts({ path, accepted }: RouteDescription & { readonly accepted: Body }): BadCase[] {
  const sound = JSON.stringify(accepted);
  const [field = "field", value] = Object.entries(accepted)[0] ?? [];
  const { elements_max } = limitsOf(path);
  const inside = (json: string) => text(json.slice(0, 40), `${sound.slice(0, -1)},"extra":${json}}`);
  return [
    inside('"\\u0000"'),
    inside('"\\ud800"'),
    inside('"\\udc00x"'),
    inside("1e999"),
    inside("-1e999"),
    inside("9007199254740993"),
    inside("NaN"),
    inside('{"__proto__":{"is_root":true}}'),
    inside("[".repeat(JSON_DEPTH_MAX) + "]".repeat(JSON_DEPTH_MAX)),
    inside(`[${Array(elements_max + 1).fill(0).join()}]`),
    text("__proto__", `{"__proto__":{},${sound.slice(1)}`),
    text("a key twice", `{${JSON.stringify(field)}:${JSON.stringify(value)},${sound.slice(1)}`),
  ];
}

/** Returns cases whose body is invalid as a whole, for example because it has another JSON type or content type. */
function wrongForms({ path, body, bodyOptional }: RouteDescription, object: string): BadCase[] {
  const isList = body?.type === "array";
  // A body with another content type counts as missing. A route with an optional body accepts such a request.
  const otherTypes = bodyOptional ? [] : ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"];
  const sound = isList ? `[${object}]` : object;
  const forms = ["null", "true", "1", '"text"', "[null]", "[1]", "[[]]", ...(isList ? ["{}", object] : ["[]", "[{}]"])];
  return [
    ...forms.map((json) => text(`the body ${json}`, json)),
    text("no body", ""),
    ...otherTypes.map((type) => ({
      name: `a body with the content type ${type}`,
      options: { text: sound, headers: { "content-type": type } },
      expected: { statuses: [400, 415] },
    })),
    text("a body that is too large", sound + " ".repeat(limitsOf(path).bytes_max), { statuses: [413] }),
  ];
}

function missing(field: string, accepted: Body): BadCase {
  const { [field]: _left, ...rest } = accepted;
  return { name: `without ${field}`, options: { body: rest }, expected: { ...BAD, names: field } };
}

function wrongField(field: string, schema: Schema, accepted: Body): BadCase[] {
  return wrongValues(schema).map((value) => ({
    name: `${field} = ${JSON.stringify(value)}`,
    options: { body: { ...accepted, [field]: value } },
    expected: { ...BAD, names: field },
  }));
}

/** Returns values that the schema refuses, or no values if the schema accepts any value. */
function wrongValues(schema: Schema): unknown[] {
  const types = typesOf(schema);
  if (types.size === 0) return [];
  const wrong: unknown[] = [
    ...(schema.nullable === true ? [] : [null]),
    ...(types.has("string") ? [] : ["text", ""]),
    ...(types.has("number") || types.has("integer") ? [] : [7]),
    ...(types.has("number") ? [] : [7.5]),
    ...(types.has("boolean") ? [] : [true]),
    ...(types.has("array") ? [] : [[]]),
    ...(types.has("object") ? [] : [{}, { toString: 1 }]),
  ];
  if (schema.enum !== undefined) wrong.push("no-such-value", "");
  if (schema.format === "uuid") wrong.push("not-a-uuid", "0".repeat(32), "{00000000-0000-0000-0000-000000000000}");
  if (schema.format === "date-time") wrong.push(...WRONG_TIMES);
  if (schema.format === "ipv4") wrong.push("256.0.0.1", "1.2.3", "01.2.3.4", "::1");
  return wrong;
}

function typesOf(schema: Schema): Set<string> {
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return new Set([...(schema.type === undefined ? [] : [schema.type]), ...parts.flatMap((part) => [...typesOf(part)])]);
}

/**
 * Returns cases with an unknown field. Routes of agents and booters get no such case, because newer agents and booters
 * may send new fields.
 */
function unknownFields(route: RouteDescription, accepted: Body): BadCase[] {
  if (/^\/v\d\/(?:agent|booter)\//.test(route.path)) return [];
  const fields = ["disk_laoyut", "state", "id", "tenant_id", "is_root", "constructor", "toString"];
  return fields.map((field) => ({
    name: `the unknown field ${field}`,
    options: { body: { ...accepted, [field]: "x" } },
    expected: { ...BAD, names: field },
  }));
}

export function badParameters(route: RouteDescription): BadCase[] {
  return route.parameters.flatMap((parameter) =>
    parameter.in === "path" ? badPath(parameter) : parameter.in === "query" ? badQuery(parameter) : []
  );
}

function badPath({ name, schema }: Parameter): BadCase[] {
  const numeric = schema.type === "integer" || schema.type === "number";
  // The server does not check the form of a name in a path, so an invalid name may get 404.
  const statuses = numeric || schema.format === "uuid" ? [400] : [400, 404];
  const values = [
    "x",
    "%00",
    "..",
    "%2e%2e%2f",
    "%F0%9F%92%A9",
    "%ff",
    "null",
    "1;drop table cn",
    "00000000-0000-0000-0000-00000000000g",
    "a".repeat(300),
    ...(numeric ? ["-1", "1.5", "1e3x", "9007199254740993", "0x"] : []),
  ].filter((value) => value !== "..");
  return values.map((value) => ({
    name: `{${name}} = ${value.slice(0, 40)}`,
    options: {},
    at: { [name]: value },
    expected: { statuses },
  }));
}

function badQuery({ name, schema }: Parameter): BadCase[] {
  const types = typesOf(schema);
  const values = [
    ...(types.has("integer") || types.has("number") ? ["x", "-1", "1.5", "", "9007199254740993", "1e400"] : []),
    ...(schema.enum === undefined ? [] : ["no-such-value", ""]),
    ...(schema.format === "uuid" ? ["x", ""] : []),
    "%00",
  ];
  const cases = values.map((value) => ({
    name: `?${name}=${value}`,
    options: {},
    query: `?${name}=${value}`,
    expected: BAD,
  }));
  const times = schema.format === "date-time" ? WRONG_TIMES : schema.format === "date" ? WRONG_DAYS : [];
  const named = times.map((value) => ({
    name: `?${name}=${value}`,
    options: {},
    query: `?${name}=${encodeURIComponent(value)}`,
    expected: { ...BAD, names: name },
  }));
  return [...cases, ...named, { name: `?${name} twice`, options: {}, query: `?${name}=1&${name}=1`, expected: BAD }];
}
