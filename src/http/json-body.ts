// Reads the body of a request up to the size limit and, if it is JSON, checks and parses it once. This runs before the
// authorization and the rate limits of the route, so it must be cheap to refuse a body.
import type { Context } from "hono";
import { joinedBytes } from "../lib/text/joined-bytes.ts";
import { jsonLimits } from "../lib/text/json-limits.ts";
import type { BodyAdmission } from "./body-admission.ts";
import { BODY_LIMITS, bodyLimits } from "./body-limits.ts";
import type { HttpEnv } from "./env.ts";
import type { Refusal } from "./error-answer.ts";

export const TOO_MANY_BODIES = "too many request bodies are being received; try again";
export const BODY_LATE = "the request was not complete in time";
const LATE: Refusal = { status: 408, message: BODY_LATE };
const TOO_MANY: Refusal = { status: 503, message: TOO_MANY_BODIES, headers: { "retry-after": "1" } };
const MALFORMED: Refusal = { status: 400, message: "Malformed JSON in request body" };
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

const decoder = new TextDecoder("utf-8", { fatal: true });

export function bodyTooLarge(bytes_max: number): string {
  return `the body must not be larger than ${bytes_max} bytes`;
}

/** Reads the body and stores it where hono's validators look for it. Returns the refusal of a bad body, or null. */
export async function takeBody(c: Context<HttpEnv>, admit?: BodyAdmission): Promise<Refusal | null> {
  const request = c.req.raw;
  if (request.method === "GET" || request.method === "HEAD") return null;
  const bytes = c.env?.body ?? await readAdmitted(c, admit);
  const limits = bodyLimits(c.req.path, c.get("checked")?.credential?.principal);
  if (bytes === null) return { status: 413, message: bodyTooLarge(limits.bytes_max) };
  if (bytes === "late") return LATE;
  if (bytes === "many") return TOO_MANY;
  if (bytes === "none" || (bytes.length === 0 && c.env?.body !== undefined)) return null;
  if (!JSON_TYPE.test(request.headers.get("content-type") ?? "")) {
    keep(c, { arrayBuffer: Promise.resolve(bytes.buffer) });
    return null;
  }
  const text = utf8(bytes);
  if (text === null) return MALFORMED;
  keep(c, { text: Promise.resolve(text) });
  // The validator decides whether an empty body is allowed. Routes without a body schema accept an empty body.
  if (text === "") return null;
  const rule = jsonLimits(text, limits.elements_max);
  if (rule !== null) return { status: 400, message: `body: ${rule}` };
  const value = parsed(text);
  if (value === undefined) return MALFORMED;
  c.req.json = <T>() => Promise.resolve(value as T);
  return null;
}

/**
 * Drops the parsed body to free memory. Call this before a request waits, when its body is no longer needed. Later
 * middleware cannot read the body.
 */
export function forgetBody(c: Context<HttpEnv>): void {
  c.req.bodyCache = {};
  c.req.json = () => Promise.reject(new Error("the body was dropped"));
}

/**
 * Stores the body in hono's cache. Hono declares the cache's entries as plain values, but stores and reads promises.
 */
function keep(c: Context<HttpEnv>, body: { text: Promise<string> } | { arrayBuffer: Promise<ArrayBufferLike> }): void {
  Object.assign(c.req.bodyCache, body);
}

/** Reads the body within the memory budget for bodies. Called only if the server has not read the body already. */
async function readAdmitted(c: Context<HttpEnv>, admit?: BodyAdmission) {
  const request = c.req.raw;
  const length = request.headers.get("content-length");
  if (admit === undefined || length === "0") return await readCapped(request, BODY_LIMITS.bytes_max);
  const end = Promise.withResolvers<"many" | "late">();
  const admitted = await admit({
    path: c.req.path,
    address: c.get("clientAddress"),
    authorization: request.headers.get("authorization") ?? undefined,
    cookies: request.headers.get("cookie") ?? undefined,
    length: length === null ? null : Number(length),
    evict: () => end.resolve("many"),
  });
  if (admitted === null) return "many";
  c.set("checked", admitted.checked);
  const late = setTimeout(() => end.resolve("late"), admitted.read_ms);
  try {
    return await Promise.race([readCapped(request, admitted.limits.bytes_max, admitted.received), end.promise]);
  } finally {
    clearTimeout(late);
    admitted.release();
  }
}

/**
 * Reads a body. Returns null if the body is above the limit, "none" if the request has no body, and "many" if
 * `received` returns false. A body of declared length is read with `arrayBuffer`, because `request.body` would create a
 * stream.
 */
async function readCapped(
  request: Request,
  bytes_max: number,
  received: (bytes: number) => boolean = () => true,
): Promise<Uint8Array | "none" | "many" | null> {
  const declared = Number(request.headers.get("content-length") ?? NaN);
  if (declared > bytes_max) return null;
  // The server enforces the declared length, so the body can be read in one piece.
  if (declared >= 0) {
    const whole = new Uint8Array(await request.arrayBuffer());
    return whole.length > bytes_max ? null : whole;
  }
  if (request.body === null) return "none";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.length;
    if (size > bytes_max) return null; // leaving the loop cancels the stream
    if (!received(size)) return "many";
    chunks.push(chunk);
  }
  return joinedBytes(chunks);
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null; // The bytes are not UTF-8.
  }
}

/** Parses JSON; returns undefined for malformed text. The parser's message is dropped, because it quotes the text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
