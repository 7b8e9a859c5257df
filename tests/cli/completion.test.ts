// Tests the completion of opsctl command lines in shells.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COMPLETION_SCRIPTS } from "../../cli/internal/completion-scripts.ts";
import { needs, present } from "../support/optional-programs.ts";
import { type FakeOptions } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";
import { bootRecord, MAC, node, NODE_ID, PI } from "./records.ts";

async function complete(argv: string[], options: FakeOptions = {}): Promise<string[]> {
  const ran = await opsctl(["__complete", "--", ...argv], options);
  expect(ran.code).toBe(0);
  expect(ran.err()).toBe("");
  return ran.out().split("\n").filter((line) => line !== "").map((line) => line.split("\t")[0]!);
}

test("groups and commands are completed, but hidden commands are not", async () => {
  expect(await complete([""])).toContain("operation");
  expect(await complete([""])).not.toContain("__complete");
  expect(await complete(["cn", "a"])).toEqual(["approve", "auto-approve"]);
  expect(await complete(["cn", "auto-approve", ""])).toEqual(expect.arrayContaining(["status", "open", "close"]));
});

test("options of the command and of the program are completed", async () => {
  expect(await complete(["cn", "list", "--"])).toEqual(expect.arrayContaining(["--state", "--json", "--endpoint"]));
});

test("the values of an option or argument with a fixed set of values are completed", async () => {
  expect(await complete(["cn", "label", "set", "n1", "--role", ""])).toEqual(["tenant", "edge", "both"]);
  expect(await complete(["completion", "z"])).toEqual(["zsh"]);
});

test("the value of an option does not count as a command", async () => {
  expect(await complete(["--profile", "cn", "cn", "sh"])).toEqual(["show"]);
});

test("nodes are completed by hostname and UUID", async () => {
  const server = () => ({ body: { items: [node()] } });
  expect(await complete(["cn", "show", ""], { server })).toEqual(["rack1-n4", NODE_ID]);
  expect(await complete(["cn", "disable", "3f"], { server })).toEqual([NODE_ID]);
});

test("boot records are completed by MAC, each platform image is offered once, and nodes are also offered as option values", async () => {
  const records = () => ({ body: { items: [bootRecord()] } });
  expect(await complete(["cn", "boot", "show", "02"], { server: records })).toEqual([MAC]);
  const images = () => ({ body: { items: [{ stamp: PI }, { stamp: PI }] } });
  expect(await complete(["cn", "boot", "assign", MAC, "--pi", ""], { server: images })).toEqual([PI]);
  const nodes = () => ({ body: { items: [node()] } });
  expect(await complete(["cn", "exec", "--nodes", "r"], { server: nodes })).toEqual(["rack1-n4"]);
});

test("a name with characters that are special in a shell is not offered", async () => {
  const server = () => ({ body: { items: [node({ hostname: "$(reboot)" }), node({ hostname: "a b" })] } });
  expect((await complete(["cn", "show", ""], { server })).every((value) => value === NODE_ID)).toBe(true);
});

test("if the server is unreachable, completion tries once and prints neither candidates nor a message", async () => {
  const ran = await opsctl(["__complete", "--", "cn", "show", ""], {});
  expect([ran.code, ran.out(), ran.err(), ran.asked.length]).toEqual([0, "", "", 1]);
});

test.each(Object.keys(COMPLETION_SCRIPTS))("the %s script is printed", async (shell) => {
  const ran = await opsctl(["completion", shell]);
  expect(ran.out()).toMatchSnapshot();
});

const SHELL_ARGS = { bash: [], zsh: ["-f"], fish: ["--no-config"] } as const;

function shell(program: keyof typeof SHELL_ARGS, script: string): string {
  const ran = spawnSync(present(program), [...SHELL_ARGS[program], "-c", script], { encoding: "utf8" });
  expect(ran.stderr).toBe("");
  return ran.stdout;
}

/**
 * A replacement for opsctl. It writes its arguments to a file and prints two candidates. One candidate has a colon and
 * a summary.
 */
const FAKE = `printf '[%s]' "$@" > "$SEEN"; printf 'aa:bb\tShow one *\nset\n'`;

function seenArguments(): { file: string; read(): string } {
  const file = join(mkdtempSync(join(tmpdir(), "berth-completion-")), "seen");
  return { file, read: () => readFileSync(file, "utf8") };
}

test("the bash script passes the words to opsctl and drops the summaries", (context) => {
  needs(context, "bash");
  const { file, read } = seenArguments();
  const line = `COMP_WORDS=(opsctl cn s); COMP_CWORD=2; _opsctl; printf '%s|' "\${COMPREPLY[@]}"`;
  const fake = `SEEN=${file}; opsctl() { ${FAKE}; }`;
  expect(shell("bash", `${fake}\n${COMPLETION_SCRIPTS.bash.script}\n${line}`)).toBe("aa:bb|set|");
  expect(read()).toBe("[__complete][--][cn][s]");
});

test("the bash script joins words that bash splits at colons, and completes the part after the last colon", (context) => {
  needs(context, "bash");
  const { file, read } = seenArguments();
  const line = `COMP_WORDS=(opsctl show aa : b); COMP_CWORD=4; _opsctl; printf '%s|' "\${COMPREPLY[@]}"`;
  const fake = `SEEN=${file}; opsctl() { ${FAKE}; }`;
  expect(shell("bash", `${fake}\n${COMPLETION_SCRIPTS.bash.script}\n${line}`)).toBe("bb|set|");
  expect(read()).toBe("[__complete][--][show][aa:b]");
});

test("the zsh script passes the words to opsctl and escapes colons of values", (context) => {
  needs(context, "zsh");
  const { file, read } = seenArguments();
  const out = shell(
    "zsh",
    `SEEN=${file}; opsctl() { ${FAKE}; }; compdef() { :; }; _describe() { printf '%s|' "\${(@P)2}"; }
${COMPLETION_SCRIPTS.zsh.script}
words=(opsctl cn 's x'); CURRENT=3; _opsctl`,
  );
  expect(out).toBe("aa\\:bb:Show one *|set:|");
  expect(read()).toBe("[__complete][--][cn][s x]");
});

test("the fish script passes the words to opsctl, and the candidates of opsctl to fish", (context) => {
  needs(context, "fish");
  const { file, read } = seenArguments();
  const fake = `function opsctl; printf '[%s]' $argv > ${file}; printf 'aa:bb\\tShow one *\\nset\\n'; end`;
  const out = shell("fish", `${fake}\n${COMPLETION_SCRIPTS.fish.script}\ncomplete -C 'opsctl cn '`);
  expect(out).toBe("aa:bb\tShow one *\nset\n");
  expect(read()).toBe("[__complete][--][cn][]");
});
