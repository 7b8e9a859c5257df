// Runs a server with debug logging, and sends the usual calls of operators and nodes. Then searches the server's log,
// answers, processes and files for every secret. docs/reliability.md S-17, S-38, S-44 and S-45.
import { randomBytes, randomUUID } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPool } from "../../src/db/pool.ts";
import { dumpTables, tablesWith } from "../support/dump.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { canViewProcesses, descendants, type ProcessView, view } from "./process-view.ts";

const canary = (bytes = 24) => randomBytes(bytes).toString("base64url");
const given = {
  "the root key": `opsk_${canary(9)}_${canary(24)}`,
  "the server's secret": randomBytes(32).toString("hex"),
  "a password": canary(),
  "a wrong password": canary(),
  "the next password": canary(),
  "the secret of an identity provider": canary(),
  "the secret of the web console": canary(),
  "root_shadow of a machine": `$6$${canary(6)}$${canary(64)}`,
  "rabbitmq of a machine": `user:${canary()}`,
  "a node's root password": canary(),
  "an unknown key": `opsk_${canary(9)}_${canary(24)}`,
  "an unknown poll token": randomBytes(16).toString("hex"),
  "a password in a broken body": canary(),
};
/** Secrets that the server created. Answers that deliver such a secret are not searched. */
const made: Record<string, string> = {};
const answers: { readonly request: string; readonly text: string }[] = [];

let folder: TemporaryFolder;
let server: ServerProcess;
let below: ProcessView[] = [];
let log = "";
let readable: string[] = [];
let kept: Record<string, string[]> = {};
let exit: unknown;

type Given = { readonly key?: string | null; readonly body?: unknown; readonly text?: string; readonly deliver?: true };

// deno-lint-ignore no-explicit-any -- answers of every shape
async function ask(method: string, path: string, { key, body, text, deliver }: Given = {}): Promise<any> {
  const credential = key === undefined ? given["the root key"] : key;
  const answer = await fetch(server.url + path, {
    method,
    headers: {
      ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
      "content-type": "application/json",
    },
    body: text ?? (body === undefined ? undefined : JSON.stringify(body)),
  });
  const content = await answer.text();
  if (deliver !== true) {
    const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    answers.push({ request: `${method} ${path.split("?")[0]} ${answer.status}`, text: `${headers}\n${content}` });
  }
  return content.startsWith("{") || content.startsWith("[") ? JSON.parse(content) : content;
}

beforeAll(async () => {
  folder = await temporaryFolder("secrets");
  const env = {
    BERTH_DATA_DIR: folder.path,
    DATABASE_URL: undefined,
    BERTH_LOG_LEVEL: "debug",
    BERTH_ROOT_KEY: given["the root key"],
    BERTH_SECRET_KEY: given["the server's secret"],
    BERTH_IDENTITY_ISSUER: "https://identity.invalid",
    BERTH_IDENTITY_AUDIENCE: "berth",
    BERTH_IDENTITY_CLIENT_ID: "console",
    BERTH_IDENTITY_CLIENT_SECRET: given["the secret of the web console"],
  };
  server = await startServer({ env, as_task: true });
  made["the database's password"] = (await readFile(join(folder.path, "password"), "utf8")).trim();
  await operate();
  await crawl();
  if (canViewProcesses()) below = descendants(server.pid);
  const db = openPool({ url: await readFile(join(folder.path, "url"), "utf8") });
  const dump = await dumpTables(db);
  await db.close();
  kept = Object.fromEntries(
    Object.entries({ ...given, ...made }).map(([name, text]) => [name, tablesWith(dump, text)]),
  );
  readable = await readableByAll(folder.path);
  exit = await server.stop();
  log = server.log();
}, 180_000);

afterAll(async () => {
  if (server?.isRunning()) await server.kill();
  await folder.remove();
});

