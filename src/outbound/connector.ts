// This is the only code that sends requests to URLs from others. Examples are a tenant's image, a URL in an image
// index, the keys of an issuer and the receiver of a webhook. The code resolves the host name, checks every address,
// and connects to exactly the checked address. The name is still used for SNI, certificate verification and the Host
// header. The code follows no redirects. A caller that follows redirects must call this code for each target
// (docs/reliability.md, S-25 and S-47).
import { lookup } from "node:dns/promises";
import http from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import type { Cidr } from "../lib/net/ip-address.ts";
import { literalAddress, mayBeFetched } from "../lib/net/public-address.ts";

/** The addresses that a fetch may connect to in addition to public ones. */
export type Reach = {
  /** The ranges in the setting `fetch.allowed_private`. */
  readonly allowed: readonly Cidr[];
  /**
   * Origins in the caller's own arguments or configuration, such as the index on a command line. Their addresses may be
   * private.
   */
  readonly named?: NamedOrigins;
};

/**
 * Origins, each with the addresses to which its name first resolved; null before the name was resolved. Other private
 * addresses of the name are rejected later, unless `allowed` contains them.
 */
export type NamedOrigins = Map<string, readonly string[] | null>;

export type Outbound = {
  readonly reach: Reach;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of a POST. Without it, the request is a GET. */
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Resolves a name to all its addresses. Default: this machine's resolver. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
};

/** Thrown if a URL must not be fetched. No connection was opened and nothing was sent. */
export class FetchRefused extends Error {
  override readonly name = "FetchRefused";
}

/** The maximum number of redirects that a caller may follow per fetch (S-25). */
export const REDIRECTS_MAX = 3;
export const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308];

const REMEDY = "the setting fetch.allowed_private, or the variable BERTH_FETCH_ALLOWED_PRIVATE, can allow its network";
/** The time limit for connecting, including TLS, in milliseconds: long enough to retransmit a lost packet twice. */
const CONNECT_MS = 10_000;
/** The maximum number of addresses that are tried per name. */
const ADDRESSES_TRIED = 3;
/** The maximum size of a response's headers in bytes. */
const HEADER_BYTES_MAX = 64 * 1024;
/** Statuses without a body. The constructor of Response throws if it gets a body with one of them. */
const BODILESS = [204, 205, 304];

/** Returns the origins of URLs that a user or an operator wrote. Skips invalid URLs. */
export function namedOrigins(urls: readonly string[]): NamedOrigins {
  return new Map(urls.filter((url) => URL.canParse(url)).map((url) => [new URL(url).origin, null]));
}

/**
 * Sends one request. Does not follow redirects, send cookies or decompress the response. To the caller's headers, adds
 * only Accept-Encoding, Connection and the headers that HTTP requires. Throws FetchRefused for a URL or an address that
 * must not be fetched. If no response arrives for another reason, throws NotConnected, the network's error or the
 * reason of `signal`.
 */
export async function fetchOutbound(text: string, outbound: Outbound): Promise<Response> {
  const url = readUrl(text);
  const addresses = await checkedAddresses(url, outbound);
  let last: unknown;
  for (const address of addresses.slice(0, ADDRESSES_TRIED)) {
    try {
      return await getFrom(address, url, outbound);
    } catch (error) {
      if (!(error instanceof NotConnected) || outbound.signal.aborted) throw error;
      last = error;
    }
  }
  throw last;
}

/**
 * Parses a URL. Throws FetchRefused if the URL is invalid, has a scheme other than http and https, or contains a user
 * name or password.
 */
function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new FetchRefused(`${text}: only http and https are fetched`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new FetchRefused(`${url.host}: a URL with a user name or password is not fetched`);
  }
  return url;
}

async function checkedAddresses(
  url: URL,
  { reach, resolve = resolveHere, signal }: Outbound,
): Promise<readonly string[]> {
  const literal = literalAddress(url);
  const addresses = literal === null ? await unlessAborted(resolve(url.hostname), signal) : [literal];
  if (addresses.length === 0) throw new NotConnected(`${url.hostname} has no address`);
  const { named } = reach;
  if (named?.get(url.origin) === null) named.set(url.origin, addresses);
  const own = named?.get(url.origin) ?? [];
  const refused = addresses.find((address) => !mayBeFetched(address, reach.allowed) && !own.includes(address));
  if (refused === undefined) return addresses;
  const what = literal === null ? `${url.hostname} resolves to ${refused}, which` : `${refused}`;
  throw new FetchRefused(`${what} is not a public address; ${REMEDY}`);
}

async function resolveHere(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Stops waiting for `work` when the signal is aborted, because the system's resolver cannot be cancelled. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_, fail) => {
    stop = () => fail(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Thrown if a connection could not be opened. Nothing was sent, so the name's next address may be tried. */
export class NotConnected extends Error {}

async function getFrom(address: string, url: URL, { headers, body, signal }: Outbound): Promise<Response> {
  const tls = url.protocol === "https:";
  const name = literalAddress(url) ?? url.hostname.replace(/\.$/, "");
  const options = {
    method: body === undefined ? "GET" : "POST",
    host: address,
    port: url.port === "" ? (tls ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: { "accept-encoding": "identity", ...headers, host: url.host, connection: "close" },
    agent: false as const,
    maxHeaderSize: HEADER_BYTES_MAX,
    // SNI accepts only names. Without a server name, the certificate is verified for `host`.
    ...(isIP(name) === 0 && { servername: name }),
  };
  signal.throwIfAborted();
  return await new Promise((resolve, reject) => {
    let connected = false;
    const request = tls ? https.request(options) : http.request(options);
    const settle = () => {
      clearTimeout(limit);
      signal.removeEventListener("abort", abort);
    };
    const fail = (error: unknown) => {
      settle();
      request.destroy();
      reject(connected || signal.aborted ? error : new NotConnected(textOf(error), { cause: error }));
    };
    const abort = () => fail(signal.reason);
    const limit = setTimeout(() => fail(new Error(`no connection within ${CONNECT_MS / 1_000} s`)), CONNECT_MS);
    signal.addEventListener("abort", abort, { once: true });
    // This listener stays while the body arrives, because an error event without a listener would end the process.
    request.on("error", fail);
    request.once("socket", (socket) => {
      socket.once(tls ? "secureConnect" : "connect", () => {
        connected = true;
        clearTimeout(limit);
      });
    });
    request.once("response", (message) => {
      connected = true;
      settle();
      try {
        resolve(responseOf(message, signal));
      } catch (error) {
        fail(error);
      }
    });
    request.end(body);
  });
}

function responseOf(message: http.IncomingMessage, signal: AbortSignal): Response {
  const { statusCode: status = 0 } = message;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) headers.append(name, each);
  }
  if (BODILESS.includes(status)) {
    message.destroy();
    return new Response(null, { status, headers });
  }
  return new Response(bodyOf(message, signal), { status, headers });
}

/** Streams the body of a response. The stream fails if the body is cut off or `signal` is aborted. */
function bodyOf(message: http.IncomingMessage, signal: AbortSignal): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = message[Symbol.asyncIterator]();
  const abort = () => message.destroy(new Error(textOf(signal.reason)));
  const end = () => signal.removeEventListener("abort", abort);
  signal.addEventListener("abort", abort, { once: true });
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (!done) return controller.enqueue(new Uint8Array(value));
        if (!message.complete) throw new Error("the response was cut off");
        end();
        controller.close();
      } catch (error) {
        end();
        message.destroy();
        controller.error(signal.aborted ? signal.reason : error);
      }
    },
    cancel() {
      end();
      message.destroy();
    },
  });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
