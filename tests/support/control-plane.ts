// Runs a control plane in this process, on its own database and without sockets.
import { randomUUID } from "node:crypto";
import { readConfig } from "../../src/config.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type ControlPlane, openControlPlane } from "../../src/wiring.ts";
import type { KeyScope } from "../../src/contract/enums.ts";
import { freshDatabase } from "./database.ts";

export const ROOT_KEY = "opsk_rootrootroot_0123456789abcdef0123456789abcdef";
export const SECRET_KEY = "5e".repeat(32);
/** The caller's default address: a documentation address (RFC 5737), because loopback addresses have special rights. */
export const ADDRESS = "192.0.2.10";

export type CallOptions = {
  /** The API key; by default the root key. Null sends no Authorization header. */
  readonly key?: string | null;
  /** The request body, sent as JSON. */
  readonly body?: unknown;
  /** The request body, sent unchanged; replaces `body`. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>> | Headers;
  readonly address?: string;
  readonly signal?: AbortSignal;
};

// deno-lint-ignore no-explicit-any -- tests look into answers of every shape and assert what they find
export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string; readonly body: any };

export type Registered = {
  readonly server_uuid: string;
  readonly state: string;
  readonly claim_code: string;
  readonly claim_code_expires_at: string;
  readonly poll_token: string;
};

export type TestControlPlane = {
  /** A connection as the database's owner, for set-up that no endpoint offers and for checks. */
  readonly db: Db;
  readonly databaseUrl: string;
  readonly plane: ControlPlane;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Registers a node, by default a new node. Throws if the server rejects it. */
  register(fields?: Record<string, unknown>): Promise<Registered>;
  approve(code: string, options?: CallOptions): Promise<Answer>;
  /** Registers and approves a node and fetches its key, but does not use the key. */
  approvedNode(fields?: Record<string, unknown>): Promise<Registered & { readonly api_key: string }>;
  /** Creates a key of the root operator. */
  mintKey(scope: KeyScope, fields?: Record<string, unknown>): Promise<{ readonly id: string; readonly secret: string }>;
  /** Moves the clock forward. */
  advance(seconds: number): Promise<void>;
  close(): Promise<void>;
};

export type ApiOptions = {
  /** Environment variables, added to the defaults in openTestControlPlane. The value undefined removes a default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** URL of a shared database, which `close` does not drop. By default, the control plane has its own database. */
  readonly databaseUrl?: string;
  /** Whether background workers run; by default true. */
  readonly resident?: boolean;
  /** The folder of the built web console. */
  readonly webConsoleFolder?: string;
};

/** Opens a control plane with BERTH_LAB set, and with limits that no test reaches by accident. */
export async function openTestControlPlane(options: ApiOptions = {}): Promise<TestControlPlane> {
  const own = options.databaseUrl === undefined ? await freshDatabase() : null;
  const { databaseUrl = own?.url ?? "", resident = true } = options;
  const env = {
    BERTH_ROOT_KEY: ROOT_KEY,
    BERTH_SECRET_KEY: SECRET_KEY,
    BERTH_LAB: "1",
    BERTH_CONSOLE_DIAL_S: "1",
    BERTH_APPROVE_PER_MINUTE: "1000000",
    BERTH_REGISTER_PER_MINUTE: "1000000",
    BERTH_LOGIN_PER_MINUTE: "1000000",
    BERTH_LOGIN_ACCOUNT_PER_MINUTE: "1000000",
    BERTH_LIMITS_CALLER_REQUESTS_PER_MINUTE: "1000000000",
    BERTH_LIMITS_CALLER_WRITES_PER_MINUTE: "1000000000",
    ...options.env,
  };
  const { webConsoleFolder } = options;
  const plane = await openControlPlane({
    config: readConfig(env),
    databaseUrl,
    resident,
    show: () => {},
    webConsoleFolder,
  });
  const db = openPool({ url: databaseUrl, connectionsMax: 2, applicationName: "test" });

  async function call(method: string, path: string, given: CallOptions = {}): Promise<Answer> {
    const headers = new Headers(given.headers);
    const key = given.key === undefined ? ROOT_KEY : given.key;
    if (key !== null && !headers.has("authorization")) headers.set("authorization", `Bearer ${key}`);
    const body = given.text ?? (given.body === undefined ? undefined : JSON.stringify(given.body));
    if (body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json");
    const request = new Request(`http://berth.test${path}`, { method, headers, body, signal: given.signal });
    const response = await plane.fetch(request, { remoteAddress: given.address ?? ADDRESS });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  }

  const mintKey = async (scope: KeyScope, fields: Record<string, unknown> = {}) =>
    okOf(await call("POST", "/v1/auth/api-keys", { body: { description: `test ${scope}`, scope, ...fields } }));

  return {
    db,
    databaseUrl,
    plane,
    call,
    ...joining(call),
    mintKey,
    advance: async (seconds) => void okOf(await call("POST", "/lab/clock", { key: null, body: { seconds } })),
    close: async () => {
      await plane.close();
      await db.close();
      await own?.drop();
    },
  };
}

/** Returns the functions that register and approve a node. They send their requests with `call`. */
export function joining(
  call: TestControlPlane["call"],
): Pick<TestControlPlane, "register" | "approve" | "approvedNode"> {
  async function register(fields: Record<string, unknown> = {}): Promise<Registered> {
    const body = { server_uuid: randomUUID(), hostname: "node-1", sysinfo: { cpu: "test" }, ...fields };
    return okOf(await call("POST", "/v1/agent/register", { key: null, body }));
  }

  const approve = (code: string, given: CallOptions = {}) =>
    call("POST", "/v1/cn-approvals", { body: { code }, ...given });

  async function approvedNode(fields?: Record<string, unknown>): Promise<Registered & { api_key: string }> {
    const registered = await register(fields);
    okOf(await approve(registered.claim_code));
    const status = await call("GET", `/v1/agent/register/status?poll_token=${registered.poll_token}`, { key: null });
    return { ...registered, ...okOf(status) };
  }

  return { register, approve, approvedNode };
}

/** Returns the body of a response. Throws unless its status is 2xx. */
// deno-lint-ignore no-explicit-any -- as Answer's body
export function okOf(answer: Answer): any {
  if (answer.status < 200 || answer.status > 299) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body;
}