/** Makes the calls of a node, a user and a tenant, including wrong calls. */
async function operate(): Promise<void> {
  const server_uuid = randomUUID();
  const { "root_shadow of a machine": root_shadow, "rabbitmq of a machine": rabbitmq } = given;
  const sysinfo = { root_shadow, deep: [{ RabbitMQ: rabbitmq }], "Boot Parameters": { root_shadow, rabbitmq } };
  const registration = { server_uuid, hostname: "node-1", sysinfo };
  const registered = await ask("POST", "/v1/agent/register", { key: null, body: registration, deliver: true });
  made["a poll token"] = registered.poll_token;
  await ask("POST", "/v1/cn-approvals", { body: { code: registered.claim_code } });
  const status = `/v1/agent/register/status?poll_token=${registered.poll_token}`;
  const delivered = await ask("GET", status, { key: null, deliver: true });
  made["a node's key"] = delivered.api_key;
  made["a node's console key"] = delivered.console_ticket_key_hex;
  made["a node's metadata key"] = delivered.imds_token_key_hex;
  made["a node's migration key"] = delivered.migrate_ticket_key_hex;
  await ask("POST", "/v1/agent/heartbeat", { key: delivered.api_key, body: { running_jobs: [] } });
  await ask("GET", status, { key: null });
  await ask("GET", `/v1/agent/register/status?poll_token=${given["an unknown poll token"]}`, { key: null });
  await ask("POST", `/v1/cns/${server_uuid}/root-password`, { body: { password: given["a node's root password"] } });

  const silo = await ask("POST", "/v1/silos", { body: { name: "acme", description: "" } });
  const tenant = await ask("POST", `/v1/silos/${silo.id}/tenants`, { body: { name: "web", description: "" } });
  await ask("POST", `/v1/tenants/${tenant.id}/idp`, {
    body: {
      issuer_url: "https://issuer.invalid",
      client_id: "client",
      client_secret: given["the secret of an identity provider"],
      audience: "berth",
    },
  });
  const key = await ask("POST", "/v1/auth/api-keys", { body: { description: "ci" }, deliver: true });
  made["a key"] = key.secret;

  const username = "operator";
  await ask("POST", "/v1/system/users", { body: { username, password: given["a password"] } });
  const login = (password: string, deliver?: true) =>
    ask("POST", "/v1/auth/login", { key: null, body: { username, password }, deliver });
  await login(given["a wrong password"]);
  const session = await login(given["a password"], true);
  made["an access token"] = session.access_token;
  made["a refresh token"] = session.refresh_token;
  const refresh = { refresh_token: session.refresh_token };
  await ask("POST", "/v1/auth/refresh", { key: null, body: refresh, deliver: true });
  const change = { current_password: given["a password"], password: given["the next password"] };
  await ask("POST", "/v1/auth/password", { key: session.access_token, body: change });
  await ask("GET", "/v1/auth/whoami", { key: given["an unknown key"] });
  await ask("GET", `/v1/system/cns?api_key=${given["the root key"]}`);
  await ask("POST", "/v1/auth/login", {
    key: null,
    text: `{"username":"x","password":"${given["a password in a broken body"]}`,
  });
  await ask("POST", "/v1/auth/login", { key: null, body: { username: [given["a password in a broken body"]] } });
}

/** Calls, as root, every GET route without path parameters, and reads the audit events, operations and nodes. */
async function crawl(): Promise<void> {
  const { paths } = await ask("GET", "/openapi.json");
  for (const [path, methods] of Object.entries<Record<string, unknown>>(paths)) {
    if ("get" in methods && !path.includes("{") && path !== "/v1/agent/register/status") await ask("GET", path);
  }
  const events = (await ask("GET", "/v1/audit/events?limit=1000")).events;
  expect(events.length).toBeGreaterThan(10);
  for (const { id } of await ask("GET", "/v1/operations")) await ask("GET", `/v1/operations/${id}`);
  for (const { server_uuid } of (await ask("GET", "/v1/system/cns")).items) await ask("GET", `/v1/cns/${server_uuid}`);
}

/** Returns the files that any user may read, write or execute, regardless of the permissions of their folders. */
async function readableByAll(path: string): Promise<string[]> {
  const names = await readdir(path, { recursive: true });
  const found = await Promise.all(names.map(async (name) => {
    const { mode } = await stat(join(path, name)).catch(() => ({ mode: 0 })); // PostgreSQL may remove its files meanwhile.
    return (mode & 0o007) === 0 ? [] : [`${name} ${(mode & 0o777).toString(8)}`];
  }));
  return found.flat();
}

const forms = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString("hex"),
  Buffer.from(secret).toString("base64").replace(/=+$/, "").slice(0, -1),
];
/** A key is also found by its secret part. */
const parts = (secret: string) => (secret.startsWith("opsk_") ? [secret, secret.slice(-32)] : [secret]).flatMap(forms);

function found(text: string, except: readonly string[] = []): string[] {
  const secrets = Object.entries({ ...given, ...made }).filter(([name]) => !except.includes(name));
  return secrets.filter(([, secret]) => parts(secret).some((form) => text.includes(form))).map(([name]) => name);
}

describe("S-17: none of 22 secrets", () => {
  test("escapes the search", () => {
    expect(Object.keys({ ...given, ...made })).toHaveLength(22);
    for (const [name, secret] of Object.entries({ ...given, ...made })) {
      expect(secret.length).toBeGreaterThanOrEqual(24);
      expect(found(`before ${secret} after`)).toContain(name);
      expect(found(Buffer.from(`${secret}`).toString("hex"))).toContain(name);
    }
  });

  test("is in the log", () => {
    expect(log).toContain("listening");
    expect(found(log)).toEqual([]);
  });

  test("is in any answer except the answer that delivers it", () => {
    expect(answers.length).toBeGreaterThan(40);
    expect(answers.flatMap(({ request, text }) => found(text).map((name) => `${name} in ${request}`))).toEqual([]);
  });

  test("is in the arguments of any process, or in the environment of the server's child processes", (context) => {
    if (!canViewProcesses()) return context.skip("this machine does not show processes");
    expect(below.some(({ argv }) => argv.includes("postgres"))).toBe(true);
    for (const { argv, environment } of below) expect([argv, found(argv), found(environment)]).toEqual([argv, [], []]);
    expect(found(view(process.pid).argv)).toEqual([]);
  });

  test("is stored in clear", () => {
    expect(Object.entries(kept).filter(([, tables]) => tables.length > 0)).toEqual([]);
  });
});

test("S-44: no file of the server is world-readable", () => {
  expect(readable).toEqual([]);
});

test("S-38: all calls worked with the server's normal permissions", () => {
  expect(exit).toBe(0);
  expect(log).not.toMatch(/Requires \w+ access|NotCapable/);
});
