// Checks that the tasks, files, commands and options in the documents exist, and that the documents name the version of
// Deno that the packages contain.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommandNode } from "../../cli/framework.ts";
import { everyManual } from "../../cli/manual/programs.ts";
import { DENO_VERSION } from "../../cli/release/deno-runtime.ts";
import { codeOf, commandsOf, DOCUMENTS, textOf } from "./documents.ts";
import { ROOT } from "./run.ts";

const tasks: Readonly<Record<string, { readonly command: string }>> =
  JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8")).tasks;
const trees = new Map((await everyManual()).map(({ tree }) => [tree.name, tree]));

test("the search finds the documents and their commands", () => {
  expect(DOCUMENTS).toEqual(expect.arrayContaining(["README.md", "CONTRIBUTING.md", "docs/guides/install.md"]));
  const named = DOCUMENTS.flatMap((document) => commandsOf(document, [...trees.keys()]));
  expect(new Set(named.map(({ program }) => program))).toEqual(new Set(trees.keys()));
  expect(named.length).toBeGreaterThan(150);
});

/** Returns the options that the source of a program contains. */
function optionsIn(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/(?:"([\w-]+)"|\b(\w+)): \{ type: "(?:string|boolean)"/g)].map(([, quoted, bare]) =>
    `--${quoted ?? bare}`
  );
}

function optionsNamed(argv: string): string[] {
  return [...argv.matchAll(/(?<![\w-])--[a-z][\w-]*/g)].map(([option]) => option);
}

test.each(DOCUMENTS)("%s names only existing tasks and options", (document) => {
  for (const { line, text } of codeOf(document)) {
    for (const [, name = "", rest = ""] of text.matchAll(/(?:^|deno(?:@[\d.]+)? )task ([\w:-]+)(.*)/g)) {
      const place = `${document}:${line}: task ${name}`;
      expect(Object.keys(tasks), place).toContain(name);
      // The arguments of a task go to the last command of the task.
      const program = tasks[name]!.command.match(/\S+\.ts\b/g)?.at(-1);
      const options = optionsNamed(rest);
      if (options.length > 0) expect(optionsIn(program!), place).toEqual(expect.arrayContaining(options));
    }
  }
});

test("in the guide to automatic failover, the control planes listen where HAProxy connects", () => {
  const guide = textOf("docs/guides/automatic-failover.md");
  const [, host] = /^HOST="(.*)"$/m.exec(guide) ?? [];
  expect(guide).toContain(`  server cp1 ${host}:8080\n`);
  expect(guide).toContain(`BERTH_RELAY_URL="http://${host}:8080"\n`);
});

test.each(DOCUMENTS)("%s runs only existing files, with existing options", (document) => {
  for (const { line, text } of codeOf(document)) {
    for (
      const [, flags = "", path = "", rest = ""] of text.matchAll(/deno (?:run|serve)((?: -\S+)*) "?(\S+\.ts)"?(.*)/g)
    ) {
      const file = path.replace(/^\$BERTH(?:_OLD)?\//, "");
      const place = `${document}:${line}: ${file}`;
      expect(existsSync(join(ROOT, file)), place).toBe(true);
      // Checks only options of the project's own programs. vitest has other options.
      const options = flags.includes("npm:") ? [] : optionsNamed(rest);
      if (options.length > 0) expect(optionsIn(file), place).toEqual(expect.arrayContaining(options));
    }
  }
});

test("the documents name no version of Deno other than the version that the packages contain", () => {
  const named = [...DOCUMENTS.map(textOf), readFileSync(join(ROOT, ".ci/run"), "utf8")].join("\n")
    .match(/\bdeno@\d[\d.]*\d/g) ?? [];
  expect(new Set(named)).toEqual(new Set([`deno@${DENO_VERSION}`]));
});

/** Returns the problem of a command, or null. Does not check the values of options. */
function wrong(tree: CommandNode, argv: readonly string[]): string | null {
  let node = tree;
  const known = new Map(tree.options.flatMap((option) => option.flags.map((flag) => [flag, option])));
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!.replace(/[",.`]+$/, "");
    if (/^--?[a-z]/.test(word)) {
      const option = known.get(word.split("=")[0]!);
      if (option === undefined) return `${node.name} has no option ${word}`;
      if (option.takes_value && !word.includes("=")) at += 1;
    } else if (node.children.length > 0) {
      const child = node.children.find(({ name }) => name === word);
      // In a sentence, a name may be a placeholder or an abbreviation.
      if (child === undefined) return /^[a-z][a-z-]*$/.test(word) ? `${node.name} has no command ${word}` : null;
      node = child;
      for (const option of child.options) for (const flag of option.flags) known.set(flag, option);
    }
  }
  return null;
}

test.each(DOCUMENTS)("%s names only existing commands and options of the executables", (document) => {
  const found = commandsOf(document, [...trees.keys()])
    .map(({ program, argv, place }) => ({ place, problem: wrong(trees.get(program)!, argv) }));
  expect(found.filter(({ problem }) => problem !== null)).toEqual([]);
});

test("the check finds unknown commands and options", () => {
  const [opsctl, nodeagent] = [trees.get("opsctl")!, trees.get("nodeagent")!];
  expect(wrong(opsctl, ["cn", "list", "--state", "pending"])).toBeNull();
  expect(wrong(opsctl, ["cn", "lists"])).toBe("cn has no command lists");
  expect(wrong(opsctl, ["cn", "list", "--status", "pending"])).toBe("list has no option --status");
  expect(wrong(nodeagent, ["run", "--no-such-option"])).toBe("run has no option --no-such-option");
});
