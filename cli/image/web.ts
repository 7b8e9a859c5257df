// Downloads from untrusted servers: the connector checks every address and redirect, no credential is sent, and time
// and bytes are limited. The caller may retry only after an Unreachable.
import { jitteredMs } from "../internal/backoff.ts";
import { pause } from "../internal/api.ts";
import { Unreachable } from "../internal/exchange.ts";
import { EXIT, exitCodeOfStatus } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import type { Environment } from "../internal/environment.ts";
import { VERSION } from "../version.ts";
import { checkedUrl } from "./address.ts";
import { FIRST_RETRY_MS, PATIENCE, type Patience } from "./limits.ts";
import { FetchRefused, type Reach, REDIRECT_STATUSES, REDIRECTS_MAX } from "../../src/outbound/connector.ts";
import { joinedBytes } from "../../src/lib/text/joined-bytes.ts";
import { networkReason } from "../internal/network-reason.ts";

export type Reply = {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** Yields the body. Throws Unreachable when the connection breaks or stalls. */
  chunks(): AsyncGenerator<Uint8Array>;
  drop(): Promise<void>;
};
export type Asking = {
  readonly reach: Reach;
  readonly headers?: Readonly<Record<string, string>>;
  readonly patience?: Patience;
  /** Allows http. Set it only if a digest from another source verifies the bytes. */
  readonly plain_http?: boolean;
  /** Makes a forbidden address fail like an unreachable address, so that a tenant cannot distinguish them. */
  readonly uniform?: boolean;
};

const DOCUMENT_TRIES_MAX = 3;

/** Sends a GET, follows redirects, and returns the first response that is not a redirect. */
export async function get(environment: Environment, address: string, asking: Asking): Promise<Reply> {
  let url = checkedUrl(address, asking.plain_http);
  for (let hops = 0;; hops++) {
    const reply = await getOnce(environment, url, asking);
    if (!REDIRECT_STATUSES.includes(reply.status)) return reply;
    await reply.drop();
    if (hops === REDIRECTS_MAX) throw new Failure(`${address}: more than ${REDIRECTS_MAX} redirects`, EXIT.failure);
    const target = reply.headers.get("location") ?? "";
    if (!URL.canParse(target, url)) throw new Failure(`${url} redirects to an invalid URL`, EXIT.failure);
    url = checkedUrl(new URL(target, url).href, asking.plain_http);
  }
}

async function getOnce(environment: Environment, url: URL, asking: Asking): Promise<Reply> {
  const { reach, headers, patience = PATIENCE, uniform = false } = asking;
  const late = new AbortController();
  const within = async <T>(limit_ms: number, work: () => Promise<T>): Promise<T> => {
    const timer = setTimeout(() => late.abort(new Error(`no data for ${limit_ms / 1_000} s`)), limit_ms);
    try {
      return await work();
    } catch (error) {
      if (error instanceof FetchRefused && !uniform) {
        throw new Failure(`cannot get ${url}: ${error.message}`, EXIT.failure);
      }
      throw lost(environment, url, late.signal.aborted ? late.signal.reason : error);
    } finally {
      clearTimeout(timer);
    }
  };
  const response = await within(patience.answer_ms, () =>
    environment.outbound(url.href, {
      reach,
      // A content-encoding would change the size and the ranges.
      headers: { accept: "*/*", "accept-encoding": "identity", "user-agent": `berth/${VERSION}`, ...headers },
      signal: AbortSignal.any([environment.signal, late.signal]),
    }));
  return {
    url: url.href,
    status: response.status,
    headers: response.headers,
    chunks: async function* () {
      const reader = response.body?.getReader();
      if (reader === undefined) return;
      try {
        for (;;) {
          const { done, value } = await within(patience.stall_ms, () => reader.read());
          if (done) return;
          yield value;
        }
      } finally {
        await reader.cancel().catch(() => {});
      }
    },
    drop: async () => void await response.body?.cancel().catch(() => {}),
  };
}

function lost(environment: Environment, url: URL, error: unknown): Failure {
  if (environment.signal.aborted) return new Failure("interrupted", EXIT.interrupted);
  return new Unreachable(`cannot get ${url}: ${networkReason(error)}`, EXIT.failure);
}

export function isTransientStatus(status: number): boolean {
  return status === 429 || status >= 500;
}

/** Returns a small document, or null if it does not exist (404, 410). */
export async function getDocument(
  environment: Environment,
  address: string,
  { reach, bytes_max, patience = PATIENCE }: { reach: Reach; bytes_max: number; patience?: Patience },
): Promise<Uint8Array | null> {
  for (let tries = 1;; tries++) {
    try {
      return await getDocumentOnce(environment, address, { reach, bytes_max, patience });
    } catch (error) {
      if (!(error instanceof Unreachable) || tries === DOCUMENT_TRIES_MAX) throw error;
      await pause(environment, jitteredMs(FIRST_RETRY_MS * 2 ** tries, environment.random()));
    }
  }
}

async function getDocumentOnce(
  environment: Environment,
  address: string,
  { reach, bytes_max, patience }: { reach: Reach; bytes_max: number; patience: Patience },
): Promise<Uint8Array | null> {
  const end_ms = environment.monotonicMs() + patience.document_ms;
  const reply = await get(environment, address, { reach, patience });
  if (reply.status !== 200) {
    await reply.drop();
    if (reply.status === 404 || reply.status === 410) return null;
    const problem = `${address}: status ${reply.status}`;
    if (isTransientStatus(reply.status)) throw new Unreachable(problem, EXIT.failure);
    throw new Failure(problem, exitCodeOfStatus(reply.status), { status: reply.status });
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of reply.chunks()) {
    bytes += chunk.length;
    if (bytes > bytes_max) throw new Failure(`${address}: more than ${bytes_max} bytes`, EXIT.failure);
    if (environment.monotonicMs() > end_ms) {
      throw new Unreachable(`${address}: the download exceeded its time limit`, EXIT.failure);
    }
    chunks.push(chunk);
  }
  const length = reply.headers.get("content-length");
  if (length !== null && Number(length) !== bytes && !reply.headers.has("content-encoding")) {
    throw new Unreachable(`${address}: the connection broke`, EXIT.failure);
  }
  return joinedBytes(chunks);
}
