// Shapes that every endpoint shares: errors, pages, ids, timestamps.
import { z } from "zod";
import { ERROR_CODE_NAMES, ERROR_CODES_TEXT } from "./error-codes.ts";

/** RFC 3339 in UTC, fractional seconds allowed (document 4, 0.1). */
export const Timestamp = z.iso.datetime({ offset: true }).describe("RFC 3339 timestamp, UTC");

/** Any UUID, the nil and all-ones ones included; a rule about those belongs to the endpoint that has it. */
export const Uuid = z.guid().transform((value) => value.toLowerCase()).pipe(z.string());

/** Document 4, 0.1: the body of every 4xx and 5xx answer. */
export const ErrorBody = z.object({
  message: z.string().describe("What went wrong, in words for the caller"),
  request_id: z.uuid().describe("Also sent as x-request-id; quote it when you ask for help"),
  // No enum, so that a client reads the answers of a later version too; generators know the extension as a hint.
  error_code: z.string().optional().meta({
    description: `A stable name for the failure, where it has one. ${ERROR_CODES_TEXT}`,
    "x-extensible-enum": ERROR_CODE_NAMES,
  }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

/** Document 4, 0.3: the results page. `next_page` is absent on the last one. */
export function page<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), next_page: z.string().optional() });
}
/** A page as its readers see it: `page()` without the schema. */
export type Page<T> = { items: T[]; next_page?: string };

/** An optional field with a default. Null is the same as absent (document 4, Fixed here, Null in a body). */
export function withDefault<T extends z.ZodType>(schema: T, standard: z.output<T>) {
  return schema.nullish().transform((value): z.output<T> => value ?? standard);
}

/** A whole number in a query or path. Digits only: a lenient reading takes "" for 0, which is a number here. */
export function wholeNumber(low: number, high: number) {
  return z.preprocess(
    (text) => typeof text === "string" && /^\d{1,16}$/.test(text) ? Number(text) : text,
    z.number().int().min(low).max(high),
  );
}

/** Document 4, Fixed here, Lists. */
export const PageQuery = {
  limit: wholeNumber(1, 1_000).optional().describe("Rows in this page, 1 to 1,000"),
  page_token: z.string().min(1).max(512).optional().describe("`next_page` of the page before"),
};

/** What GET /v1/health answers to everybody. */
export const Health = z.object({ status: z.literal("ok"), version: z.string() });
export type Health = z.infer<typeof Health>;
