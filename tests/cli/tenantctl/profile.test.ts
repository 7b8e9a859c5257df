// Tests the profiles of tenantctl. A profile is one of several saved logins on a machine.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ENDPOINT, type Server } from "../fake-environment.ts";
import { PROJECT, TENANT, VPC } from "./records.ts";
import { requestsOf, tenantctl } from "./run.ts";

const LAB = "https://lab.example.org";
const LIST = ["vpc", "list", "--project", PROJECT, "--no-headers"];

/** Answers whoami for every key, and lists VPCs. */
const server: Server = ({ path }) =>
  path === "/v1/auth/whoami" ? { body: { username: "ada", tenant_id: TENANT } } : { body: { items: [VPC] } };

/** Saves one key in the default profile and another key in the profile lab. Returns the home folder. */
async function twoLogins(): Promise<string> {
  const first = await tenantctl(["login", "--api-key-stdin", "--endpoint", ENDPOINT], {
    env: {},
    isTTY: false,
    server,
    typed: "key-site",
  });
  const { home_dir } = first;
  const argv = ["login", "--profile", "lab", "--api-key-stdin", "-o", "table"];
  const env = { TENANTCTL_ENDPOINT: LAB };
  const second = await tenantctl(argv, { env, home_dir, isTTY: false, server, typed: "key-lab" });
  expect([first.code, second.code, second.out()]).toEqual([0, 0, `Logged in to ${LAB} as ada (profile lab)\n`]);
  return home_dir;
}

/** Runs a list command, which must send one request. Returns the credential of the request. */
async function used(home_dir: string, argv: readonly string[], env: Record<string, string> = {}) {
  const ran = await tenantctl([...LIST, ...argv], { env, home_dir, server });
  expect([ran.code, ran.err()]).toEqual([0, ""]);
  expect(requestsOf(ran)).toHaveLength(1);
  return ran.asked[0]!.headers.authorization;
}

const profile = (home_dir: string, ...argv: readonly string[]) =>
  tenantctl(["profile", ...argv], { env: {}, home_dir });

test("each profile has its own login; a flag has precedence over a variable, and a variable over the default profile", async () => {
  const home_dir = await twoLogins();
  expect((await stat(join(home_dir, ".config/tenantctl/profiles/lab.json"))).mode & 0o777).toBe(0o600);
  expect(await used(home_dir, [])).toBe("Bearer key-site");
  expect(await used(home_dir, ["--profile", "lab"])).toBe("Bearer key-lab");
  expect(await used(home_dir, [], { TENANTCTL_PROFILE: "lab" })).toBe("Bearer key-lab");
  expect(await used(home_dir, ["--profile", "default"], { TENANTCTL_PROFILE: "lab" })).toBe("Bearer key-site");
  expect(await used(home_dir, ["--profile", "lab"], { TENANTCTL_API_KEY: "key-env" })).toBe("Bearer key-lab");
  expect((await profile(home_dir, "use", "lab")).out()).toBe("Profile lab is the default\n");
  expect(await used(home_dir, [])).toBe("Bearer key-lab");
});

test("completion looks up names with the login of the profile that the command line names", async () => {
  const home_dir = await twoLogins();
  const words = ["--profile", "lab", "vpc", "show", "--project", PROJECT, ""];
  const ran = await tenantctl(["__complete", "--", ...words], { env: {}, home_dir, server });
  expect(ran.out()).toContain(VPC.name);
  expect(ran.asked.map(({ headers }) => headers.authorization)).toEqual(ran.asked.map(() => "Bearer key-lab"));
});

test("profiles are listed, renamed and deleted; a renamed default stays the default, and another profile replaces a deleted default", async () => {
  const home_dir = await twoLogins();
  await profile(home_dir, "use", "lab");
  const listed = async () => JSON.parse((await profile(home_dir, "list", "-o", "json")).out()).items;
  const row = { credential: "api_key", username: null };
  expect(await listed()).toEqual([
    { name: "default", endpoint: ENDPOINT, is_default: false, ...row },
    { name: "lab", endpoint: LAB, is_default: true, ...row },
  ]);
  const taken = await profile(home_dir, "rename", "lab", "default");
  expect([taken.code, taken.err()]).toEqual([2, "error: profile default exists already\n"]);
  expect((await profile(home_dir, "rename", "lab", "hall-2")).code).toBe(0);
  expect(await used(home_dir, [])).toBe("Bearer key-lab");
  expect((await profile(home_dir, "delete", "hall-2")).out()).toBe("Deleted profile hall-2\n");
  expect((await listed()).map(({ name, is_default }: Record<string, unknown>) => [name, is_default])).toEqual([
    ["default", true],
  ]);
});

test("the error for a profile without a login names the login command; an invalid name never becomes a path", async () => {
  const home_dir = await twoLogins();
  const missing = await tenantctl([...LIST, "--profile", "hall-9"], { env: {}, home_dir, server });
  expect([missing.code, missing.err()]).toEqual([
    2,
    "error: no endpoint: pass --endpoint, set TENANTCTL_ENDPOINT, or run tenantctl login --profile hall-9\n",
  ]);
  const mistyped = await tenantctl([...LIST, "--profile", "lbb"], { env: {}, home_dir, server });
  expect(mistyped.err()).toMatch(/run tenantctl login --profile lbb; did you mean the profile lab\?\n$/);
  const unknown = await profile(home_dir, "use", "hall-9");
  expect([unknown.code, unknown.err()]).toEqual([
    3,
    "error: no profile has the name hall-9; to list them, run: tenantctl profile list\n",
  ]);
  const near = await profile(home_dir, "use", "lbb");
  expect([near.code, near.err()]).toEqual([3, "error: no profile has the name lbb; did you mean lab?\n"]);
  const escaping = await tenantctl([...LIST, "--profile", "../login"], { env: {}, home_dir, server });
  expect([escaping.code, escaping.err()]).toEqual([
    2,
    "error: a profile name is 1 to 64 letters, digits, dots, hyphens or underscores, the first a letter or digit\n",
  ]);
  expect(escaping.asked).toEqual([]);
});
