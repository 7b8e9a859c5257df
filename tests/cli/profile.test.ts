// Tests the profiles and the aliases of opsctl. The profiles on one machine are listed, used, renamed and deleted. A
// command uses the endpoint and credential of its profile.
import { expect, test } from "vitest";
import { fakeEnvironment } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";

const whoami = { server: () => ({ body: { username: "ada" } }) };

/** Returns a home folder with the profiles lab and hall. */
async function home(): Promise<string> {
  const { home_dir } = fakeEnvironment();
  for (const [at, name] of ["lab", "hall"].entries()) {
    const typed = `opsk_key_${name}`;
    const words = ["login", "--profile", name, "--endpoint", `http://127.0.0.1:900${at}`, "--api-key-stdin"];
    const ran = await opsctl(words, { ...whoami, home_dir, env: {}, typed });
    expect(ran.code, ran.err()).toBe(0);
  }
  return home_dir;
}

test("profiles are listed, chosen, renamed and deleted, and later commands use the changed profiles", async () => {
  const home_dir = await home();
  const run = (...words: string[]) => opsctl(words, { ...whoami, home_dir, env: {} });
  expect((await run("profile", "use", "hall")).out()).toBe("Profile hall is the default\n");
  const before = await run("profile", "list", "--columns", "name,default,credential", "--no-headers");
  expect(before.out()).toBe("lab   no       api_key\nhall  yes      api_key\n");

  expect((await run("profile", "rename", "hall", "hall-2")).out()).toBe("Renamed profile hall to hall-2\n");
  expect((await run("api", "GET", "/v1/version")).asked[0]!.headers.authorization).toBe("Bearer opsk_key_hall");
  expect((await run("profile", "list", "-o", "jsonpath=.items[*].endpoint")).out().split("\n")).toContain(
    "http://127.0.0.1:9001",
  );

  expect((await run("profile", "delete", "hall-2")).out()).toBe("Deleted profile hall-2\n");
  expect((await run("profile", "list", "-o", "name")).out()).toBe("lab\n");
  expect((await run("api", "GET", "/v1/version", "--profile", "hall-2")).code).not.toBe(0);
  expect((await run("api", "GET", "/v1/version", "--profile", "lab")).code).toBe(0);
});

test("a command with an unknown profile, or with a new name that is in use, changes nothing", async () => {
  const home_dir = await home();
  const run = (...words: string[]) => opsctl(["profile", ...words], { home_dir, env: {} });
  for (const words of [["use", "none"], ["delete", "none"], ["rename", "none", "x"]]) {
    const ran = await run(...words);
    expect(ran.code).toBe(3);
    expect(ran.err()).toContain("no profile has the name none");
  }
  expect((await run("rename", "lab", "hall")).code).toBe(2);
  expect((await run("list", "-o", "name")).out()).toBe("lab\nhall\n");
});

test("an alias replaces the beginning of a command line, and belongs to one profile", async () => {
  const home_dir = await home();
  const run = (...words: string[]) => opsctl(words, { ...whoami, home_dir, env: {} });
  const set = await run("profile", "alias", "set", "version", "--", "api", "GET", "/v1/version", "-f", "note=a b");
  expect(set.out()).toBe("Alias version of profile lab is: opsctl api GET /v1/version -f 'note=a b'\n");
  const ran = await run("version", "-f", "more=1");
  expect(ran.err()).toBe("");
  expect([ran.code, ran.asked[0]!.path]).toEqual([0, "/v1/version"]);
  expect(ran.asked[0]!.query).toEqual({ note: "a b", more: "1" });
  expect((await run("profile", "alias", "list", "--no-headers")).out()).toBe(
    "version  api GET /v1/version -f 'note=a b'\n",
  );

  // Each profile has its own aliases, and a renamed profile keeps them.
  expect((await run("version", "--profile", "hall")).code).toBe(2);
  await run("profile", "rename", "lab", "lab-2");
  await run("profile", "use", "lab-2");
  expect((await run("version")).asked[0]!.headers.authorization).toBe("Bearer opsk_key_lab");
  expect((await run("version", "--profile=lab-2")).code).toBe(0);

  const quoted = await run("profile", "alias", "set", "me", "api GET /v1/version");
  expect(quoted.out()).toBe("Alias me of profile lab-2 is: opsctl api GET /v1/version\n");
  expect((await run("me")).asked[0]!.path).toBe("/v1/version");

  expect((await run("profile", "alias", "delete", "version")).out()).toBe("Deleted alias version\n");
  expect((await run("version")).code).toBe(2);
  expect((await run("profile", "alias", "delete", "version")).code).toBe(3);
});

test.each([
  [["cn", "--", "api", "GET", "/"], "cn is a command"],
  [["Nodes", "--", "cn", "list"], "an alias is 1 to 64 lowercase letters"],
  [["nodes", "--", "other"], "an alias begins with a command such as cn, not with other"],
  [["nodes", "--", "cn", "list", "--api-key", "opsk_secret"], "an alias must not contain an API key"],
  [["nodes", "--", "cn", "list", "--api-key=opsk_secret"], "an alias must not contain an API key"],
  [["nodes", "cn list --api-key opsk_secret"], "an alias must not contain an API key"],
  [["nodes", "cn list --filter 'state=approved'"], "the command line contains quotes; give each word as an argument"],
])("the alias %j is refused and not saved", async (words, message) => {
  const home_dir = await home();
  const run = (...more: string[]) => opsctl(["profile", "alias", ...more], { home_dir, env: {} });
  const ran = await run("set", ...words);
  expect(ran.code).toBe(2);
  expect(ran.err()).toContain(message);
  expect(ran.err()).not.toContain("opsk_secret");
  expect((await run("list", "--json")).out()).toContain('"items": []');
});
