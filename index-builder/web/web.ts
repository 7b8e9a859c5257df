// Requests bodies and metadata by URL, and turns error statuses into faults. Keeps each answer, so that one attempt to
// build a vendor sends at most one HEAD and one GET to each URL. A body that is requested with `bytes_max` is large and
// is not kept, so its GET may be repeated.
import { VENDOR_DOCUMENT_BYTES_MAX } from "../../src/lib/image-index/documents.ts";
import { VendorFault } from "../fault.ts";
import type { Answer, Exchange } from "./exchange.ts";

export type Web = {
  get(url: string, options?: GetOptions): Promise<Uint8Array>;
  head(url: string): Promise<Head>;
};
export type GetOptions = { readonly accept?: string; readonly bytes_max?: number };
export type Head = {
  readonly size: number | null;
  readonly last_modified: string | null;
  readonly etag: string | null;
  readonly redirects_off_host: boolean;
};

/** @param allowed returns whether requests for this vendor may go to a URL */
export function openWeb(exchange: Exchange, allowed: (url: URL) => boolean): Web {
  const bodies = new Map<string, Promise<Uint8Array>>();
  const heads = new Map<string, Promise<Head>>();
  return {
    get: (url, options = {}) => {
      const work = async () => (await ask("GET", url, options)).body;
      return options.bytes_max === undefined ? once(bodies, url, work) : work();
    },
    head: (url) => once(heads, url, async () => headOf(url, await ask("HEAD", url, {}))),
  };

  async function ask(method: "GET" | "HEAD", url: string, options: GetOptions): Promise<Answer> {
    if (!allowed(asUrl(url))) {
      throw new VendorFault("unsafe", `${url}: has a host or scheme that this vendor's module does not list`);
    }
    const answer = await exchange({
      method,
      url,
      accept: options.accept ?? "*/*",
      // Ubuntu's feed (18 MB) has a limit of its own.
      bytes_max: options.bytes_max ?? VENDOR_DOCUMENT_BYTES_MAX,
    });
    const kind = kindOfStatus(answer.status);
    if (kind !== null) throw new VendorFault(kind, `${method} ${url}: status ${answer.status}`, answer.status);
    return answer;
  }
}

/** Returns the kind of fault for a status, or null for a usable response. */
function kindOfStatus(status: number): "gone" | "transient" | "refused" | null {
  if (status === 200) return null;
  if (status === 404 || status === 410) return "gone";
  if (status === 429 || status >= 500) return "transient";
  return "refused";
}

function headOf(url: string, answer: Answer): Head {
  const length = answer.headers.get("content-length") ?? "";
  const redirects_off_host = new URL(answer.url).host !== new URL(url).host;
  return {
    size: /^[0-9]{1,15}$/.test(length) ? Number(length) : null,
    // After a redirect to another host, these values come from a mirror and differ from run to run.
    last_modified: redirects_off_host ? null : answer.headers.get("last-modified") ?? null,
    etag: redirects_off_host ? null : answer.headers.get("etag") ?? null,
    redirects_off_host,
  };
}

function asUrl(text: string): URL {
  if (!URL.canParse(text)) throw new VendorFault("unreadable", `${text}: is not a URL`);
  return new URL(text);
}

function once<T>(asked: Map<string, Promise<T>>, key: string, work: () => Promise<T>): Promise<T> {
  const before = asked.get(key);
  if (before !== undefined) return before;
  const made = work();
  asked.set(key, made);
  return made;
}
