// Tests users and password logins. opsctl saves the tokens of a login, renews them before they expire, and ends the
// session with logout (docs/tenancy.md, "Credentials").
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Environment } from "../../cli/internal/environment.ts";
import { readCredentials, writeCredentials } from "../../cli/internal/profile.ts";
import { ACCESS_TOKEN_TTL_S, REFRESH_TOKEN_TTL_S } from "../../src/contract/limits.ts";
import type { User } from "../../src/contract/identity.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner, serverOf } from "./at-control-plane.ts";
import { ENDPOINT, fakeEnvironment, type FakeOptions, type Server } from "./fake-environment.ts";

let t: TestControlPlane;
let at: OpsctlRunner;

beforeAll(async () => {
  t = await openTestControlPlane({ env: { BERTH_LOGIN_PER_MINUTE: "1000000" } });
  at = opsctlAt(t);
});
afterAll(() => t?.close());

const PASSWORD = "correct horse battery";
const LATER_S = 5;

async function user(username: string, argv = ""): Promise<User> {
  const made = await at.run(`user create ${username} --password-stdin --json ${argv}`.trim(), { typed: PASSWORD });
  expect(made.code, made.err()).toBe(0);
  return JSON.parse(made.out());
}

type Session = { home_dir: string; wall_ms: number };

/** Logs in. Returns the folder of the profile, and the approximate time at which the tokens were issued. */
async function logIn(username: string): Promise<Session> {
  const argv = `login --endpoint ${ENDPOINT} --username ${username} --password-stdin`;
  const ran = await at.run(argv, { env: {}, typed: `${PASSWORD}\n` });
  expect(ran.code, ran.err()).toBe(0);
  expect(ran.out()).toBe(`Logged in to ${ENDPOINT} as ${username} (profile default)\n`);
  const { access_expires_at } = await savedIn(ran.home_dir);
  return { home_dir: ran.home_dir, wall_ms: Date.parse(access_expires_at!) - ACCESS_TOKEN_TTL_S * 1000 };
}

async function savedIn(home_dir: string): Promise<Record<string, string>> {
  const text = await readFile(join(home_dir, ".config/opsctl/credentials.toml"), "utf8");
  return Object.fromEntries([...text.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, key, value]) => [key!, value!]));
}

function asked(paths: readonly { method: string; path: string }[]): string[] {
  return paths.map(({ method, path }) => `${method} ${path}`);
}

test("a user is created, listed and shown, gets and loses capabilities, and is deleted", async () => {
  const made = await at.run("user create ada --capability system-read --password-stdin", { typed: PASSWORD });
  expect(made.out()).toMatch(/^Created user ada \([0-9a-f-]{36}\)\n$/);
  const ada = await at.json<User>("user show ada");
  expect(ada).toMatchObject({ username: "ada", is_root: false, capabilities: ["system-read"], tenant_id: null });
  expect(await at.json(`user show ${ada.id}`)).toEqual(ada);
  expect(await at.printed("user show ada")).toContain("capabilities:  system-read\n");
  const [titles, ...rows] = (await at.printed("user list")).trimEnd().split("\n");
  expect(titles).toMatch(/^USERNAME +ID +ROOT +CAPABILITIES +TENANT_ID +ISSUER +AGE$/);
  expect(rows.find((row) => row.startsWith("ada "))).toMatch(/ no +system-read +- +- +/);
  expect(await at.printed("user list ADA -q")).toBe(`${ada.id}\n`);

  expect(await at.printed("user grant ada system-operate"))
    .toBe("Capabilities of user ada: system-operate, system-read\n");
  expect(await at.printed("user revoke ada system-read")).toBe("Capabilities of user ada: system-operate\n");
  expect(await at.printed(`user revoke ${ada.id} system-operate`)).toBe("Capabilities of user ada: (none)\n");
  expect(await at.printed("user delete ada")).toBe(`Deleted user ada (${ada.id})\n`);
  expect((await at.run("user show ada")).code).toBe(3);
});

