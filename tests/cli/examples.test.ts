// Help and man pages show one example of every command. These tests parse each example with the program's own parser.
import { describe, expect, test } from "vitest";
import { buildBooter } from "../../booter/program.ts";
import { type AnyCommand, describe as treeOf, parse } from "../../cli/framework.ts";
import { buildProgram as buildOpsctl } from "../../cli/opsctl/program.ts";
import { buildProgram as buildTenantctl } from "../../cli/tenantctl/program.ts";
import { buildIndexBuilder } from "../../index-builder/program.ts";
import { buildAgent } from "../../nodeagent/program.ts";

const SILENT = { out: () => {}, err: () => {}, columns: () => 80 };
const QUOTED_OR_WORD = /"([^"]*)"|(\S+)/g;

const PROGRAMS = [
  ["opsctl", () => buildOpsctl("all")],
  ["tenantctl", () => buildTenantctl("all")],
  ["nodeagent", () => Promise.resolve(buildAgent())],
  ["booter", () => Promise.resolve(buildBooter())],
  ["index-builder", () => Promise.resolve(buildIndexBuilder())],
] as const;

/** Returns the commands that help shows. */
function verbs(member: AnyCommand): AnyCommand[] {
  const shown = member.createHelp().visibleCommands(member).filter((child) => child.name() !== "help");
  return shown.flatMap((child) => child.commands.length > 0 ? verbs(child) : [child]);
}

function wordsOf(line: string): string[] {
  return [...line.matchAll(QUOTED_OR_WORD)].map(([, quoted, word]) => quoted ?? word ?? "");
}

describe.each(PROGRAMS)("the examples of %s", (name, build) => {
  test("are accepted by the parser, and each example runs the command that it belongs to", async () => {
    const every = verbs(await build());
    expect(every.length).toBeGreaterThan(0);
    const refused: string[] = [];
    for (const index of every.keys()) {
      // A command tree keeps the options that it parsed, so each example gets a new tree.
      const root = await build();
      const verb = verbs(root)[index]!;
      let ran = false;
      verb.action(() => void (ran = true));
      const { example } = treeOf(verb);
      expect(example).not.toBeNull();
      const [program, ...argv] = wordsOf(example!);
      expect(program).toBe(name);
      const outcome = await parse(root, argv, SILENT);
      if (outcome.kind !== "done" || !ran) refused.push(`${example}: ${JSON.stringify(outcome)}`);
    }
    expect(refused).toEqual([]);
  });

  test("have an argument after the command if the command requires an argument", async () => {
    const bare = verbs(await build()).filter((verb) => {
      const { args, options, example, name } = treeOf(verb);
      const needsWords = args.some(({ required }) => required) || options.some(({ mandatory }) => mandatory);
      return needsWords && example!.endsWith(` ${name}`);
    });
    expect(bare.map((verb) => verb.name())).toEqual([]);
  });
});
