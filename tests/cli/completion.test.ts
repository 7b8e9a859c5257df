import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { COMPLETION_SCRIPTS } from "../../cli/opsctl/completion/scripts.ts";
import { type FakeOptions } from "./fake-world.ts";
import { opsctl } from "./opsctl.ts";
import { node, NODE_ID } from "./records.ts";

async function complete(words: string[], options: FakeOptions = {}): Promise<string[]> {
  const ran = await opsctl(["__complete", "--", ...words], options);
  expect(ran.code).toBe(0);
  expect(ran.err()).toBe("");
  return ran.out().split("\n").filter((line) => line !== "").map((line) => line.split("\t")[0]!);
}

test("names of nouns and verbs are completed, hidden ones are not", async () => {
  expect(await complete([""])).toContain("operation");
  expect(await complete([""])).not.toContain("__complete");
  expect(await complete(["cn", "a"])).toEqual(["approve", "auto-approve"]);
  expect(await complete(["cn", "auto-approve", ""])).toEqual(expect.arrayContaining(["status", "open", "close"]));
});

test("options of the command and of the root are completed", async () => {
  expect(await complete(["cn", "list", "--"])).toEqual(expect.arrayContaining(["--state", "--json", "--endpoint"]));
});

test("the values of a closed set are completed", async () => {
  expect(await complete(["cn", "label", "set", "n1", "--role", ""])).toEqual(["tenant", "edge", "both"]);
  expect(await complete(["completion", "z"])).toEqual(["zsh"]);
});

test("the value of another option is not mistaken for a command", async () => {
  expect(await complete(["--profile", "cn", "cn", "sh"])).toEqual(["show"]);
});

test("nodes are completed by hostname and UUID", async () => {
  const server = () => ({ body: { items: [node()] } });
  expect(await complete(["cn", "show", ""], { server })).toEqual(["rack1-n4", NODE_ID]);
  expect(await complete(["cn", "disable", "3f"], { server })).toEqual([NODE_ID]);
});

test("a name that a shell would take apart is not offered", async () => {
  const server = () => ({ body: { items: [node({ hostname: "$(reboot)" }), node({ hostname: "a b" })] } });
  expect((await complete(["cn", "show", ""], { server })).every((value) => value === NODE_ID)).toBe(true);
});

test("a server that is away gives no candidates and no message, after one try", async () => {
  const ran = await opsctl(["__complete", "--", "cn", "show", ""], {});
  expect([ran.code, ran.out(), ran.err(), ran.asked.length]).toEqual([0, "", "", 1]);
});

test.each(Object.keys(COMPLETION_SCRIPTS))("the %s script is printed", async (shell) => {
  const ran = await opsctl(["completion", shell]);
  expect(ran.out()).toMatchSnapshot();
});

test("the bash script gives the words to opsctl and drops the summaries", () => {
  const fake = `opsctl() { printf '%s\\n' "[$*]" >&2; printf 'show\\tShow one *\\nset\\tSet\\n'; }`;
  const line = `COMP_WORDS=(opsctl cn s); COMP_CWORD=2; _opsctl 2>&3; printf '%s|' "\${COMPREPLY[@]}"`;
  const ran = spawnSync("bash", ["-c", `exec 3>&2\n${fake}\n${COMPLETION_SCRIPTS.bash.script}\n${line}`], {
    encoding: "utf8",
  });
  expect(ran.stdout).toBe("show|set|");
});