test("a user is created in a tenant, and `user list --tenant` lists the users of a tenant by the tenant's name", async () => {
  await at.printed("silo create users");
  const { tenant_id, silo_id } = await user("bob", "--tenant users/default");
  expect(await at.json("silo show users")).toMatchObject({ id: silo_id, default_tenant_id: tenant_id });
  expect(await at.printed("user list --tenant users/default --columns USERNAME --no-headers")).toBe("bob\n");
  expect((await at.run("user list --tenant none/default")).code).toBe(3);
});

test("an unknown capability is rejected before any request", async () => {
  for (const argv of ["user create x --capability system-reed", "user grant x system-reed"]) {
    const ran = await at.run(argv);
    expect([ran.code, ran.asked]).toEqual([2, []]);
    expect(ran.err()).toContain(
      "choose one of system-read, system-operate, system-config-write, storage-admin, silo-admin",
    );
  }
});

test("opsctl asks for a new password twice, never shows it, and changes nothing if the two passwords differ", async () => {
  const typed = [PASSWORD, `${PASSWORD}.`];
  const differing = await at.run("user create eve", { isTTY: true, typed });
  expect([differing.code, differing.asked]).toEqual([2, []]);
  expect(differing.err()).toContain("the two passwords differ");
  const same = await at.run("user create eve", { isTTY: true, typed: [PASSWORD, PASSWORD] });
  expect(same.code, same.err()).toBe(0);
  expect(same.err()).toBe("Password of eve: \nAgain: \n");
  for (const ran of [differing, same]) expect(ran.out() + ran.err()).not.toContain(PASSWORD);
});

test("without a terminal a password must come from standard input", async () => {
  for (const argv of ["user create x", "user set-password eve", `login --endpoint ${ENDPOINT} --username x`]) {
    const ran = await at.run(argv);
    expect([ran.code, ran.err()]).toEqual([2, expect.stringContaining("pass --password-stdin")]);
  }
});

test("login by username saves the session with mode 0600, and the next command uses it", async () => {
  const { id } = await user("carl", "--capability system-read");
  const session = await logIn("carl");
  const saved = await savedIn(session.home_dir);
  expect(Object.keys(saved).sort())
    .toEqual(["access_expires_at", "access_token", "endpoint", "refresh_expires_at", "refresh_token", "username"]);
  const file = await stat(join(session.home_dir, ".config/opsctl/credentials.toml"));
  expect(file.mode & 0o777).toBe(0o600);
  const who = await at.run("whoami --json", { env: {}, ...session });
  expect(JSON.parse(who.out())).toMatchObject({ user_id: id, username: "carl", is_root: false, key_id: null });
  expect(asked(who.asked)).toEqual(["GET /v1/auth/whoami"]);
  expect((await at.run("whoami", { env: {}, ...session })).out()).toMatch(
    /^tenant_name: +-\nsilo_id: +-\nsilo_name: +-$/m,
  );
  const exported = await at.printed("env", { env: {}, ...session });
  expect(exported).toContain(`export OPSCTL_ACCESS_TOKEN='${saved.access_token}'`);
});

test("a wrong password and an unknown user both exit 4 and save nothing", async () => {
  await user("dora");
  for (const name of ["dora", "nobody"]) {
    const argv = `login --endpoint ${ENDPOINT} --username ${name} --password-stdin`;
    const ran = await at.run(argv, { env: {}, typed: "wrong password" });
    expect(ran.code).toBe(4);
    expect(ran.asked).toHaveLength(1);
    await expect(savedIn(ran.home_dir)).rejects.toThrow();
  }
});

test("login rejects options that exclude each other or need --username before any request", async () => {
  for (const argv of ["--username x --api-key-stdin", "--password-stdin", "--username x --api-key k"]) {
    const ran = await at.run(`login --endpoint ${ENDPOINT} ${argv}`, { env: {}, isTTY: true });
    expect([ran.code, ran.asked], argv).toEqual([2, []]);
  }
});

