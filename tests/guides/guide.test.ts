// Tests the code that reads and runs guides, and checks that every guide has a test.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { needs } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { blocksOf, missingLine } from "./guide.ts";
import { replaced, ROOT, runBlocks, SESSION } from "./run.ts";

const FOLDER = join(ROOT, "docs/guides");
const GUIDES = readdirSync(FOLDER).map((name) => name.replace(/\.md$/, ""));
const textOf = (guide: string) => readFileSync(join(FOLDER, `${guide}.md`), "utf8");

test("every guide has a test", () => {
  const here = join(ROOT, "tests/guides");
  const paths = readdirSync(here).filter((name) => /(?:\.test|-trial)\.ts$/.test(name) && name !== "guide.test.ts")
    .map((name) => join(here, name));
  // The tests of guides that need virtual machines, routers or a release are in the folders of similar tests.
  const others = ["machines/guide.test.ts", "networks/inspection.test.ts", "release/container.test.ts"]
    .map((path) => join(ROOT, "tests", path));
  const tests = [...paths, ...others]
    .map((path) => readFileSync(path, "utf8")).join("\n");
  expect(GUIDES.filter((guide) => !tests.includes(`"${guide}"`))).toEqual([]);
});

test.each(GUIDES)(
  "in %s, links lead to existing files, and each block is a command, an output or a known kind of settings",
  (guide) => {
    const text = textOf(guide);
    for (const [, target = ""] of text.matchAll(/\]\(([^)#]+)\)/g)) {
      expect(existsSync(join(FOLDER, target)), target).toBe(true);
    }
    const kinds = [...text.matchAll(/^```(\w*)$/gm)].map(([, kind]) => kind).filter((kind) => kind !== "");
    // Blocks in other languages are settings, or SQL that a database administrator runs.
    for (const kind of kinds) expect(["sh", "text", "ini", "nginx", "sql", "toml", "haproxy", "yaml"]).toContain(kind);
    expect(text.match(/^```text$/gm)?.length ?? 0).toBe(blocksOf(text).filter(({ shown }) => shown !== null).length);
  },
);

describe("a guide's blocks", () => {
  test("are its sh blocks, each with the output that directly follows the block", () => {
    const guide = [
      "a",
      "```sh",
      "one",
      "two",
      "```",
      "",
      "```text",
      "out",
      "```",
      "```sh",
      "three",
      "```",
      "b",
      "```text",
      "x",
      "```",
    ];
    expect(blocksOf(guide.join("\n"))).toEqual([
      { line: 2, script: "one\ntwo", shown: ["out"] },
      { line: 10, script: "three", shown: null },
    ]);
    expect(() => blocksOf("```sh\nnever closed")).toThrow("line 1 is never closed");
  });

  test("match an output that differs only in ids, times, numbers and the width of columns", () => {
    const id = "8d0f7f0e-6f1a-4b8e-9a55-6c1b7f7f3a11";
    const output = `ID    STATE\n${crypto.randomUUID()}    approved  2026-11-22T01:02:03.004Z\nverified to seq 12\n`;
    expect(missingLine(["ID  STATE", "...", `${id} approved 2026-11-21T12:00:00Z`, "verified to seq 4"], output))
      .toBeNull();
    expect(missingLine([`${id} pending 2026-11-21T12:00:00Z`], output)).toContain("pending");
    expect(missingLine(["verified to seq 4", "ID  STATE"], output)).toBe("ID  STATE");
  });
});

test("a text that replaced another text is not replaced again", () => {
  const instead = { "8081": "48082", "8082": "40000", "a.b": "$&", "port 8081": "it" };
  expect(replaced("8081 8082 a.b axb", instead)).toBe("48082 40000 $& axb");
  expect(replaced("port 8081", instead)).toBe("it");
  expect(replaced("as it is", {})).toBe("as it is");
});

describe("a session", () => {
  beforeEach((context) => needs(context, ...SESSION));
  const step = (script: string, shown: string[] | null = null) => ({ line: 1, place: "here:1", script, shown });
  async function run(...steps: ReturnType<typeof step>[]): Promise<string> {
    const folder = await temporaryFolder("session");
    try {
      return await runBlocks(steps, { folder: folder.path, env: { GIVEN: "given" } }).then(() => "held", String);
    } finally {
      await folder.remove();
    }
  }

  test("keeps variables and background processes from block to block, and ends after the last block", async () => {
    expect(await run(step("x=$GIVEN; sleep 1000 &\nkept=$!"), step('echo "$x"; kill -0 "$kept"', ["given"]))).toBe(
      "held",
    );
  });

  test("fails at the block whose command fails, and the error has the block's line and output", async () => {
    const message = await run(step("echo fine"), step("echo before; false; echo after"), step("echo never"));
    expect(message).toMatch(/here:1 ended with 1:[^]*before/);
    expect(message).not.toMatch(/^after$|^never$|fine/m);
  });

  test("fails if a variable is unset, if a command within a pipe fails, or if the output differs", async () => {
    expect(await run(step('echo "$unset_variable"'))).toContain("ended with");
    expect(await run(step("false | cat"))).toContain("ended with 1");
    expect(await run(step("echo one", ["two"]))).toContain("shows a line that was not printed:\ntwo");
  });
});
