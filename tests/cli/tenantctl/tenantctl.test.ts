// Tests the global flags, output formats and credentials of tenantctl.
import { spawnSync } from "node:child_process";
import { Buffer } from "node:buffer";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type CommandNode, describe as tree } from "../../../cli/framework.ts";
import { NOUNS } from "../../../cli/tenantctl/nouns.ts";
import { buildProgram, runTenantctl } from "../../../cli/tenantctl/program.ts";
import { yamlText } from "../../../cli/internal/output/yaml-text.ts";
import { needs, present } from "../../support/optional-programs.ts";
import { fakeEnvironment, type FakeOptions } from "../fake-environment.ts";

const ENDPOINT = "http://127.0.0.1:8080";
const LOGGED_IN = { TENANTCTL_ENDPOINT: ENDPOINT, TENANTCTL_API_KEY: "opsk_env" };
const CLAIMS = { sub: "u1", iat: 1, tenant_id: "t1", realm_scope: "tenant", scope: "full", exp: 1_900_000_000 };
const TOKEN = ["e30", Buffer.from(JSON.stringify(CLAIMS)).toString("base64url"), "sig"].join(".");
const WHOAMI = { username: "ada", tenant_id: "t1", tenant_name: "web", silo_name: "acme" };

async function tenantctl(argv: readonly string[], options: FakeOptions = {}) {
  const fake = fakeEnvironment({ env: LOGGED_IN, ...options });
  return { ...fake, code: await runTenantctl(argv, fake.environment) };
}

test("`whoami` prints the claims of a token without a request", async () => {
  const ran = await tenantctl(["whoami", "--api-key", TOKEN], { isTTY: true });
  expect(ran.out()).toBe(
    "sub:          u1\ntenant_id:    t1\nrealm_scope:  tenant\nscope:        full\nexp:          1900000000\n",
  );
  const { iat: _iat, ...shown } = CLAIMS;
  expect(JSON.parse((await tenantctl(["whoami", "--api-key", TOKEN])).out())).toEqual(shown);
  expect(ran.asked).toEqual([]);
});

test.each([
  [["-o", "yaml", "whoami", "--api-key", TOKEN]],
  [["whoami", "-o", "yaml", "--api-key", TOKEN]],
  [["--output=yaml", "--api-key", TOKEN, "whoami"]],
  [["whoami", "--api-key", TOKEN, "-oyaml"]],
])("global flags are accepted before or after the subcommand: %j", async (argv) => {
  const ran = await tenantctl(argv);
  expect(ran.code).toBe(0);
  expect(ran.out()).toBe('sub: "u1"\ntenant_id: "t1"\nrealm_scope: "tenant"\nscope: "full"\nexp: 1900000000\n');
});

test("the default output is a table on a terminal and JSON otherwise", async () => {
  const argv = ["whoami", "--api-key", TOKEN];
  const table = (await tenantctl(argv, { isTTY: true })).out();
  expect((await tenantctl(argv)).out().startsWith("{")).toBe(true);
  expect((await tenantctl([...argv, "-o", "json"], { isTTY: true })).out().startsWith("{")).toBe(true);
  expect((await tenantctl([...argv, "-o", "table"])).out()).toBe(table);
  expect((await tenantctl([...argv, "-o", "wide"])).out()).toBe(table);
});

test("an unknown format is a usage error; with -o json or -o yaml an error is printed as JSON", async () => {
  expect((await tenantctl(["whoami", "-o", "xml"])).code).toBe(2);
  for (const flag of [["-o", "json"], ["-ojson"], ["--output", "yaml"], ["--output=json"]]) {
    const ran = await tenantctl(["whoami", ...flag], { env: {} });
    expect(ran.code).toBe(2);
    expect(JSON.parse(ran.err()).error).toMatchObject({ exit_code: 2 });
  }
  const plain = await tenantctl(["whoami"], { env: {} });
  expect(plain.err()).toMatch(/^error: no endpoint: pass --endpoint, set TENANTCTL_ENDPOINT/);
});

test("-o yaml is valid YAML 1.1 and 1.2: it quotes strings and unusual keys, and escapes control bytes", () => {
  const value = {
    no: "no",
    time: "12:30",
    lines: 'x\n\ty"z"',
    unsafe: "a\u001b[2J\u202eb\u2028\u007f",
    list: [null, true, 5, 0.5, [], [[1, 2], {}]],
    "a key: #": { deep: [{ one: 1, two: { e0: "2" } }, "s"] },
    large: 1e21,
    gone: undefined,
    empty: {},
  };
  expect(yamlText(value)).toBe(`"no": "no"
time: "12:30"
lines: "x\\n\\ty\\"z\\""
unsafe: "a\\u001b[2J\\u202eb\\u2028\\x7f"
list:
  - null
  - true
  - 5
  - 0.5
  - []
  - - - 1
      - 2
    - {}
"a key: #":
  deep:
    - one: 1
      two:
        "e0": "2"
    - "s"
large: 1.0e+21
empty: {}`);
  expect([yamlText(null), yamlText([]), yamlText("x"), yamlText({})]).toEqual(["null", "[]", '"x"', "{}"]);
});

test("`env` prints exports even if the output is a pipe, and prints JSON with -o json", async () => {
  const ran = await tenantctl(["env", "--api-key", "it's"]);
  expect(ran.out()).toBe(
    `unset TENANTCTL_API_KEY\nexport TENANTCTL_ENDPOINT='${ENDPOINT}'\nexport TENANTCTL_ACCESS_TOKEN='it'\\''s'\n`,
  );
  expect(JSON.parse((await tenantctl(["env", "-o", "json"])).out())).toEqual({
    TENANTCTL_ENDPOINT: ENDPOINT,
    TENANTCTL_ACCESS_TOKEN: "opsk_env",
  });
});

