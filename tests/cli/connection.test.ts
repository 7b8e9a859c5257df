// Tests which endpoint and credential a command uses, and the commands `login`, `logout` and `env`.
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseEndpoint } from "../../cli/internal/endpoint.ts";
import { resolveConnection } from "../../cli/internal/connection.ts";
import { configFolder, readCredentials, writeCredentials, writeProfiles } from "../../cli/internal/profile.ts";
import { type FakeEnvironment, fakeEnvironment } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";

const LAB = { endpoint: "https://lab.example", api_key: "key-of-lab" };
const SITE = { endpoint: "https://site.example", api_key: "key-of-site" };

async function withProfiles(env: Record<string, string> = {}): Promise<FakeEnvironment> {
  const fake = fakeEnvironment({ env });
  const endpoints = new Map([["lab", LAB.endpoint], ["site", SITE.endpoint]]);
  await writeProfiles(fake.environment, { default_profile: "lab", endpoints, aliases: new Map() });
  await writeCredentials(fake.environment, new Map([["lab", LAB], ["site", SITE]]));
  return fake;
}

test("without flags and variables, the default profile is used", async () => {
  const { environment } = await withProfiles();
  expect(await resolveConnection(environment, {})).toEqual({ endpoint: LAB.endpoint, token: LAB.api_key });
});

test("OPSCTL_PROFILE selects a profile", async () => {
  const { environment } = await withProfiles({ OPSCTL_PROFILE: "site" });
  expect(await resolveConnection(environment, {})).toEqual({ endpoint: SITE.endpoint, token: SITE.api_key });
});

test("the environment overrides the profile, and an API key overrides an access token", async () => {
  const env = { OPSCTL_ENDPOINT: "https://env.example", OPSCTL_API_KEY: "env-key", OPSCTL_ACCESS_TOKEN: "env-token" };
  expect(await resolveConnection((await withProfiles(env)).environment, {})).toEqual({
    endpoint: "https://env.example",
    token: "env-key",
  });
  const { environment } = await withProfiles({ ...env, OPSCTL_API_KEY: "" });
  expect((await resolveConnection(environment, {})).token).toBe("env-token");
});

test("flags override the environment", async () => {
  const { environment } = await withProfiles({ OPSCTL_ENDPOINT: "https://env.example", OPSCTL_API_KEY: "env-key" });
  const flags = { endpoint: "https://flag.example/", apiKey: "flag-key" };
  expect(await resolveConnection(environment, flags)).toEqual({ endpoint: "https://flag.example", token: "flag-key" });
  expect(await resolveConnection(environment, { profile: "site" })).toEqual({
    endpoint: SITE.endpoint,
    token: SITE.api_key,
  });
});

test("OPSCTL_ENDPOINT together with OPSCTL_PROFILE is an error", async () => {
  const { environment } = await withProfiles({ OPSCTL_ENDPOINT: "https://env.example", OPSCTL_PROFILE: "site" });
  await expect(resolveConnection(environment, {})).rejects.toMatchObject({ exit_code: 2 });
});

test("a saved key is never sent to another endpoint", async () => {
  const { environment } = await withProfiles();
  await expect(resolveConnection(environment, { endpoint: "https://other.example" })).rejects.toMatchObject({
    exit_code: 2,
  });
  const endpoints = new Map([["lab", "https://other.example"]]);
  await writeProfiles(environment, { default_profile: "lab", endpoints, aliases: new Map() });
  await expect(resolveConnection(environment, {})).rejects.toThrow("is for https://lab.example");
});

test("a command exits 2 without an endpoint, and 4 without a credential", async () => {
  await expect(resolveConnection(fakeEnvironment().environment, {})).rejects.toMatchObject({ exit_code: 2 });
  const { environment } = fakeEnvironment({ env: { OPSCTL_ENDPOINT: "https://env.example" } });
  await expect(resolveConnection(environment, {})).rejects.toMatchObject({ exit_code: 4 });
});

test("an unknown profile is an error that names the command to create it", async () => {
  const { environment } = await withProfiles();
  await expect(resolveConnection(environment, { profile: "none" })).rejects.toThrow("opsctl login --profile none");
});

test("the credentials file has mode 0600, and no temporary file remains beside it", async () => {
  const { environment } = await withProfiles();
  const folder = configFolder(environment);
  expect((await stat(join(folder, "credentials.toml"))).mode & 0o777).toBe(0o600);
  expect((await readdir(folder)).sort()).toEqual(["config.toml", "credentials.toml"]);
});

test.each([0o640, 0o604, 0o644, 0o620])(
  "a credentials file of mode %o is rejected without showing its text",
  async (mode) => {
    const { environment } = await withProfiles();
    await chmod(join(configFolder(environment), "credentials.toml"), mode);
    const error = await readCredentials(environment).catch((failure) => failure);
    expect(error).toMatchObject({ exit_code: 4 });
    expect(error.message).toContain("chmod 600");
    expect(error.message).not.toContain("key-of");
  },
);

test("the error about a damaged credentials file does not quote the file", async () => {
  const { environment } = await withProfiles();
  await writeFile(join(configFolder(environment), "credentials.toml"), 'api_key = "key-of-lab\n', { mode: 0o600 });
  const error = await readCredentials(environment).catch((failure) => failure);
  expect(error.message).toContain("is not valid TOML");
  expect(error.message).not.toContain("key-of");
});

test("the folder in XDG_CONFIG_HOME is used if its path is absolute, and ignored if relative", () => {
  expect(configFolder(fakeEnvironment({ env: { XDG_CONFIG_HOME: "/x/y" } }).environment)).toBe("/x/y/opsctl");
  const fake = fakeEnvironment({ env: { XDG_CONFIG_HOME: "x" } });
  expect(configFolder(fake.environment)).toBe(join(fake.home_dir, ".config", "opsctl"));
});

