// Sends requests to the internet. Allows https, and http only to hosts that a vendor's module lists as hosts without
// https. Allows only host names with public addresses; the addresses are checked before connecting and at every
// redirect. Limits redirects, bytes, header bytes and time. Connections are not reused, because vendors may close an
// idle connection while a new request is being sent.
import { lookup } from "node:dns/promises";
import http from "node:http";
import https from "node:https";
import { createGunzip } from "node:zlib";
import { messageOf, VendorFault } from "../fault.ts";
import { isPublicAddress } from "../../src/lib/net/public-address.ts";
import type { Answer, Exchange, Request } from "./exchange.ts";
import { joinedBytes } from "../../src/lib/text/joined-bytes.ts";

export type LiveSetting = {
  readonly user_agent: string;
  readonly plain_http_hosts: readonly string[];
  readonly redirects_max: number;
  readonly connect_ms: number;
  readonly total_ms: number;
  /** Returns a signal that aborts after this time. */
  readonly deadline: (total_ms: number) => AbortSignal;
  /** Returns all IP addresses of a host name. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly isAllowed: (address: string) => boolean;
  /** Returns the socket address to connect to. A test's server has another port and no TLS. */
  readonly dial: (url: URL, address: string) => Dialled;
};
export type Dialled = { readonly tls: boolean; readonly host: string; readonly port: number };

export const LIVE: LiveSetting = {
  user_agent: "berth-index-builder",
  plain_http_hosts: [],
  redirects_max: 5,
  connect_ms: 10_000,
  total_ms: 120_000,
  deadline: (total_ms) => AbortSignal.timeout(total_ms),
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  isAllowed: isPublicAddress,
  dial: (url, address) => ({
    tls: url.protocol === "https:",
    host: address,
    port: url.protocol === "https:" ? 443 : 80,
  }),
};

/** The largest number of IP addresses of a host name that are tried. */
const ADDRESSES_TRIED = 3;
const HEADER_BYTES_MAX = 64 * 1024;
const REDIRECTS = [301, 302, 303, 307, 308];

export function liveExchange(setting: LiveSetting): Exchange {
  return async (request) => {
    const signal = setting.deadline(setting.total_ms);
    let url = new URL(request.url);
    for (let hops = 0; hops <= setting.redirects_max; hops++) {
      const answer = await askOnce(setting, { ...request, url: url.href }, signal);
      if (!REDIRECTS.includes(answer.status)) return answer;
      const target = answer.headers.get("location") ?? "";
      if (!URL.canParse(target, url)) throw new VendorFault("unsafe", `${url}: redirects to an invalid URL`);
      url = new URL(target, url);
    }
    throw new VendorFault("unsafe", `${request.url}: more than ${setting.redirects_max} redirects`);
  };
}

async function askOnce(setting: LiveSetting, request: Request, signal: AbortSignal): Promise<Answer> {
  const url = checkedUrl(setting, request.url);
  const addresses = await setting.resolve(url.hostname).catch((error) => {
    throw new VendorFault("transient", `${url.hostname}: ${messageOf(error)}`);
  });
  const refused = addresses.find((address) => !setting.isAllowed(address));
  if (refused !== undefined) {
    throw new VendorFault("unsafe", `${url.hostname}: has the address ${refused}, which is not public`);
  }
  let last = new VendorFault("transient", `${url.hostname}: has no address`);
  for (const address of addresses.slice(0, ADDRESSES_TRIED)) {
    try {
      return await connectAndAsk({ setting, request, url, address, signal });
    } catch (error) {
      if (!(error instanceof NotConnected)) throw error;
      last = new VendorFault("transient", `${url.hostname} (${address}): ${error.message}`);
    }
  }
  throw last;
}

