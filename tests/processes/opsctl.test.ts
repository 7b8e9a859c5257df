// Runs the commands of the compiled opsctl for each kind of object with a running server, and checks output, exit code
// and files.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiKeyView } from "../../src/contract/api-key.ts";
import type { AuditPage } from "../../src/contract/audit.ts";
import type { CnReservoirView, CnView } from "../../src/contract/cn.ts";
import type { RegistrationView } from "../../src/contract/agent.ts";
import type { OperationSummary } from "../../src/contract/operation.ts";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { openClient } from "../../src/db/pool.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { must } from "./client.ts";
import { buildExecutables, type Ended, run, type RunOptions, start } from "./executables.ts";
import { registration } from "./load.ts";

let database: FreshDatabase;
let server: ServerProcess;
let home: TemporaryFolder;

beforeAll(async () => {
  await buildExecutables();
  database = await freshDatabase();
  home = await temporaryFolder("home");
  server = await startServer({ env: { DATABASE_URL: database.url } });
}, 120_000);

afterAll(async () => {
  await server?.kill();
  await database?.drop();
  await home?.remove();
});

function opsctl(argv: string, options: RunOptions = {}): Promise<Ended> {
  const env = { HOME: home.path, OPSCTL_ENDPOINT: server.url, OPSCTL_API_KEY: ROOT_KEY };
  return run("opsctl", argv.split(" "), { env, ...options });
}

/** Runs opsctl and returns its output. The exit code must be 0. */
async function printed(argv: string, options: RunOptions = {}): Promise<string> {
  const { code, out, err } = await opsctl(argv, options);
  expect(code, `opsctl ${argv}: ${err}`).toBe(EXIT.ok);
  return out;
}

async function json<T>(argv: string): Promise<T> {
  return JSON.parse(await printed(`${argv} --json`)) as T;
}

async function newNode(): Promise<RegistrationView> {
  const { path, body } = registration(crypto.randomUUID());
  return await must<RegistrationView>(server.url, { method: "POST", path, body, key: "" });
}

test("cn: a node is listed, shown, approved by its code in lower case without hyphen, labelled and disabled", async () => {
  expect(await printed("cn list")).toBe("(no compute nodes)\n");
  const { server_uuid, claim_code } = await newNode();
  expect(await printed("cn list --state pending")).toContain(server_uuid);
  expect(await printed(`cn show ${server_uuid.slice(0, 8)}`)).toContain(claim_code!);
  const approved = await printed(`cn approve --yes ${claim_code!.replace("-", "").toLowerCase()}`);
  const { bound_api_key_id } = await json<CnView>(`cn show ${server_uuid}`);
  expect(approved).toBe(`Approved CN ${server_uuid}; bound api key id ${bound_api_key_id}\n`);
  expect(await printed(`cn label set ${server_uuid} --role edge`)).toBe(`Set CN ${server_uuid} role to edge\n`);
  expect(await printed(`cn disable node-${server_uuid.slice(0, 8)}`)).toBe(
    `Disabled CN ${server_uuid} (state=disabled)\n`,
  );
  const { items } = await json<{ items: CnView[] }>("cn list --state disabled");
  expect(items).toMatchObject([{ server_uuid, state: "disabled", role: "edge", bound_api_key_id }]);
  expect(await printed("cn list")).toMatch(
    /^NAME +ID +STATE +LAST_SEEN +AGE +ROLE +ADMIN_IP +(?:CLAIMS +)?VERSION +READY\n/,
  );
});

test("cn reservoir: an omitted flag clears its field, and the reply shows the effective values", async () => {
  const { server_uuid } = await newNode();
  const set = await json<CnReservoirView>(`cn reservoir set ${server_uuid} --percent 0.5`);
  expect(set).toMatchObject({ reservoir_enabled: null, reservoir_percent: 0.5, effective_percent: 0.5 });
  const changed = await json<CnReservoirView>(`cn reservoir set ${server_uuid} --enabled false`);
  expect(changed).toMatchObject({ reservoir_enabled: false, reservoir_percent: null, effective_enabled: false });
  expect(await printed(`cn reservoir clear ${server_uuid}`)).toContain("(inherit)");
});

