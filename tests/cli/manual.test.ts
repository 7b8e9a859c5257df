// Compares the man pages and completion scripts of every executable with the executable's command tree.
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CommandNode } from "../../cli/framework.ts";
import { writeManual } from "../../cli/manual.ts";
import { completionScript } from "../../cli/manual/completion.ts";
import { listed, manualPage } from "../../cli/manual/page.ts";
import { everyManual, manualFiles, pagesOf } from "../../cli/manual/programs.ts";
import { plainText } from "../../cli/internal/plain-text.ts";
import { needs, present } from "../support/optional-programs.ts";

const MANUALS = (await everyManual()).map((manual) => ({ name: manual.tree.name, manual }));

const DATE = "2026-01-02";
const MARKS: Readonly<Record<string, string>> = { aq: "'", dq: '"', ga: "`", ha: "^", ti: "~" };

/** Renders a line in the way that a formatter does. Only known escapes may follow a backslash. */
function printed(line: string): string {
  return line.replace(/^\.[A-Z]+ ?/, "").replace(
    /\\(?:&|fB|fR|e|-|\((..)|\[u([0-9A-F]{4,6})\]|(.?))/gu,
    (all, two, code, odd) => {
      if (two !== undefined) return MARKS[two] ?? expect.fail(`unknown escape ${all}`);
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
      if (odd !== undefined) return expect.fail(`unknown escape ${all} in ${line}`);
      return { "\\e": "\\", "\\-": "-" }[all] ?? "";
    },
  );
}

function everyCommand(node: CommandNode, typed: string): { typed: string; node: CommandNode }[] {
  return [{ typed, node }, ...listed(node).flatMap((child) => everyCommand(child, `${typed} ${child.name}`))];
}

describe.each(MANUALS)("$name", ({ manual }) => {
  const pages = pagesOf(manual, DATE).map(({ name, text }) => ({ name, lines: text.split("\n").map(printed) }));
  const pageOf = (typed: string) => {
    const words = typed.split(" ");
    const own = manual.pagePerNoun && words.length > 1 ? `${words[0]}-${words[1]}` : words[0];
    return pages.find(({ name }) => name === own) ?? expect.fail(`no page for ${typed}`);
  };

  test("the page lists each command with its summary, options and arguments", () => {
    for (const { typed, node } of everyCommand(manual.tree, manual.tree.name)) {
      const { lines } = pageOf(typed);
      expect(lines.some((line) => line.includes(typed)), typed).toBe(true);
      expect(lines, typed).toContain(`${node.summary}.`);
      for (const { text, summary } of node.options.filter(({ flags }) => !flags.includes("--help"))) {
        const at = lines.indexOf(text);
        expect(at, `${typed} ${text}`).toBeGreaterThan(-1);
        expect(lines.some((line) => line.startsWith(summary)), `${typed} ${text}`).toBe(true);
      }
      for (const { name } of node.args) expect(lines, `${typed} ${name}`).toContain(name);
    }
  });

  test("the program's page lists every top-level command, and every referenced page exists", () => {
    const { lines } = pages[0]!;
    for (const { name } of listed(manual.tree)) expect(lines.join("\n")).toMatch(new RegExp(`\\b${name}\\b`));
    const own = lines.slice(lines.indexOf('"SEE ALSO"')).join(" ").matchAll(
      new RegExp(`\\b(${manual.tree.name}-[a-z-]+)\\(`, "g"),
    );
    for (const [, name] of own) expect(pages.map((page) => page.name)).toContain(name);
  });

  test("groff accepts every page without warnings", (context) => {
    needs(context, "groff");
    for (const { text } of pagesOf(manual, DATE)) {
      const ran = spawnSync(present("groff"), ["-man", "-Tutf8", "-ww", "-z"], { input: text, encoding: "utf8" });
      expect(ran.stderr).toBe("");
    }
  });

  test("mandoc accepts every page without warnings", (context) => {
    needs(context, "mandoc");
    for (const { name, text } of pagesOf(manual, DATE)) {
      // Ignores messages about style, such as long lines, because the pages have one sentence on each line.
      const ran = spawnSync(present("mandoc"), ["-T", "lint", "-W", "warning"], { input: text, encoding: "utf8" });
      expect(ran.stdout + ran.stderr, name).toBe("");
    }
  });
});

const LEAF = { hidden: false, options: [], args: [], children: [], example: null, help: () => "" };

function pageWith(text: string): string[] {
  const option = {
    ...{ text, flags: ["--x"], summary: text, takes_value: true, value_name: "x", choices: [text] },
    ...{ mandatory: true, default_text: text },
  };
  const args = [{ name: text, summary: text, choices: [], variadic: false, required: true }];
  const node: CommandNode = { ...LEAF, name: "odd", summary: text, options: [option], args };
  const more = [["FILES", [[text, text]]]] as const;
  return manualPage({
    name: "odd",
    section: 1,
    version: "1",
    date: DATE,
    typed: "odd",
    node,
    more,
    whole: true,
    see: [],
  }).text
    .split("\n");
}

const HOSTILE = [
  ".so /etc/passwd",
  "'br",
  "\\fBbold\\",
  '"quoted" end',
  "a\n.de XX\nb",
  "\\n(.z",
  "--flag",
  "\u001b[31mé✓",
  "\ud800",
  ".",
  "",
];

test("a page prints texts literally, so only lines with the page's own macros start with a dot", () => {
  const texts = fc.oneof(
    fc.constantFrom(...HOSTILE),
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom(...".'\\\"-\n fB(n*&") }),
  );
  fc.assert(fc.property(texts, (text) => {
    const lines = pageWith(text);
    for (const line of lines) {
      expect(line).toMatch(/^(?:\.(?:TH|SH|SS|TP|PP)(?: |$)|(?![.']))/);
      expect(line).toMatch(/^[\x20-\x7e]*$/);
    }
    const shown = plainText(`${text}.`.replace(/\s+/g, " ").trim()).replace(/\p{Cs}/gu, "\ufffd");
    expect(lines.map(printed)).toContain(shown);
  }));
});

test("a formatter prints hostile text literally", (context) => {
  needs(context, "groff");
  for (const text of HOSTILE.filter((each) => /^[\x20-\x7e]+$/.test(each))) {
    const input = pageWith(text).join("\n");
    const words = ["-man", "-Tascii", "-ww", "-P-cbou", "-rLL=200n"];
    const ran = spawnSync(present("groff"), words, { input, encoding: "utf8" });
    expect(ran.stderr).toBe("");
    expect(ran.stdout).toContain(`${text}.`);
  }
});

test("every file is written once and readable by all users", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-manual-"));
  try {
    const paths = await writeManual(folder, DATE);
    expect(new Set(paths).size).toBe(paths.length);
    for (const { path, text } of await manualFiles(DATE)) {
      expect(await readFile(join(folder, path), "utf8")).toBe(text);
      expect((await stat(join(folder, path))).mode & 0o777).toBe(0o644);
    }
    expect(paths).toEqual(
      expect.arrayContaining(["man/man1/opsctl.1", "man/man8/booter.8", "completion/zsh/_nodeagent"]),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe("completion scripts that contain the command tree", () => {
  const child: CommandNode = {
    ...LEAF,
    name: "serve",
    summary: "Serve it's things",
    options: [
      ...[["--mode", ["fast", "safe"]], ["--file", []]].map(([flag, choices]) => ({
        ...{ text: `${flag} <x>`, flags: [flag as string], summary: "one's value", takes_value: true, value_name: "x" },
        ...{ choices: choices as string[], mandatory: false, default_text: null },
      })),
    ],
  };
  const tree: CommandNode = {
    ...LEAF,
    name: "my-tool",
    summary: "A tool",
    children: [child, { ...child, name: "stop" }],
  };
  const script = (shell: "bash" | "zsh" | "fish") => completionScript(shell, tree).text;

  function printedBy(shell: "bash" | "zsh" | "fish", words: readonly string[], text: string): string {
    const ran = spawnSync(present(shell), [...words, "-c", text], { encoding: "utf8" });
    expect(ran.stderr).toBe("");
    return ran.stdout;
  }

  const CASES: readonly (readonly [words: readonly string[], expected: string])[] = [
    [["my-tool", "s"], "serve stop"],
    [["my-tool", "serve", "--"], "--mode --file"],
    [["my-tool", "serve", "--mode", ""], "fast safe"],
    [["my-tool", "serve", "--mode", "fast", "--f"], "--file"],
    [["my-tool", "serve", "--file", ""], ""],
  ];

  test.for(CASES)("complete words in bash: %j", ([words, expected], context) => {
    needs(context, "bash");
    const line = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${
      words.length - 1
    }; _my_tool; echo "\${COMPREPLY[*]}"`;
    const out = printedBy("bash", ["--norc"], `${script("bash")}\n${line}`);
    expect(out.trim()).toBe(expected);
  });

  test.for(CASES)("complete words in zsh: %j", ([words, expected], context) => {
    needs(context, "zsh");
    const current = words.at(-1) ?? "";
    const fakes = `compdef() { :; }; _files() { :; }; compadd() { shift; print -r -- "$@"; }`;
    const line = `words=(${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length}; _my_tool`;
    const out = printedBy("zsh", ["-f"], `${fakes}\n${script("zsh")}\n${line}`);
    // zsh's own compadd filters the candidates by prefix, but the fake compadd does not.
    expect(out.trim().split(" ").filter((word) => word.startsWith(current)).join(" ")).toBe(expected);
  });

  test.for(CASES.filter(([, expected]) => expected !== ""))(
    "complete words in fish: %j",
    ([words, expected], context) => {
      needs(context, "fish");
      const out = printedBy("fish", ["--no-config"], `${script("fish")}complete -C '${words.join(" ")}'`);
      const offered = out.trim().split("\n").map((each) => each.split("\t")[0]);
      for (const word of expected.split(" ")) expect(offered).toContain(word);
    },
  );
});
