// `opsctl --help` and `tenantctl --help` must start about as fast as an empty executable, so cli/front-page.ts prints
// their output without the command parser. These tests check the output and the loaded files. The benchmark measures
// the time (tests/bench/README.md).
import { describe, expect, test } from "vitest";
import { type Front, frontText } from "../../cli/front-page.ts";
import { FRONT as OPSCTL } from "../../cli/opsctl/front.ts";
import { buildProgram as buildOpsctl } from "../../cli/opsctl/program.ts";
import { FRONT as TENANTCTL } from "../../cli/tenantctl/front.ts";
import { buildProgram as buildTenantctl } from "../../cli/tenantctl/program.ts";
import { type AnyCommand, command, parse, rootCommand } from "../../cli/framework.ts";
import { answer } from "../../cli/start.ts";
import { importsOf, readText } from "../lint/sources.ts";
import { fakeEnvironment } from "./fake-environment.ts";

const PROGRAMS = [
  { front: OPSCTL, build: buildOpsctl },
  { front: TENANTCTL, build: buildTenantctl },
];

/** Returns the output of the parser for these arguments and this terminal width. */
async function parsed(root: AnyCommand, argv: readonly string[], columns: number): Promise<string> {
  let out = "";
  const write = (text: string) => void (out += text);
  expect(await parse(root, argv, { out: write, err: write, columns: () => columns })).toEqual({ kind: "done" });
  return out;
}

describe.each(PROGRAMS)("$front.name", ({ front, build }) => {
  test("the front page equals the parser's help at every width up to 140 columns", async () => {
    for (let columns = 0; columns <= 140; columns++) {
      const expected = await parsed(await build(["--help"]), ["--help"], columns);
      expect(frontText(front, ["--help"], () => columns), `at ${columns} columns`).toBe(expected);
    }
  });

  test.each(["--help", "-h", "--version", "-V"])(
    "%s alone does not load the parser, and prints the parser's text",
    async (word) => {
      const fake = fakeEnvironment();
      const program = { front, run: () => Promise.reject(new Error("the parser was loaded")) };
      expect(await answer(program, [word], fake.environment)).toBe(0);
      expect(fake.out()).toBe(await parsed(await build([word]), [word], fake.environment.stdout.columns));
      expect(fake.err()).toBe("");
    },
  );

  test.each([[[]], [["help"]], [["--json", "--help"]], [["image", "--help"]], [["--help", "image"]], [["--", "-h"]]])(
    "the arguments %j are passed on to the parser",
    async (argv) => {
      const fake = fakeEnvironment();
      const given: (readonly string[])[] = [];
      const run = (argv: readonly string[]) => Promise.resolve(given.push(argv) && 3 as const);
      expect(await answer({ front, run }, argv, fake.environment)).toBe(3);
      expect(given).toEqual([argv]);
      expect(fake.out() + fake.err()).toBe("");
    },
  );

  test("the start loads only a fixed list of files, which contains neither the parser nor a command", () => {
    const loaded = loadedAtOnce(`cli/${front.name}/main.ts`);
    expect(loaded.packages).toEqual(["node:fs", "node:os", "node:process"]);
    const own = [`cli/${front.name}/front.ts`, `cli/${front.name}/main.ts`, `cli/${front.name}/nouns.ts`];
    const shared = [
      "cli/front-page.ts",
      "cli/internal/exit-code.ts",
      "cli/internal/environment.ts",
      "cli/internal/output/format.ts",
      "cli/start.ts",
      "cli/version.ts",
    ];
    expect(loaded.files).toEqual([...own, ...shared, "package.json"].sort());
  });
});

test("long words and choices wrap as in the parser's help", async () => {
  const front: Front = {
    name: "odd",
    summary: `starts ${"with-a-word-that-fits-no-terminal-".repeat(5)} and continues on the next line of text`,
    version: "1.2.3",
    options: [
      { flags: "--hidden-one-that-would-be-the-widest <value>", summary: "not shown", hidden: true },
      { flags: "-c, --choice <value>", summary: "one of a few", choices: ["first", "second", "the third of them"] },
      { flags: "--long", summary: `x${" and another word".repeat(20)}` },
    ],
    nouns: [{ name: "noun", summary: "what it is, in one line" }],
  };
  for (let columns = 0; columns <= 140; columns++) {
    const root = rootCommand(front);
    for (const { name, summary } of front.nouns) root.addCommand(command(name, summary));
    expect(frontText(front, ["-h"], () => columns)).toBe(await parsed(root, ["-h"], columns));
  }
});

/** Returns the files and packages that the start evaluates: all static imports except imports of types. */
function loadedAtOnce(entry: string): { files: string[]; packages: string[] } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string) => {
    if (files.has(path)) return;
    files.add(path);
    if (!path.endsWith(".ts")) return;
    const text = readText(path).replaceAll(/\bimport\("[^"]+"\)/g, "");
    for (const { from, isLocal, isType } of importsOf({ path, text })) {
      if (isType) continue;
      if (isLocal) visit(from);
      else packages.add(from);
    }
  };
  visit(entry);
  return { files: [...files].sort(), packages: [...packages].sort() };
}