function checkedUrl({ plain_http_hosts }: LiveSetting, text: string): URL {
  const url = new URL(text);
  const scheme = url.protocol === "https:" || (url.protocol === "http:" && plain_http_hosts.includes(url.hostname));
  const by_name = /^(?=.*[a-z])[a-z0-9.-]+$/i.test(url.hostname) && /[a-z]$/i.test(url.hostname);
  if (!scheme || !by_name || url.port !== "" || url.username !== "" || url.password !== "") {
    throw new VendorFault("unsafe", `${text}: this URL is not allowed`);
  }
  return url;
}

/**
 * Thrown if the connection failed before the request was sent, so that another address of the same host may be tried.
 */
class NotConnected extends Error {}

type Attempt = { setting: LiveSetting; request: Request; url: URL; address: string; signal: AbortSignal };

function connectAndAsk({ setting, request, url, address, signal }: Attempt): Promise<Answer> {
  const { tls, host, port } = setting.dial(url, address);
  const options = {
    host,
    port,
    servername: url.hostname,
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers: {
      host: url.host,
      "user-agent": setting.user_agent,
      accept: request.accept,
      "accept-encoding": request.method === "HEAD" ? "identity" : "gzip",
      connection: "close",
    },
    agent: false as const,
    maxHeaderSize: HEADER_BYTES_MAX,
  };
  return new Promise((resolve, reject) => {
    let connected = false;
    const made = tls ? https.request(options) : http.request(options);
    const fail = (error: unknown) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", late);
      made.destroy();
      if (error instanceof VendorFault) reject(error);
      else {reject(
          connected
            ? new VendorFault("transient", `${request.method} ${url}: ${messageOf(error)}`)
            : new NotConnected(messageOf(error)),
        );}
    };
    const late = () =>
      fail(
        new VendorFault("transient", `${request.method} ${url}: no complete response within ${setting.total_ms} ms`),
      );
    const timer = setTimeout(
      () => fail(new Error(`no connection within ${setting.connect_ms} ms`)),
      setting.connect_ms,
    );
    if (signal.aborted) return late();
    signal.addEventListener("abort", late, { once: true });
    made.once("socket", (socket) => {
      socket.once(tls ? "secureConnect" : "connect", () => {
        connected = true;
        clearTimeout(timer);
      });
    });
    made.on("error", fail);
    made.once("response", (response) => {
      connected = true;
      clearTimeout(timer);
      readBody(response, request).then((body) => {
        signal.removeEventListener("abort", late);
        resolve({ status: response.statusCode ?? 0, url: url.href, headers: headersOf(response), body });
      }, fail);
    });
    made.end();
  });
}

function headersOf(response: http.IncomingMessage): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(response.headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name.toLowerCase(), value]] : []
    ),
  );
}

/** Reads the body and limits its size after decompression, so that a small response cannot become a large one. */
async function readBody(response: http.IncomingMessage, { method, url, bytes_max }: Request): Promise<Uint8Array> {
  const encoding = response.headers["content-encoding"] ?? "identity";
  if (method === "HEAD" || response.statusCode !== 200) {
    response.resume();
    response.destroy();
    return new Uint8Array();
  }
  if (encoding !== "identity" && encoding !== "gzip") {
    throw new VendorFault("unreadable", `${url}: unexpected content-encoding ${encoding}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const source = encoding === "gzip" ? response.pipe(createGunzip()) : response;
  // `pipe` does not forward errors of the response.
  response.once("error", (error) => source.destroy(error));
  response.once("aborted", () => source.destroy(new Error("the connection broke")));
  for await (const chunk of source) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > bytes_max) throw new VendorFault("unsafe", `${url}: more than ${bytes_max} bytes`);
    chunks.push(chunk as Uint8Array);
  }
  if (!response.complete) throw new Error("the connection broke");
  const length = response.headers["content-length"];
  if (encoding === "identity" && length !== undefined && Number(length) !== bytes) {
    throw new Error(`the body has ${bytes} bytes, content-length says ${length}`);
  }
  return joinedBytes(chunks);
}
