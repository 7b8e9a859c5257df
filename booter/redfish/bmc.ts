// Sends requests to a BMC. Follows redirects only on the BMC itself, so that credentials go to no other host. Repeats a
// request that the BMC answers with 503 and Retry-After, but never a login. After an answer 202, waits for the task
// that the answer names. No error message contains the password.
import { openLogin } from "./login.ts";
import { BmcFault } from "./fault.ts";
import { messagesOf, textOf } from "./messages.ts";
import { isRedirect, redirected } from "./redirect.ts";
import { type TaskEnd, waitForTask } from "./task.ts";
import { type BmcAnswer, exchange, hostOf } from "./wire.ts";

export type { BmcAnswer } from "./wire.ts";
export { BmcFault } from "./fault.ts";

export type Bmc = {
  get(path: string): Promise<BmcAnswer>;
  /**
   * Changes a resource, with the ETag handling that the BMC needs. `ends` defines when the task of the change counts as
   * ended.
   */
  patch(path: string, body: unknown, ends?: TaskEnd): Promise<BmcAnswer>;
  post(path: string, body: unknown): Promise<BmcAnswer>;
  close(): Promise<void>;
};

export type BmcOptions = {
  /** A host name, an address, or a URL with scheme and port. */
  readonly host: string;
  readonly user: string;
  readonly password: string;
  readonly accept_invalid_certs: boolean;
  /** Aborts every wait, and every request except the logout. Each of them then throws the reason of the signal. */
  readonly signal: AbortSignal;
  readonly sleep: (ms: number) => Promise<void>;
};

export type Given = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };
export type Call = (method: string, path: string, given?: Given) => Promise<BmcAnswer>;

const REDIRECTS_MAX = 3;
/** The longest pause before a request is repeated, even if Retry-After asks for a longer one. */
const RETRY_AFTER_S_MAX = 60;
/** How long the command waits at its end for the BMC to delete the session. */
const LOGOUT_MS = 2_000;
const GOOD: ReadonlySet<number> = new Set([200, 201, 202, 204]);
/** Statuses of an answer about a missing, refused or wrong ETag. */
const ABOUT_ETAG: ReadonlySet<number> = new Set([412, 428]);

export async function openBmc(options: BmcOptions): Promise<Bmc> {
  const { accept_invalid_certs, sleep } = options;
  const host = hostOf(options.host);
  let credential: Readonly<Record<string, string>> = {};

  async function once(method: string, path: string, given: Given, signal: AbortSignal): Promise<BmcAnswer> {
    const text = given.body === undefined ? undefined : JSON.stringify(given.body);
    let asked = { method, path, text };
    for (let hop = 0;; hop += 1) {
      const headers: Record<string, string> = {
        accept: "application/json",
        "odata-version": "4.0",
        ...credential,
        ...given.headers,
      };
      if (asked.text !== undefined) headers["content-type"] = "application/json";
      const answer = await exchange(host, { ...asked, headers, accept_invalid_certs, signal });
      if (!isRedirect(answer)) return answer;
      if (hop === REDIRECTS_MAX) throw new BmcFault(`${method} ${path}: more than ${REDIRECTS_MAX} redirects`);
      asked = redirected(host, asked, answer);
    }
  }

  const call: Call = async (method, path, given = {}) => {
    if (!path.startsWith("/")) throw new BmcFault("the BMC returned a link to another host");
    for (;;) {
      const answer = await once(method, path, given, options.signal);
      const wait_ms = answer.status === 503 ? retryAfterMs(answer) : null;
      // A login is not repeated: a BMC whose sessions are all in use answers a login with 503.
      if (wait_ms === null || (method === "POST" && Object.keys(credential).length === 0)) return answer;
      await sleep(wait_ms);
    }
  };

  async function expect(method: string, path: string, given: Given = {}): Promise<BmcAnswer> {
    const answer = await call(method, path, given);
    const messages = messagesOf(answer.body);
    const fault = (text: string) =>
      new BmcFault(`${method} ${path}: ${text}`, answer.status, messages.map(({ id }) => id));
    if (!GOOD.has(answer.status)) throw fault(`${answer.status} ${textOf(messages)}`.trim());
    // Some BMCs answer an error with status 200.
    if (answer.body.error !== undefined && messages.some(({ good }) => !good)) throw fault(textOf(messages));
    return answer;
  }

  async function change(method: string, path: string, { ends, ...given }: Given & { ends: TaskEnd }) {
    const answer = await expect(method, path, given);
    if (answer.status !== 202) return answer;
    return await waitForTask({ started: answer, path, call, sleep, ends });
  }

  async function patch(path: string, body: unknown, ends: TaskEnd = "done"): Promise<BmcAnswer> {
    const before = await expect("GET", path);
    const named = before.body["@odata.etag"];
    const etag = before.headers.etag ?? (typeof named === "string" ? named : undefined);
    // Tries the ETag as received, then a weak ETag as a strong one, then no ETag, then "*". If the BMC sent no ETag,
    // tries no ETag, then "*".
    const tries: (string | null)[] = etag === undefined
      ? [null, "*"]
      : etag.startsWith("W/")
      ? [etag, etag.slice(2), null, "*"]
      : [etag, null, "*"];
    for (const [index, each] of tries.entries()) {
      try {
        const headers: Record<string, string> = each === null ? {} : { "if-match": each };
        return await change("PATCH", path, { body, headers, ends });
      } catch (error) {
        if (!isAboutEtag(error) || index === tries.length - 1) throw error;
      }
    }
    throw new BmcFault(`PATCH ${path}: the BMC refused the change with and without an ETag`);
  }

  const login = await openLogin(call, options);
  credential = login.headers;
  return {
    get: (path) => expect("GET", path),
    patch,
    post: (path, body) => change("POST", path, { body, ends: "done" }),
    async close() {
      // Deletes the session, because a BMC allows only a few sessions and expires them late. An aborted command deletes
      // its session, too.
      if (login.session !== null) {
        await once("DELETE", login.session, {}, AbortSignal.timeout(LOGOUT_MS)).catch(() => {});
      }
    },
  };
}

function isAboutEtag(error: unknown): boolean {
  return error instanceof BmcFault &&
    (ABOUT_ETAG.has(error.status ?? 0) ||
      error.ids.some((id) => /PreconditionHeaderMissing|PreconditionFailed/i.test(id)));
}

/** Returns the pause that the answer asks for, or null if it asks for none. The answer has seconds or a date. */
function retryAfterMs({ headers }: BmcAnswer): number | null {
  const text = headers["retry-after"];
  if (text === undefined) return null;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 1_000), RETRY_AFTER_S_MAX * 1_000);
}