test("a command renews and saves an access token that expires in less than 60 s, and then sends its request", async () => {
  await user("fay");
  const { home_dir, wall_ms } = await logIn("fay");
  const before = await savedIn(home_dir);
  const end_ms = wall_ms + ACCESS_TOKEN_TTL_S * 1000;
  const early: FakeOptions = { env: {}, home_dir, wall_ms: end_ms - 60_000 };
  expect(asked((await at.run("whoami", early)).asked)).toEqual(["GET /v1/auth/whoami"]);

  await t.advance(LATER_S);
  const due = await at.run("whoami", { ...early, wall_ms: end_ms - 59_999 });
  expect(asked(due.asked)).toEqual(["POST /v1/auth/refresh", "GET /v1/auth/whoami"]);
  expect(due.code, due.err()).toBe(0);
  const after = await savedIn(home_dir);
  expect(after.access_token).not.toBe(before.access_token);
  expect(after.refresh_token).not.toBe(before.refresh_token);
  expect(due.asked[1]!.headers.authorization).toBe(`Bearer ${after.access_token}`);
  expect(asked((await at.run("whoami", { ...early, wall_ms: end_ms - 59_999 })).asked)).toEqual([
    "GET /v1/auth/whoami",
  ]);
});

test("a command renews a token once if the server rejects it, even if the token is valid by the machine's clock", async () => {
  await user("gus", "--capability system-read");
  const session = await logIn("gus");
  await t.advance(ACCESS_TOKEN_TTL_S + LATER_S);
  const ran = await at.run("user list", { env: {}, ...session });
  expect(ran.code, ran.err()).toBe(0);
  expect(asked(ran.asked)).toEqual(["GET /v1/system/users", "POST /v1/auth/refresh", "GET /v1/system/users"]);
});

test("a DELETE of a missing object reports the missing object, even if the server first rejected the token", async () => {
  await user("gil", "--capability silo-admin");
  const session = await logIn("gil");
  await t.advance(ACCESS_TOKEN_TTL_S + LATER_S);
  const ran = await at.run("api-key delete 0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012", { env: {}, ...session });
  expect(asked(ran.asked)).toContain("POST /v1/auth/refresh");
  expect(ran.code, ran.err()).toBe(3);
});

test("if the machine's clock is an hour ahead, a command renews the token only once", async () => {
  await user("ann", "--capability system-read");
  const { home_dir, wall_ms } = await logIn("ann");
  const ran = await at.run("network-pool list", { env: {}, home_dir, wall_ms: wall_ms + 3_600_000 });
  expect(ran.code, ran.err()).toBe(0);
  expect(asked(ran.asked).filter((each) => each === "POST /v1/auth/refresh")).toHaveLength(1);
  const paths = asked(ran.asked).slice(1).toSorted();
  expect(paths).toEqual(["GET /v1/system/external-subnets", "GET /v1/system/network-pools"]);
});

test("a command uses the token that another command renewed and saved", async () => {
  await user("hal");
  const session = await logIn("hal");
  await t.advance(ACCESS_TOKEN_TTL_S + LATER_S);
  const real = serverOf(t);
  let other: Promise<unknown> | null = null;
  // A second command renews the token while the first command waits for its 401.
  const server: Server = async (call, signal) => {
    const answer = await real(call, signal);
    if (answer.status === 401) await (other ??= at.printed("whoami", { env: {}, ...session }));
    return answer;
  };
  const ran = await at.run("whoami", { env: {}, ...session, server });
  expect(ran.code, ran.err()).toBe(0);
  expect(asked(ran.asked)).toEqual(["GET /v1/auth/whoami", "GET /v1/auth/whoami"]);
});