test.each(["ftp://x", "nonsense", "http://user:pw@x", "https://x/?a=1", "https://x/#a"])(
  "%s is not accepted as an endpoint",
  (text) => expect(() => parseEndpoint(text, "--endpoint")).toThrow("--endpoint"),
);

test("the error for an endpoint without a scheme shows what an endpoint looks like", () => {
  expect(() => parseEndpoint("127.0.0.1:8080", "OPSCTL_ENDPOINT")).toThrow(
    "OPSCTL_ENDPOINT is not an http or https URL; give one such as https://berth.example.com",
  );
});

test("if --endpoint is empty, for example because a shell variable is unset, the error states this", () => {
  for (const text of ["", " "]) expect(() => parseEndpoint(text, "--endpoint")).toThrow("--endpoint is empty");
});

test("an endpoint gets a lower-case scheme and host, and loses a default port and a final slash", () => {
  expect(parseEndpoint("HTTPS://Lab.Example:443/", "x")).toBe("https://lab.example");
  expect(parseEndpoint("http://h:8080/berth/", "x")).toBe("http://h:8080/berth");
});

const ROOT = { user_id: "u1", username: "root", is_root: true, key_id: "k1", scope: "full", bound_to_cn: null };
const WHOAMI = { ...ROOT, capabilities: [], tenant_id: null, silo_id: null, expires_at: null };

test("login verifies and saves the key and makes the first profile the default, and logout deletes the key", async () => {
  const server = () => ({ body: WHOAMI });
  const argv = ["login", "--endpoint", "http://127.0.0.1:8080/", "--api-key-stdin"];
  const login = await opsctl(argv, { env: {}, server, typed: "opsk_secret\n" });
  expect(login.code).toBe(0);
  expect(login.out()).toBe("Logged in to http://127.0.0.1:8080 as root (profile default)\n");
  expect(login.asked).toHaveLength(1);
  expect(login.asked[0]).toMatchObject({ path: "/v1/auth/whoami" });
  expect(login.asked[0]!.headers.authorization).toBe("Bearer opsk_secret");

  const { home_dir } = login;
  const later = await opsctl(["whoami"], { env: {}, server, home_dir });
  expect(later.asked[0]!.headers.authorization).toBe("Bearer opsk_secret");

  const logout = await opsctl(["logout"], { env: {}, home_dir });
  expect(logout.code).toBe(0);
  const text = await readFile(join(home_dir, ".config/opsctl/credentials.toml"), "utf8");
  expect(text).not.toContain("opsk_secret");
  expect((await opsctl(["whoami"], { env: {}, server, home_dir })).code).toBe(4);
});

test("a key that the server rejects is not saved", async () => {
  const refused = () => ({ status: 401, body: { message: "no", error_code: "Unauthenticated" } });
  const argv = ["login", "--endpoint", "http://127.0.0.1:8080", "--api-key-stdin"];
  const ran = await opsctl(argv, { env: {}, server: refused, typed: "opsk_bad" });
  expect(ran.code).toBe(4);
  expect(await readdir(ran.home_dir)).toEqual([]);
});

test("login asks for the key on a terminal and does not print it, and without a terminal it requires --api-key-stdin", async () => {
  const argv = ["login", "--endpoint", "http://127.0.0.1:8080"];
  expect((await opsctl(argv, { env: {} })).code).toBe(2);
  const asked = await opsctl(argv, { env: {}, isTTY: true, typed: "opsk_typed", server: () => ({ body: WHOAMI }) });
  expect(asked.code).toBe(0);
  expect(asked.out() + asked.err()).not.toContain("opsk_typed");
});

test("login at an http endpoint on another machine warns that others can read the key", async () => {
  const argv = ["login", "--endpoint", "http://10.0.0.1", "--api-key-stdin"];
  const ran = await opsctl(argv, { env: {}, typed: "opsk_x", server: () => ({ body: WHOAMI }) });
  expect(ran.err()).toContain("not encrypted");
});

test("`env` prints exports from which a shell reads the same values", async () => {
  const env = { OPSCTL_ENDPOINT: "http://127.0.0.1:8080", OPSCTL_API_KEY: "it's$HOME`x`" };
  const ran = await opsctl(["env"], { env });
  expect(ran.out()).toBe(
    `unset OPSCTL_API_KEY\nexport OPSCTL_ENDPOINT='http://127.0.0.1:8080'\nexport OPSCTL_ACCESS_TOKEN='it'\\''s$HOME\`x\`'\n`,
  );
});

test("`env` also prints a line that unsets OPSCTL_API_KEY, because this variable overrides the exported token", async () => {
  const { home_dir } = await withProfiles();
  const ran = await opsctl(["env", "--profile", "lab"], { env: { OPSCTL_API_KEY: "another" }, home_dir });
  expect(ran.out().split("\n")[0]).toBe("unset OPSCTL_API_KEY");
  expect(ran.out()).not.toContain("another");
});

test("`env` also prints a line that unsets OPSCTL_PROFILE, because this variable together with an endpoint is an error", async () => {
  const { home_dir } = await withProfiles();
  const ran = await opsctl(["env"], { env: { OPSCTL_PROFILE: "lab" }, home_dir });
  expect(ran.out().split("\n")[0]).toBe("unset OPSCTL_PROFILE");
});

test("reading the credentials fails if their path is a folder", async () => {
  const { environment } = fakeEnvironment();
  await mkdir(join(configFolder(environment), "credentials.toml"), { recursive: true });
  await expect(readCredentials(environment)).rejects.toThrow();
});
