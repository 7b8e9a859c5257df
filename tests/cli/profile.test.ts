// Profiles of one machine: list, use, rename, delete. A command then uses the profile's endpoint and credential.
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

test("profiles are listed, chosen, renamed and deleted, and commands follow", async () => {
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

test("an unknown profile, and a name that is taken, change nothing", async () => {
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
