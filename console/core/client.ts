// Sends requests to the API. Every request of the console to the API goes through `ask` or `getBlob`. If the server
// refuses the request, both throw a Refusal with the server's error message. If no answer arrives, both throw a Refusal
// with status 0.
import type { ErrorBody, Page } from "../../src/contract/common.ts";

/** A request that failed. `status` is 0 if no answer arrived. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(
    readonly status: number,
    message: string,
    readonly request_id: string | null = null,
    /** Seconds to wait before the next attempt, from Retry-After; null if the answer has no such header. */
    readonly retry_after_s: number | null = null,
  ) {
    super(message);
  }

  /**
   * Whether the request may have taken effect, or may still run. A repetition must then have the same Idempotency-Key
   * (docs/wire.md, "Repeating a request").
   */
  get is_unknown(): boolean {
    return this.status === 0 || this.status >= SERVER_ERRORS || this.status === CONFLICT && this.retry_after_s !== null;
  }
}

/** The smallest status of an error of the server, or of a proxy in front of it. */
const SERVER_ERRORS = 500;
const CONFLICT = 409;

/** The server's message for an object that does not exist, or that the caller may not see. */
export const NOT_FOUND = "Not Found";

/** Converts any thrown value to a Refusal, which a page can show. */
export function refusalOf(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal(0, error instanceof Error ? error.message : String(error));
}

export type Selectors = Readonly<Record<string, string | number | boolean | null | undefined>>;
export type CallOptions = {
  readonly query?: Selectors;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** The Idempotency-Key of a write. A form keeps its key, so that a repeated attempt takes effect once. */
  readonly key?: string;
  /** Asks the server to answer at once with the operation, without waiting for its result. */
  readonly respondAsync?: boolean;
  /** The version that a change expects (docs/wire.md, "Optimistic concurrency"). */
  readonly ifMatch?: string;
};

let onUnauthenticated: () => void = () => {};

/** Sets the function that runs when the server no longer accepts the credential. */
export function whenUnauthenticated(run: () => void): void {
  onUnauthenticated = run;
}

let onWrite: (method: string, path: string) => Promise<void> = () => Promise.resolve();

/** Sets the function that runs before each write. If it throws, the write is not sent. */
export function beforeWrites(run: typeof onWrite): void {
  onWrite = run;
}

export type Answered<T> = { readonly status: number; readonly headers: Headers; readonly body: T };

/** Sends a request and returns the whole answer. Throws a Refusal. */
export async function ask<T>(method: string, path: string, options: CallOptions = {}): Promise<Answered<T>> {
  const response = await respond(method, path, "application/json", options);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
}

/** Reads a file, such as a picture. Throws a Refusal. */
export async function getBlob(path: string): Promise<Blob> {
  return await (await respond("GET", path, "*/*")).blob();
}

async function respond(method: string, path: string, accept: string, options: CallOptions = {}): Promise<Response> {
  const { query, body, signal, key, respondAsync, ifMatch } = options;
  const headers = new Headers({ accept });
  if (method !== "GET") headers.set("content-type", "application/json");
  if (key !== undefined) headers.set("idempotency-key", key);
  if (respondAsync) headers.set("prefer", "respond-async");
  if (ifMatch !== undefined) headers.set("if-match", ifMatch);
  if (method !== "GET") await onWrite(method, path);
  let response: Response;
  try {
    response = await fetch(path + queryText(query), {
      method,
      headers,
      credentials: "same-origin",
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  } catch {
    throw new Refusal(0, "The server does not answer. Check the connection and try again.");
  }
  if (response.ok) return response;
  if (response.status === 401 && !path.startsWith("/v1/console/session")) onUnauthenticated();
  throw await refusal(response);
}

async function refusal(response: Response): Promise<Refusal> {
  const body: Partial<ErrorBody> = await response.json().catch(() => ({}));
  const seconds = Number(response.headers.get("retry-after") ?? NaN);
  return new Refusal(
    response.status,
    body.message ?? `The server answered ${response.status} ${response.statusText}`,
    body.request_id ?? response.headers.get("x-request-id"),
    Number.isFinite(seconds) ? seconds : null,
  );
}

/** Returns the query of a URL with its question mark; leaves out empty values. */
export function queryText(query: Selectors = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return set.length === 0 ? "" : `?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}`;
}

/** Reads one object. */
export async function get<T>(path: string, query?: Selectors, signal?: AbortSignal): Promise<T> {
  return (await ask<T>("GET", path, { ...(query && { query }), ...(signal && { signal }) })).body;
}

/** Sends a write and returns the body of the answer. */
export async function send<T = unknown>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  return (await ask<T>(method, path, options)).body;
}

/** The number of rows in each request of a list. The server allows at most 1,000. */
export const PAGE_ROWS = 1_000;

/** Reads all pages of a list. Bare arrays are lists of one page (docs/wire.md, "Lists"). */
export async function getAll<T>(path: string, query: Selectors = {}, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  let page_token: string | undefined;
  do {
    const page = await get<Page<T> | T[]>(path, { ...query, limit: PAGE_ROWS, page_token }, signal);
    if (Array.isArray(page)) return page;
    items.push(...page.items);
    page_token = page.next_page;
  } while (page_token !== undefined);
  return items;
}

/** Reads the first page of a list that can be very long: at most PAGE_ROWS rows. */
export async function getFirst<T>(path: string, query: Selectors = {}, signal?: AbortSignal): Promise<T[]> {
  return (await get<Page<T>>(path, { ...query, limit: PAGE_ROWS }, signal)).items;
}

/** Whether the list may have more rows than `getFirst` has read. */
export function isCut(rows: readonly unknown[] | undefined): boolean {
  return rows !== undefined && rows.length >= PAGE_ROWS;
}

/** Reads a list that has no pages. */
export function getArray<T>(path: string, signal?: AbortSignal): Promise<T[]> {
  return get<T[]>(path, undefined, signal);
}
