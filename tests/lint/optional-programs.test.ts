// Checks that tests find optional programs only with tests/support/optional-programs.ts. A test that looks for a
// program by itself, or that starts a program without a check, fails on a machine with only Node and npm.
import { expect, test } from "vitest";
import { OPTIONAL } from "../support/optional-programs.ts";
import { optionalUsers } from "../support/optional-users.ts";
import { NAMES } from "../../cli/compile.ts";
import { code, readText, sources } from "./sources.ts";

const HERE = "tests/support/optional-programs.ts";
/** The programs on the PATH of `.ci/run`'s second run, besides coreutils. */
const BARE = ["node", "npm", "npx", "sh"];
/** The coreutils that tests start. */
const COREUTILS = ["cat", "cp", "test", "true"];

/** A call that starts a program, with its name in quotes. */
const STARTED =
  /\b(?:spawn|spawnSync|execFile|execFileSync|run|Deno\.Command|promisify\(execFile\))\)?\(\s*"([^"/ -][^"/ ]*)"/g;
/**
 * Code that looks for a program by itself (with a shell, or in a folder of programs), or that prints its own reason for
 * a skip.
 */
const PROBES =
  /command -v|["'`]which["'`]|["'`](?:\/usr(?:\/local)?)?\/s?bin\/[a-z]|\/usr\/(?:lib|share)\/(?:ipxe|OVMF|postgresql)|"skipped: |`skipped: /;

const files = sources(["tests"]).filter(({ path }) => path !== HERE && !path.startsWith("tests/lint/"));

/** Returns the optional programs that this text starts by name. */
function startedByName(text: string): string[] {
  if (!/node:child_process|Deno\.Command/.test(text)) return [];
  const names = [...code(text).matchAll(STARTED)].map(([, name = ""]) => name);
  return names.filter((name) => ![...BARE, ...COREUTILS, ...NAMES].includes(name));
}

test("the patterns find programs that are started by name, and code that looks for a program by itself", () => {
  const head = 'import { spawn } from "node:child_process";\n';
  expect(startedByName(`${head}spawn("openssl", []); spawnSync("sh"); run("curl", ["-s"]); run("cat");`))
    .toEqual(["openssl", "curl"]);
  for (const each of ['run("sh", ["-c", "command -v zsh"])', 'existsSync("/usr/sbin/sshd")', "`/usr/lib/ipxe`"]) {
    expect([each, PROBES.test(each)]).toEqual([each, true]);
  }
  for (const each of ['present("openssl")', '"usr/bin/opsctl"', '"/usr/bin:/bin"', "process.execPath"]) {
    expect([each, PROBES.test(each)]).toEqual([each, false]);
  }
});

test("no file of the tests looks for a program by itself", () => {
  expect(files.filter(({ text }) => PROBES.test(code(text))).map(({ path }) => path)).toEqual([]);
});

/** Files that start these programs without a check, because their callers check with `lacking`. */
const CHECKED_BY_CALLER: Readonly<Record<string, readonly string[]>> = {
  "tests/booter/netboot-fixture.ts": ["ip"],
  "tests/booter/wire.ts": ["ip"],
  "tests/security/fetches-by-import.test.ts": ["unshare"],
  "tests/bench/dhcp.ts": ["ip"],
  "tests/machines/moving-guest.ts": ["ssh-keygen"],
};

test("no file of the tests starts an optional program by name", () => {
  const found = files.map(({ path, text }) => ({
    path,
    names: startedByName(text).filter((name) => !(CHECKED_BY_CALLER[path] ?? []).includes(name)),
  }));
  expect(found.filter(({ names }) => names.length > 0)).toEqual([]);
});

test("every program in the table of optional programs is used, and the search finds the tests that use it", () => {
  const text = files.map((each) => each.text).join("\n");
  expect(OPTIONAL.filter((name) => !text.includes(`"${name}"`))).toEqual([]);
  const users = optionalUsers();
  expect(users).toEqual(expect.arrayContaining([
    "tests/booter/foreign-clients.test.ts",
    "tests/cli/exec-sshd.test.ts",
    "tests/guides/first-day.test.ts",
    "tests/index-builder/page.test.ts",
    "tests/lib/sha512-crypt.test.ts",
  ]));
  expect(users).not.toContain("tests/lib/uuid7.test.ts");
});

test("`.ci/run` runs the tests a second time with a PATH without the optional programs", () => {
  const script = readText(".ci/run");
  expect(script).toContain("tests/support/optional-users.ts");
  expect(script).toContain(`for name in ${BARE.join(" ")}; do`);
});