test("cn auto-approve: a window is opened, shown, used by a new node, and closed", async () => {
  expect(await printed("cn auto-approve status")).toBe("No window open.\n");
  expect(await printed("cn auto-approve open --duration-secs 600 --count 2")).toMatch(/^Auto-approve window opened:\n/);
  expect((await newNode()).state).toBe("approved");
  expect(await json("cn auto-approve status")).toMatchObject({ remaining_count: 1 });
  expect(await printed("cn auto-approve close")).toBe("Auto-approve window closed.\n");
  expect(await json("cn auto-approve status")).toBeNull();
});

test("config: a setting is read, changed and reset", async () => {
  expect(await printed("config list")).toContain("reservoir.percent_default");
  expect(await printed("config get reservoir.percent_default")).toBe("0.8\n");
  expect(await printed("config set reservoir.percent_default 0.5")).toBe("Set reservoir.percent_default to 0.5\n");
  expect(await printed("config get reservoir.percent_default")).toBe("0.5\n");
  expect(await printed("config unset reservoir.percent_default")).toBe("Reset reservoir.percent_default to 0.8\n");
});

test("api-key: the secret is printed once, works within its scope, and stops working when deleted", async () => {
  const secret = (await printed("api-key create --description probe --scope read_only")).trim();
  expect(secret).toMatch(/^opsk_.{12}_.{32}$/);
  const env = { HOME: home.path, OPSCTL_ENDPOINT: server.url, OPSCTL_API_KEY: secret };
  expect(await printed("cn list", { env })).toContain("LAST_SEEN");
  expect((await opsctl("config unset reservoir.percent_default", { env })).code).toBe(EXIT.auth);
  const key = (await json<ApiKeyView[]>("api-key list")).find(({ description }) => description === "probe")!;
  expect(await printed(`api-key delete ${key.id}`)).toBe(`Deleted API key ${key.id}\n`);
  expect((await opsctl("cn list", { env })).code).toBe(EXIT.auth);
});

test("operation: the join of an approved node is listed, shown and waited for", async () => {
  const { server_uuid, claim_code } = await newNode();
  await printed(`cn approve --yes ${claim_code}`);
  const operations = await json<OperationSummary[]>("operation list");
  const { id } = operations.find(({ references }) => references.some((each) => each.id === server_uuid))!;
  expect(await printed(`operation wait ${id} --timeout 10`)).toBe(`Operation ${id} succeeded\n`);
  expect(await printed(`operation show ${id}`)).toMatch(/kind: +node-join/);
  expect((await opsctl(`operation abandon ${id}`)).code).toBe(EXIT.conflict);
});

test("operation wait: exits with 6 if the operation does not end within the timeout", async () => {
  const client = await openClient({ url: database.url });
  // This build does not run operations of a newer build, so this operation does not end.
  const { rows } = await client.query(
    `insert into saga select p.* from saga s,
       jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'state', 'running', 'done_at', null,
                                                   'saga', 'of-a-newer-build')) p
       where s.state = 'succeeded' limit 1 returning id`,
  );
  await client.end();
  const { code, err } = await opsctl(`operation wait ${rows[0].id} --timeout 1`);
  expect(code).toBe(EXIT.wait_timeout);
  expect(err).toContain("is still running");
});

test("audit: actions are listed in order, and the chain verifies", async () => {
  const { events, head } = await json<AuditPage>("audit list --oldest --limit 1000");
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  expect(events.map(({ action }) => action)).toEqual(
    expect.arrayContaining(["agent_register", "cn_approve", "cn_disable", "cn_set_role", "cn_set_reservoir"]),
  );
  expect(head!.seq).toBe(events.length - 1);
  expect(await printed("audit verify")).toMatch(/^Audit chain verified to seq \d+ \(head [0-9a-f]{64}\)\n$/);
});

