// Help and man pages show one example of every verb. These tests read each example with the program's own parser.
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

/** Lists the verbs that help shows. */
function verbs(member: AnyCommand): AnyCommand[] {
  const shown = member.createHelp().visibleCommands(member).filter((child) => child.name() !== "help");
  return shown.flatMap((child) => child.commands.length > 0 ? verbs(child) : [child]);
}

function wordsOf(line: string): string[] {
  return [...line.matchAll(QUOTED_OR_WORD)].map(([, quoted, word]) => quoted ?? word ?? "");
}

describe.each(PROGRAMS)("the examples of %s", (name, build) => {
  test("each is accepted by the parser, and runs its own verb", async () => {
    const every = verbs(await build());
    expect(every.length).toBeGreaterThan(0);
    const refused: string[] = [];
    for (const index of every.keys()) {
      // A parsed tree keeps its options, so each example gets a new one.
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

  test("a verb with a required argument has words after its name", async () => {
    const bare = verbs(await build()).filter((verb) => {
      const { args, options, example, name } = treeOf(verb);
      const needsWords = args.some(({ required }) => required) || options.some(({ mandatory }) => mandatory);
      return needsWords && example!.endsWith(` ${name}`);
    });
    expect(bare.map((verb) => verb.name())).toEqual([]);
  });
});
