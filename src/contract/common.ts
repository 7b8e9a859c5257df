// Defines schemas that many endpoints share: errors, pages, ids, timestamps.
import { z } from "zod";
import { ERROR_CODE_NAMES, ERROR_CODES_TEXT } from "./error-codes.ts";

/** An RFC 3339 timestamp, with or without fractional seconds. Answers use UTC; requests may use any offset. */
export const Timestamp = z.iso.datetime({ offset: true }).describe("RFC 3339 timestamp, UTC");

/** The years that both PostgreSQL and RFC 3339 can express. */
export const YEARS = { first: 1, last: 9_999, text: "must be in the years 0001 to 9999, in UTC" } as const;

/** A timestamp in a request. It becomes UTC with milliseconds: PostgreSQL cannot parse every form. */
export const GivenTimestamp = Timestamp.refine((text) => {
  const year = new Date(text).getUTCFullYear();
  return !(year < YEARS.first || year > YEARS.last);
}, YEARS.text).transform((text) => new Date(text).toISOString()).pipe(z.string());

/**
 * Any UUID, changed to lower case, because ids are compared in lower case. An endpoint that refuses the nil UUID and
 * the all-ones UUID checks for them itself.
 */
export const Uuid = z.guid().toLowerCase();

/** The first characters of a UUID, changed to lower case. */
export const UuidPrefix = z.string().toLowerCase().regex(
  /^[0-9a-f]{1,8}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){0,2}-[0-9a-f]{0,4}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{0,12}$/,
  "must be the first characters of a UUID",
).optional().describe("Only the keys whose id begins with these characters");

/** The body of an error answer (4xx or 5xx). */
export const ErrorBody = z.object({
  message: z.string().describe("The failure, described for a person"),
  request_id: z.uuid().describe("Also sent as x-request-id; quote it when you ask for help"),
  // Not an enum, so that clients accept codes of later versions. Client generators understand x-extensible-enum.
  error_code: z.string().optional().meta({
    description: `A stable name of the failure, if it has one. ${ERROR_CODES_TEXT}`,
    "x-extensible-enum": ERROR_CODE_NAMES,
  }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

/** Returns the schema of one page of a list. The last page has no `next_page`. */
export function page<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), next_page: z.string().optional() });
}
/** One page of a list, as the schema of `page()` describes it. */
export type Page<T> = { items: T[]; next_page?: string };

/** Returns the schema of an optional field with a default. Null is the same as absent. */
export function withDefault<T extends z.ZodType>(schema: T, standard: z.output<T>) {
  return schema.nullish().transform((value): z.output<T> => value ?? standard);
}

/**
 * Returns the schema of a whole number in a query or path. Accepts only digits: a lenient parser would read "" as 0.
 */
export function wholeNumber(low: number, high: number) {
  return z.preprocess(
    (text) => typeof text === "string" && /^\d{1,16}$/.test(text) ? Number(text) : text,
    z.number().int().min(low).max(high),
  );
}

/** The query of paged lists (docs/wire.md, "Lists"). */
export const PageQuery = {
  limit: wholeNumber(1, 1_000).optional().describe("Rows in this page, 1 to 1,000"),
  page_token: z.string().min(1).max(512).optional().describe("`next_page` of the previous page"),
};

/** The answer of GET / to a program. The addresses are paths on this server. */
export const Greeting = z.object({
  name: z.literal("Berth"),
  version: z.string(),
  console: z.string(),
  docs: z.string(),
  openapi: z.string(),
  identity_service: z.boolean().describe("Whether operators can sign in to the web console at an identity service"),
});
export type Greeting = z.infer<typeof Greeting>;

/** The answer of GET /v1/health. */
export const Health = z.object({ status: z.literal("ok"), version: z.string() });
export type Health = z.infer<typeof Health>;