test("a manifest is applied while --watch prints each change of the list; Ctrl-C ends --watch; the silo is deleted", async () => {
  const env = { HOME: home.path, OPSCTL_ENDPOINT: server.url, OPSCTL_API_KEY: ROOT_KEY };
  await printed("silo create first");
  const watching = start("opsctl", ["silo", "list", "-o", "name", "--watch"], { env });
  await watching.says(/^first\n/);
  const manifest = "silos: [{ name: second }]\nprojects: [{ silo: second, tenant: default, name: shop }]\n";
  expect(await printed("apply -f -", { typed: manifest })).toMatch(/Applied: 2 created, /);
  expect(await printed("apply -f -", { typed: manifest })).toMatch(/^0 to create, .* 2 unchanged\n$/);
  await watching.says(/first\nsecond\n/);
  watching.signal("SIGINT");
  expect(await watching.ended).toMatchObject({ code: EXIT.interrupted, err: "" });
  expect((await opsctl("silo delete second")).code).toBe(EXIT.conflict);
  await printed("project delete shop --tenant second/default");
  expect(await printed("silo delete second")).toMatch(/^Deleted silo second /);
  expect(await printed("silo delete first")).toMatch(/^Deleted silo first /);
});

test("events and describe of a node show how the node joined", async () => {
  const { server_uuid, claim_code } = await newNode();
  await printed(`cn approve ${claim_code} --yes`);
  expect(await printed(`cn events ${server_uuid}`)).toMatch(/ operation +node-join +created/);
  expect(await printed(`cn describe ${server_uuid}`)).toMatch(/\ninstances: none\n\nevents:\nTIME /);
});

test("login saves the key in a file with mode 0600; env, whoami and logout use the saved profile", async () => {
  const env = { HOME: home.path };
  const login = await opsctl(`--endpoint ${server.url} login --api-key-stdin`, { env, typed: `${ROOT_KEY}\n` });
  expect(login).toMatchObject({ code: EXIT.ok, out: `Logged in to ${server.url} as root (profile default)\n` });
  const { mode } = await stat(join(home.path, ".config/opsctl/credentials.toml"));
  expect(mode & 0o777).toBe(0o600);
  expect(await printed("whoami", { env })).toMatch(/username: +root\n/);
  const exports = await printed("env", { env });
  expect(exports).toBe(`export OPSCTL_ENDPOINT='${server.url}'\nexport OPSCTL_ACCESS_TOKEN='${ROOT_KEY}'\n`);
  expect(await printed("cn list", { env: { HOME: "/", OPSCTL_ENDPOINT: server.url, OPSCTL_ACCESS_TOKEN: ROOT_KEY } }))
    .toContain("LAST_SEEN");
  expect(await printed("logout", { env })).toContain("Logged out of profile default");
  expect((await opsctl("whoami", { env })).code).toBe(EXIT.auth);
});

test("the exit code identifies the kind of error, and --json prints the error as JSON", async () => {
  const absent = crypto.randomUUID();
  expect((await opsctl("cn frobnicate")).code).toBe(EXIT.usage);
  expect((await opsctl(`cn show ${absent}`)).code).toBe(EXIT.not_found);
  expect((await opsctl("cn approve ZZZ-ZZZ")).code).toBe(EXIT.not_found);
  const bad_code = await opsctl("cn approve nonsense");
  expect(bad_code.code).toBe(EXIT.failure);
  expect(bad_code.err).toContain("claim code must be 6 chars of Crockford base32 (XXX-XXX accepted)");
  expect((await opsctl("--api-key opsk_AAAAAAAAAAAA_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB cn list")).code).toBe(EXIT.auth);
  const { code, err } = await opsctl(`cn show ${absent} --json`);
  expect(code).toBe(EXIT.not_found);
  expect(JSON.parse(err)).toMatchObject({ error: { status: 404, exit_code: EXIT.not_found, error_code: "NotFound" } });
  const unreachable = await opsctl("--endpoint http://127.0.0.1:1 cn list");
  expect(unreachable.code).toBe(EXIT.unreachable);
});
