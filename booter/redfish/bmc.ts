// Sends requests to a BMC. It uses a session if the BMC offers sessions, because the password is then sent only once.
// Otherwise it uses Basic authentication. It follows no redirects, so that credentials go to no other host. No error
// message contains the password.
import { Buffer } from "node:buffer";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

export type BmcAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
};

export type Bmc = {
  get(path: string): Promise<BmcAnswer>;
  /** Changes a resource, with the ETag handling that the BMC needs. */
  patch(path: string, body: unknown): Promise<BmcAnswer>;
  post(path: string, body: unknown): Promise<BmcAnswer>;
  close(): Promise<void>;
};

export type BmcOptions = {
  /** A host, or a URL with scheme and port. */
  readonly host: string;
  readonly user: string;
  readonly password: string;
  readonly accept_invalid_certs: boolean;
};

export class BmcFault extends Error {
  constructor(message: string, readonly status: number | null = null) {
    super(message);
  }
}

const ANSWER_BYTES_MAX = 4_194_304;
const REQUEST_MS = 30_000;
const SESSIONS = "/redfish/v1/SessionService/Sessions";
/** Statuses of the answers of a BMC that does not support sessions. */
const NO_SESSIONS: ReadonlySet<number> = new Set([404, 405, 501]);

export async function openBmc(options: BmcOptions): Promise<Bmc> {
  const base = new URL(/^https?:\/\//.test(options.host) ? options.host : `https://${options.host}`);
  let credential: Record<string, string> = {};
  let session: string | null = null;

  async function call(method: string, path: string, given: { body?: unknown; headers?: Record<string, string> } = {}) {
    if (!path.startsWith("/")) throw new BmcFault("the BMC returned a link to another host");
    const text = given.body === undefined ? undefined : JSON.stringify(given.body);
    const headers: Record<string, string> = {
      accept: "application/json",
      "odata-version": "4.0",
      ...credential,
      ...given.headers,
    };
    if (text !== undefined) headers["content-type"] = "application/json";
    return await exchange(base, { method, path, headers, text, accept_invalid_certs: options.accept_invalid_certs });
  }

  async function expect(method: string, path: string, given: Parameters<typeof call>[2] = {}): Promise<BmcAnswer> {
    const answer = await call(method, path, given);
    const message = messageOf(answer.body);
    if (![200, 201, 202, 204].includes(answer.status)) {
      throw new BmcFault(`${method} ${path}: ${answer.status}${message === "" ? "" : ` ${message}`}`, answer.status);
    }
    // Some BMCs answer an error with status 200.
    if (answer.body.error !== undefined && message !== "") {
      throw new BmcFault(`${method} ${path}: ${message}`, answer.status);
    }
    return answer;
  }

  async function patch(path: string, body: unknown): Promise<BmcAnswer> {
    const before = await expect("GET", path);
    const named = before.body["@odata.etag"];
    const etag = before.headers.etag ?? (typeof named === "string" ? named : undefined);
    // Tries the ETag as received, then as a strong ETag, then no ETag. If the BMC sent no ETag, tries no ETag, then
    // "*".
    const tries: (string | null)[] = etag === undefined
      ? [null, "*"]
      : etag.startsWith("W/")
      ? [etag, etag.slice(2), null]
      : [etag, null];
    for (const [index, each] of tries.entries()) {
      try {
        return await expect("PATCH", path, { body, headers: each === null ? {} : { "if-match": each } });
      } catch (error) {
        const about_etag = error instanceof BmcFault && (error.status === 412 || error.status === 428);
        if (!about_etag || index === tries.length - 1) throw error;
      }
    }
    throw new BmcFault(`PATCH ${path}: the BMC refused the change with and without an ETag`);
  }

  const basic = { authorization: `Basic ${Buffer.from(`${options.user}:${options.password}`).toString("base64")}` };
  const login = await call("POST", SESSIONS, { body: { UserName: options.user, Password: options.password } });
  const token = login.headers["x-auth-token"];
  if ([200, 201, 204].includes(login.status) && token !== undefined) {
    credential = { "x-auth-token": token };
    session = sessionPath(login.headers.location);
  } else if (NO_SESSIONS.has(login.status)) credential = basic;
  else if (login.status === 401 || login.status === 403) {
    throw new BmcFault("the BMC refused the user name or the password", login.status);
  } else throw new BmcFault(`the BMC refused a session: ${login.status} ${messageOf(login.body)}`.trim(), login.status);

  return {
    get: (path) => expect("GET", path),
    patch,
    post: (path, body) => expect("POST", path, { body }),
    async close() {
      // Deletes the session: a BMC allows only a few and expires them late.
      if (session !== null) await call("DELETE", session).catch(() => {});
    },
  };
}

function sessionPath(location: string | undefined): string | null {
  if (location === undefined) return null;
  return location.startsWith("/") ? location : new URL(location).pathname;
}

/** Returns the messages of @Message.ExtendedInfo, or the error's own message, as one line of at most 512 characters. */
function messageOf(body: Readonly<Record<string, unknown>>): string {
  const error = (body.error ?? body) as Record<string, unknown>;
  const info = error["@Message.ExtendedInfo"];
  const first = Array.isArray(info) ? info.map((each) => (each as Record<string, unknown>)?.Message) : [error.message];
  return first.filter((each): each is string => typeof each === "string").join("; ").replace(/\p{Cc}+/gu, " ").slice(
    0,
    512,
  );
}

type Wire = {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly text: string | undefined;
  readonly accept_invalid_certs: boolean;
};

function exchange(base: URL, wire: Wire): Promise<BmcAnswer> {
  const { method, path, headers, text, accept_invalid_certs } = wire;
  const request = base.protocol === "http:" ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    const sent = request({
      hostname: base.hostname,
      port: base.port === "" ? undefined : Number(base.port),
      path,
      method,
      headers: text === undefined ? headers : { ...headers, "content-length": String(Buffer.byteLength(text)) },
      timeout: REQUEST_MS,
      agent: false,
      ...(base.protocol === "https:" ? { rejectUnauthorized: !accept_invalid_certs } : {}),
    }, (answer) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      answer.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes > ANSWER_BYTES_MAX) sent.destroy(new Error("the answer is too long"));
        else parts.push(part);
      });
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers as Record<string, string | undefined>,
          body: objectOf(Buffer.concat(parts).toString("utf8")),
        }));
      answer.on("error", reject);
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer within ${REQUEST_MS / 1_000} s`)));
    sent.on("error", (error: NodeJS.ErrnoException) => reject(new BmcFault(networkMessage(error, base))));
    sent.end(text);
  });
}

function networkMessage(error: NodeJS.ErrnoException, base: URL): string {
  const about_tls = /CERT|SELF_SIGNED|certificate|ALTNAME/i.test(`${error.code ?? ""} ${error.message}`);
  if (about_tls) {
    return `${base.hostname}: its certificate is not trusted; to accept it, use --accept-invalid-certs`;
  }
  return `${base.hostname}: ${error.message}`;
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
  } catch {
    return {};
  }
}
