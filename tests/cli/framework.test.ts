// Tests the global options, the help, and the start of opsctl and nodeagent.
import { expect, test } from "vitest";
import { type CommandNode, describe } from "../../cli/framework.ts";
import { buildAgent } from "../../nodeagent/program.ts";
import { NOUNS } from "../../cli/opsctl/nouns.ts";
import { buildProgram } from "../../cli/opsctl/program.ts";
import { opsctl } from "./opsctl.ts";

const EMPTY = { server: () => ({ body: { items: [] } }), env: {} };
const GLOBALS = ["--endpoint", "http://127.0.0.1:9", "--api-key", "k", "--json"];

test.each([
  [[...GLOBALS, "cn", "list", "--state", "pending"]],
  [["cn", ...GLOBALS, "list", "--state", "pending"]],
  [["cn", "list", ...GLOBALS, "--state", "pending"]],
  [["cn", "list", "--state", "pending", ...GLOBALS]],
  [["--endpoint=http://127.0.0.1:9", "cn", "--api-key=k", "list", "--state=pending", "--json"]],
])("global options are accepted anywhere: %j", async (argv) => {
  const ran = await opsctl(argv, EMPTY);
  expect(ran.err()).toBe("");
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.out())).toEqual({ items: [] });
  expect(ran.asked[0]).toMatchObject({ path: "/v1/system/cns", query: { state: "pending" } });
  expect(ran.asked[0]!.headers.authorization).toBe("Bearer k");
});

test("arguments after -- are never options", async () => {
  const ran = await opsctl(["config", "set", "a.b", "--", "-5"], {
    server: ({ body }) => ({ body: { key: "a.b", value: (body as { value: unknown }).value, env_override: null } }),
  });
  expect(ran.asked[0]!.body).toEqual({ value: -5 });
});

function everyHelp(node: CommandNode, path: string): string[] {
  const children = node.children.filter(({ name }) => name !== "help");
  return [
    `$ ${path} --help\n${node.help()}`,
    ...children.flatMap((child) => everyHelp(child, `${path} ${child.name}`)),
  ];
}

async function helpOf(argv: readonly string[]): Promise<string> {
  const ran = await opsctl(argv);
  expect(ran.code).toBe(0);
  expect(ran.err()).toBe("");
  return ran.out();
}

test("every opsctl command prints its recorded help", async () => {
  const paths = everyHelp(describe(await buildProgram("all")), "opsctl").map((text) => text.split("\n")[0]!.slice(2));
  const pages: string[] = [];
  for (const path of paths) pages.push(`$ ${path}\n${await helpOf(path.split(" ").slice(1))}`);
  expect(pages.join("\n")).toMatchSnapshot();
});

test("`help` prints the same text for a command as the command's option --help", async () => {
  const verb = await helpOf(["cn", "approve", "--help"]);
  expect(verb).toContain("Usage: opsctl cn approve ");
  for (const words of [["help", "cn", "approve"], ["cn", "help", "approve"]]) {
    const ran = await opsctl(words);
    expect([ran.code, ran.out()]).toEqual([0, verb]);
  }
});

test("every nodeagent command prints its recorded help", () => {
  expect(everyHelp(describe(buildAgent()), "nodeagent").join("\n")).toMatchSnapshot();
});

test("the program's help lists the same nouns whether or not the commands are loaded", async () => {
  const all = describe(await buildProgram("all"));
  const none = describe(await buildProgram(["--help"]));
  expect(none.children.map(({ name, summary }) => [name, summary]))
    .toEqual(all.children.map(({ name, summary }) => [name, summary]));
});

test("a start with --help loads no command", async () => {
  const root = describe(await buildProgram(["--help"]));
  for (const noun of NOUNS) {
    const child = root.children.find(({ name }) => name === noun.name)!;
    expect(child.children.filter(({ name }) => name !== "help")).toEqual([]);
  }
});