test("flags override the environment, the environment overrides the saved login, and an API key overrides an access token", async () => {
  const server = () => ({ body: WHOAMI });
  const { home_dir } = await tenantctl(["login", "--endpoint", "https://saved.example", "--api-key-stdin"], {
    env: {},
    server,
    typed: "saved-key\n",
  });
  const used = async (argv: string[], env: Record<string, string>) => {
    const ran = await tenantctl(["env", "-o", "json", ...argv], { env, home_dir });
    return ran.code === 0 ? Object.values(JSON.parse(ran.out())) : ran.code;
  };
  const env = { TENANTCTL_ENDPOINT: "https://env.example", TENANTCTL_ACCESS_TOKEN: "env-token" };
  expect(await used([], {})).toEqual(["https://saved.example", "saved-key"]);
  expect(await used([], env)).toEqual(["https://env.example", "env-token"]);
  expect(await used([], { ...env, TENANTCTL_API_KEY: "env-key" })).toEqual(["https://env.example", "env-key"]);
  const flags = ["--endpoint", "https://flag.example/", "--api-key", "flag-key"];
  expect(await used(flags, env)).toEqual(["https://flag.example", "flag-key"]);
  // tenantctl sends a saved key only to the endpoint of its login.
  expect(await used(["--endpoint", "https://other.example"], {})).toBe(2);
});

test("login verifies the key and saves it in a file that only the owner can read; logout deletes the key", async () => {
  const argv = ["login", "--endpoint", `${ENDPOINT}/`, "--api-key-stdin"];
  const refused = { server: () => ({ status: 401, body: { message: "no" } }), env: {}, typed: "bad" };
  const bad = await tenantctl(argv, refused);
  expect(bad.code).toBe(4);
  const file = join(bad.home_dir, ".config/tenantctl/login.json");
  await expect(stat(file)).rejects.toThrow();

  const good = { server: () => ({ body: WHOAMI }), env: {}, typed: "opsk_secret\n", home_dir: bad.home_dir };
  const ran = await tenantctl([...argv, "-o", "table"], good);
  expect(ran.out()).toBe(`Logged in to ${ENDPOINT} as ada, in tenant acme/web\n`);
  expect(ran.asked[0]!.headers.authorization).toBe("Bearer opsk_secret");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await tenantctl(["logout"], { env: {}, home_dir: bad.home_dir })).code).toBe(0);
  await expect(readFile(file)).rejects.toThrow();
  const later = await tenantctl(["env"], { env: { TENANTCTL_ENDPOINT: ENDPOINT }, home_dir: bad.home_dir });
  expect(later.code).toBe(4);
});

test("tenantctl rejects a saved login that is damaged or that others can read, never shows its content, and can delete it", async () => {
  const { home_dir } = fakeEnvironment();
  const file = join(home_dir, ".config/tenantctl/login.json");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, '{"api_key": "opsk_secret', { mode: 0o600 });
  const damaged = await tenantctl(["env"], { env: {}, home_dir });
  expect(damaged.code).toBe(4);
  expect(damaged.err()).not.toContain("opsk_secret");
  await chmod(file, 0o644);
  expect((await tenantctl(["env"], { env: {}, home_dir })).err()).toContain("chmod 600");
  expect((await tenantctl(["logout"], { env: {}, home_dir })).code).toBe(0);
  await expect(stat(file)).rejects.toThrow();
});

function everyHelp(node: CommandNode, path: string): string[] {
  const children = node.children.filter(({ name }) => name !== "help");
  return [`$ ${path}\n${node.help()}`, ...children.flatMap((child) => everyHelp(child, `${path} ${child.name}`))];
}

test("every tenantctl command prints its recorded help", async () => {
  expect(everyHelp(tree(await buildProgram("all")), "tenantctl").join("\n")).toMatchSnapshot();
});

test("a start with --help loads no command, and the program's help lists the same commands as the whole tree", async () => {
  const root = tree(await buildProgram(["--help"]));
  for (const { name } of NOUNS) {
    const child = root.children.find((each) => each.name === name)!;
    expect(child.children.filter((each) => each.name !== "help")).toEqual([]);
  }
  const shown = ({ children }: CommandNode) => children.map(({ name, summary }) => [name, summary]);
  expect(shown(root)).toEqual(shown(tree(await buildProgram("all"))));
});

test("completion offers commands, flags and formats, and its scripts call tenantctl", async () => {
  const complete = async (...argv: string[]) =>
    (await tenantctl(["__complete", "--", ...argv])).out().split("\n").map((line) => line.split("\t")[0]);
  expect(await complete("image", "d")).toContain("download");
  expect(await complete("image", "search", "--distro")).toContain("--distro");
  expect(await complete("whoami", "-o", "y")).toContain("yaml");
  const { script } = JSON.parse((await tenantctl(["completion", "bash", "-o", "json"])).out());
  expect(script).not.toContain("opsctl");
  expect((await tenantctl(["completion", "bash"])).out()).toBe(`${script}\n`);
});

test("bash loads the completion script without an error", async (context) => {
  needs(context, "bash");
  const { script } = JSON.parse((await tenantctl(["completion", "bash", "-o", "json"])).out());
  expect(spawnSync(present("bash"), ["-n", "-c", script]).status).toBe(0);
});
