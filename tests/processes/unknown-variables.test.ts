// Tests the warnings of the server about misspelt environment variables.
import { afterAll, beforeAll, expect, test } from "vitest";
import { OTHER_VARIABLES, SERVER_VARIABLES, unknownVariables } from "../../src/unknown-variables.ts";
import { code, filesBelow, readText, sources } from "../lint/sources.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { startServer } from "../support/server-process.ts";

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database?.drop());

test.each([true, false])(
  "the server names each unknown variable and the nearest name (as `task start`: %s)",
  async (as_task) => {
    const env = { DATABASE_URL: database.url, BERTH_CONSOLE_DAIL_S: "5", BERTH_GREEN: "secret", BERTH_ENDPOINT: "x" };
    const server = await startServer({ as_task, env });
    await server.stop();
    const lines = server.log().split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    const warnings = lines.filter(({ message }) => /unknown name/.test(message));
    expect(warnings.map(({ level, variable, did_you_mean }) => [level, variable, did_you_mean]).toSorted()).toEqual([
      ["WARN", "BERTH_CONSOLE_DAIL_S", "BERTH_CONSOLE_DIAL_S"],
      ["WARN", "BERTH_GREEN", undefined],
    ]);
    expect(server.log()).not.toContain("secret");
  },
);

test("the nearest name may belong to a setting; variables of other programs and of Kubernetes are not reported", () => {
  expect(unknownVariables(["BERTH_RESERVOIR_PERCENT", "BERTH_RESERVOIR_PERCENT_DEFUALT", "BERTH_PORT"])).toEqual([
    { variable: "BERTH_RESERVOIR_PERCENT" },
    { variable: "BERTH_RESERVOIR_PERCENT_DEFUALT", did_you_mean: "BERTH_RESERVOIR_PERCENT_DEFAULT" },
    { variable: "BERTH_PORT" },
  ]);
  const service = ["SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_80_TCP", "PORT_80_TCP_ADDR"];
  const of_kubernetes = service.map((end) => `BERTH_CONTROL_PLANE_${end}`);
  expect(unknownVariables(["PATH", "BERTH_RESERVOIR_PERCENT_DEFAULT", ...of_kubernetes, ...OTHER_VARIABLES])).toEqual(
    [],
  );
});

/** Returns the first group of each match of the pattern in the texts. */
const named = (texts: readonly string[], pattern: RegExp) =>
  new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = ""]) => name)));

test("every variable that a program reads is known, and the server reads every variable of its list", () => {
  const programs = sources(["src", "actors", "cli", "nodeagent", "booter", "index-builder"])
    .filter(({ path }) => path !== "src/unknown-variables.ts");
  const read = named(programs.map(({ text }) => code(text)), /(?:env\.|["'`])(BERTH_[A-Z0-9_]+)/g);
  const files = filesBelow(["cli/release"], "").filter((path) => !path.endsWith(".ts")).map(readText);
  const in_files = named([...files, ...filesBelow(["docs/guides"], ".md").map(readText)], /\b(BERTH_[A-Z0-9_]+)/g);
  // A test's own option has a default (`??`). A variable without a default is for a program that the test starts.
  const tests = sources(["tests"]).map(({ text }) => text);
  const in_tests = named(tests, /process\.env(?:\.|\[")(BERTH_[A-Z0-9_]+)(?:"\])? \?\?/g);
  expect(unknownVariables([...read, ...in_files, ...in_tests])).toEqual([]);
  expect(SERVER_VARIABLES.filter((name) => !read.has(name))).toEqual([]);
  const other = new Set([...read, ...in_files, ...in_tests]);
  expect(OTHER_VARIABLES.filter((name) => !other.has(name))).toEqual([]);
});
