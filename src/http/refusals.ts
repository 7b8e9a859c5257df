// Derives the error statuses of each operation from its route: the method, the parameters, the permissions
// (`x-refusals`) and the hints (`x-also`, `x-never`).
import { ERROR_CODE_NAMES, ERROR_CODES } from "../contract/error-codes.ts";

type Json = { [key: string]: unknown };

/** Hints of a route about its error statuses. They are left out of the API description. */
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

const DESCRIPTIONS = {
  400: "The request is invalid; the message names the rule",
  401: "The credential is missing or not valid. A bad credential is also refused on routes that need no credential",
  403: "The action is not permitted with this credential",
  404: "The object does not exist, or the caller may not see it",
  409: "Conflicts with the current state or with a uniqueness rule; the message says which",
  412: "If-Match: the object was changed since it was read",
  408: "The body did not arrive in time: 30 s with a valid credential, 10 s without",
  413: "The body is too large",
  414: "The URI is too long",
  415: "The route does not take this Content-Type",
  422: "The Idempotency-Key was used for a request with another body",
  429: "Too many attempts or requests; Retry-After says how long to wait",
  500: "An internal error; the server's log has the request id",
  502: "The node failed; the message has its reason",
  503: "The server is busy, its database or the issuer of a token does not answer, or no node can take the instance",
} as const;

export type RefusalStatus = keyof typeof DESCRIPTIONS;

/**
 * The error statuses of every route: from the shell, from the authorization with its rate limit, and from failures.
 * `x-never` of a route removes a status.
 */
const OF_ALL: readonly RefusalStatus[] = [400, 401, 414, 429, 500, 503];
/** Further error statuses of every route that is not a GET. `x-never` of a route removes a status. */
const OF_WRITES: readonly RefusalStatus[] = [408, 409, 413, 422];
const RETRY_AFTER: Json = { "Retry-After": { description: "Whole seconds to wait", schema: { type: "integer" } } };
const HEADERS: Readonly<Partial<Record<RefusalStatus, Json>>> = {
  401: { "WWW-Authenticate": { description: "Bearer", schema: { type: "string" } } },
  409: RETRY_AFTER,
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** Returns the error statuses of a route, in ascending order. */
export function refusalStatuses(route: RouteFacts): RefusalStatus[] {
  const { method, path, request, responses } = route;
  const all = new Set([...OF_ALL, ...route["x-refusals"] ?? [], ...route["x-also"] ?? []]);
  if (method !== "get") { for (const status of OF_WRITES) all.add(status); }
  if (request?.body?.required === true) all.add(415);
  if (path.includes("{")) all.add(404);
  // A route that can answer 202 may instead wait for a node, and the node can fail.
  if ("202" in responses) all.add(502);
  for (const status of route["x-never"] ?? []) all.delete(status);
  return [...all].sort((a, b) => a - b);
}

/** Returns the error responses of an operation, as references to the components. */
export function refusalResponses(route: RouteFacts): Json {
  return Object.fromEntries(
    refusalStatuses(route).map((status) => [status, { $ref: `#/components/responses/Refused${status}` }]),
  );
}

/** Returns one component for each status. `body` is the schema of the error body. */
export function refusalComponents(body: Json): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(DESCRIPTIONS).map(([text, summary]) => {
      const status = Number(text) as RefusalStatus;
      const codes = ERROR_CODE_NAMES.filter((name) => ERROR_CODES[name].status === status);
      const named = codes.length === 0 ? "no error_code" : `error_code, if any: ${codes.join(", ")}`;
      const headers = HEADERS[status];
      return [`Refused${status}`, {
        description: `${summary}. With ${named}`,
        ...(headers && { headers }),
        content: { "application/json": { schema: body } },
      }];
    }),
  );
}