describe("while a command renews the token of its profile, another command", () => {
  const LAB = { endpoint: "https://lab.example", api_key: "key-of-lab" };

  /** Runs a command that renews its token. Calls `meanwhile` between the server's renewal and its answer. */
  async function renewing(username: string, meanwhile: (environment: Environment) => Promise<void>) {
    await user(username);
    const session = await logIn(username);
    const { environment } = fakeEnvironment(session);
    const before = await readCredentials(environment);
    const server: Server = async (call, signal) => {
      const answer = await serverOf(t)(call, signal);
      if (call.path === "/v1/auth/refresh") await meanwhile(environment);
      return answer;
    };
    const wall_ms = session.wall_ms + ACCESS_TOKEN_TTL_S * 1000;
    const ran = await at.run("whoami", { env: {}, ...session, wall_ms, server });
    expect(ran.code, ran.err()).toBe(0);
    expect(asked(ran.asked)).toEqual(["POST /v1/auth/refresh", "GET /v1/auth/whoami"]);
    return { before, after: await readCredentials(environment) };
  }

  test("can save the credential of another profile", async () => {
    const { before, after } = await renewing("mia", async (environment) => {
      await writeCredentials(environment, (await readCredentials(environment)).set("lab", LAB));
    });
    expect(after.get("lab")).toEqual(LAB);
    expect(after.get("default")).toMatchObject({ username: "mia" });
    expect(after.get("default")).not.toEqual(before.get("default"));
  });

  test("can delete the credential of the profile", async () => {
    const { after } = await renewing("ned", (environment) => writeCredentials(environment, new Map()));
    expect(after).toEqual(new Map());
  });

  test("can save another credential of the profile", async () => {
    const { after } = await renewing(
      "oda",
      (environment) => writeCredentials(environment, new Map([["default", LAB]])),
    );
    expect(after).toEqual(new Map([["default", LAB]]));
  });
});

test("logout ends the session at the server and deletes the credential", async () => {
  await user("ida");
  const session = await logIn("ida");
  const { access_token, refresh_token } = await savedIn(session.home_dir);
  const ran = await at.run("logout", { env: {}, ...session });
  expect(ran.out()).toBe("Logged out of profile default; the session has ended\n");
  expect(await readFile(join(session.home_dir, ".config/opsctl/credentials.toml"), "utf8")).not.toContain("token");
  expect((await t.call("GET", "/v1/auth/whoami", { key: access_token! })).status).toBe(401);
  expect((await t.call("POST", "/v1/auth/refresh", { key: null, body: { refresh_token } })).status).toBe(401);
  expect((await at.run("whoami", { env: {}, ...session })).code).toBe(4);
});

test("logout from an unreachable server deletes the credential and reports that the session was not ended", async () => {
  await user("joe");
  const session = await logIn("joe");
  const { refresh_expires_at } = await savedIn(session.home_dir);
  const away: Server = () => Promise.reject(new TypeError("fetch failed"));
  const ran = await at.run("logout", { env: {}, ...session, server: away });
  expect(ran.code).toBe(7);
  expect(ran.err()).toContain("its session could not be ended");
  expect(ran.err()).toContain(refresh_expires_at);
  expect(await readFile(join(session.home_dir, ".config/opsctl/credentials.toml"), "utf8")).not.toContain("token");
});

test("after the session expired, a command asks for a new login, and logout still deletes the credential", async () => {
  await user("kim");
  const session = await logIn("kim");
  await t.advance(REFRESH_TOKEN_TTL_S + LATER_S);
  const ran = await at.run("whoami", { env: {}, ...session });
  expect([ran.code, ran.err()]).toEqual([4, expect.stringContaining("opsctl login --username kim")]);
  const logout = await at.run("logout", { env: {}, ...session });
  expect(logout.code, logout.err()).toBe(0);
});

test("a new password ends the user's sessions and works for the next login", async () => {
  const { id } = await user("lea");
  const session = await logIn("lea");
  const set = await at.run("user set-password lea", { isTTY: true, typed: ["another password", "another password"] });
  expect(set.out()).toBe(`Set the password of user lea (${id})\n`);
  expect(set.err()).toBe("New password of lea: \nAgain: \n");
  expect((await at.run("whoami", { env: {}, ...session })).code).toBe(4);
  const argv = `login --endpoint ${ENDPOINT} --username lea --password-stdin`;
  expect((await at.run(argv, { env: {}, typed: PASSWORD })).code).toBe(4);
  expect((await at.run(argv, { env: {}, typed: "another password" })).code).toBe(0);
});
