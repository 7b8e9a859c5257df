// Sends one HTTP request to a BMC and returns the answer. Follows no redirect and repeats no request.
import { Buffer } from "node:buffer";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIPv6 } from "node:net";
import { BmcFault } from "./fault.ts";
import { networkMessage } from "./network-message.ts";

export type BmcAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
};

/** The address of a BMC. */
export type BmcHost = {
  readonly secure: boolean;
  /** A name or an address. An IPv6 address has no brackets and may have a zone, for example `fe80::1%eth0`. */
  readonly hostname: string;
  readonly port: number;
};

export type Wire = {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string | undefined;
  readonly accept_invalid_certs: boolean;
  readonly signal: AbortSignal;
};

/** The longest answer that is read, so that a wrong peer cannot fill the memory. */
const ANSWER_BYTES_MAX = 4_194_304;
/** The longest pause of a connection before it counts as dead. The deadline limits the whole command. */
const SILENT_MS = 30_000;

/** Parses `--host`: a name, an IPv4 or IPv6 address, each also with a port, or an http or https URL without a path. */
export function hostOf(text: string): BmcHost {
  const [, scheme = "https", rest = ""] = /^(?:(https?):\/\/)?(.*)$/i.exec(text) ?? [];
  const secure = scheme.toLowerCase() === "https";
  const bare = rest.endsWith("/") ? rest.slice(0, -1) : rest;
  const [, bracketed, plain, number] = /^(?:\[([^[\]]+)\]|([^[\]:]+))(?::(\d{1,5}))?$/.exec(bare) ?? [];
  const hostname = bracketed ?? plain ?? (isIPv6(bare) ? bare : "");
  const port = number === undefined ? secure ? 443 : 80 : Number(number);
  const valid = bracketed === undefined && !isIPv6(hostname)
    ? /^[A-Za-z0-9._-]{1,253}$/.test(hostname)
    : isIPv6(hostname);
  if (!valid || port < 1 || port > 65_535) {
    throw new BmcFault("--host: must be a host name or an address, with a port if needed, or a URL without a path");
  }
  return { secure, hostname, port };
}

/** Returns the host as a URL's origin, without a zone, because URLs cannot have one. */
export function originOf({ secure, hostname, port }: BmcHost): string {
  const name = isIPv6(hostname) ? `[${hostname.replace(/%.*$/, "")}]` : hostname;
  return new URL(`${secure ? "https" : "http"}://${name}:${port}`).origin;
}

export function exchange(host: BmcHost, wire: Wire): Promise<BmcAnswer> {
  const { method, path, headers, text, accept_invalid_certs, signal } = wire;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const sent = (host.secure ? httpsRequest : httpRequest)({
      hostname: host.hostname,
      port: host.port,
      path,
      method,
      headers: {
        ...headers,
        host: new URL(originOf(host)).host,
        ...(text === undefined ? {} : { "content-length": String(Buffer.byteLength(text)) }),
      },
      timeout: SILENT_MS,
      agent: false,
      ...(host.secure ? { rejectUnauthorized: !accept_invalid_certs } : {}),
    }, (answer) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      answer.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes > ANSWER_BYTES_MAX) end(new BmcFault(`${method} ${path}: the answer is too long`));
        else parts.push(part);
      });
      answer.on("end", () =>
        done(() =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers as Record<string, string | undefined>,
            body: objectOf(Buffer.concat(parts).toString("utf8")),
          })
        ));
      answer.on("aborted", () => end(new BmcFault(`${host.hostname}: the BMC closed the connection in its answer`)));
      answer.on("error", (error) => end(error));
    });
    const end = (error: unknown) => {
      done(() => reject(error));
      sent.destroy();
    };
    const stop = () => end(signal.reason);
    const done = (settle: () => void) => {
      signal.removeEventListener("abort", stop);
      settle();
    };
    signal.addEventListener("abort", stop, { once: true });
    sent.on("timeout", () => end(new BmcFault(`${host.hostname}: no answer within ${SILENT_MS / 1_000} s`)));
    sent.on("error", (error) => end(new BmcFault(`${host.hostname}: ${networkMessage(error)}`)));
    sent.end(text);
  });
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
  } catch {
    return {};
  }
}
