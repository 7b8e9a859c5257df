// Which refusals each operation can answer with, found from what its route says of itself: its method, its parameters,
// who may ask (`x-refusals` of its rights) and what only it does (`x-also`, `x-never`). Document 4, 0.1 and 0.2.
import { ERROR_CODE_NAMES, ERROR_CODES } from "../contract/error-codes.ts";

type Json = { [key: string]: unknown };

/** What a route says of its refusals. These keys are not shown. */
export type RefusalHints = {
  readonly "x-refusals"?: readonly RefusalStatus[];
  readonly "x-also"?: readonly RefusalStatus[];
  readonly "x-never"?: readonly RefusalStatus[];
};

type RouteFacts = RefusalHints & {
  readonly method: string;
  readonly path: string;
  readonly request?: { readonly body?: { readonly required?: boolean } };
  readonly responses: Readonly<Record<string, unknown>>;
};

const WORDS = {
  400: "The request breaks a rule, which the message names",
  401: "The credential is missing or not valid; an anonymous call answers so when a bad one is sent",
  403: "The credential does not reach the action",
  404: "There is no such object, or it is not for the caller to see",
  409: "A state or a uniqueness rule forbids it; the message says which",
  412: "If-Match: it was changed since it was read",
  408: "The body did not come in time: 30 s for a caller with a good credential, 10 s for others",
  413: "The body is too large",
  414: "The URI is too long",
  415: "The body is not sent as application/json",
  422: "The Idempotency-Key was used for a request with another body",
  429: "Too many attempts, or more requests than one caller may send; Retry-After says how long to wait",
  500: "A fault of the server; its log has the request id",
  502: "The node did not do it; the message has its reason",
  503: "Not now: the server is busy or its database does not answer, or no node can take what is asked for",
} as const;

export type RefusalStatus = keyof typeof WORDS;

/** Of every route: the shell, the gate with its rate for known callers, and what can go wrong behind them. */
const OF_ALL: readonly RefusalStatus[] = [400, 401, 414, 429, 500, 503];
/** Of every route that a body can be sent to and that writes. */
const OF_WRITES: readonly RefusalStatus[] = [408, 409, 413, 422];
const RETRY_AFTER: Json = { "Retry-After": { description: "Whole seconds to wait", schema: { type: "integer" } } };
const HEADERS: Readonly<Partial<Record<RefusalStatus, Json>>> = {
  401: { "WWW-Authenticate": { description: "Bearer", schema: { type: "string" } } },
  409: RETRY_AFTER,
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** The statuses of a route's refusals, in ascending order. */
export function refusalStatuses(route: RouteFacts): RefusalStatus[] {
  const { method, path, request, responses } = route;
  const all = new Set([...OF_ALL, ...route["x-refusals"] ?? [], ...route["x-also"] ?? []]);
  if (method !== "get") { for (const status of OF_WRITES) all.add(status); }
  if (request?.body?.required === true) all.add(415);
  if (path.includes("{")) all.add(404);
  // Who can be answered 202 waits for a node otherwise, and the node can fail.
  if ("202" in responses) all.add(502);
  for (const status of route["x-never"] ?? []) all.delete(status);
  return [...all].sort((a, b) => a - b);
}

/** The refusals of an operation, as references to the components. */
export function refusalResponses(route: RouteFacts): Json {
  return Object.fromEntries(
    refusalStatuses(route).map((status) => [status, { $ref: `#/components/responses/Refused${status}` }]),
  );
}

/** One component for each status. @param body the schema of every refusal */
export function refusalComponents(body: Json): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(WORDS).map(([text, words]) => {
      const status = Number(text) as RefusalStatus;
      const codes = ERROR_CODE_NAMES.filter((name) => ERROR_CODES[name].status === status);
      const named = codes.length === 0 ? "no error_code" : `error_code, if any: ${codes.join(", ")}`;
      const headers = HEADERS[status];
      return [`Refused${status}`, {
        description: `${words}. With ${named}`,
        ...(headers && { headers }),
        content: { "application/json": { schema: body } },
      }];
    }),
  );
}
