// The web console shows its actions as commands of opsctl and tenantctl. These tests look up each command in its
// program.
import { describe, expect, test } from "vitest";
import type { AnyCommand } from "../../cli/framework.ts";
import { buildProgram as buildOpsctl } from "../../cli/opsctl/program.ts";
import { buildProgram as buildTenantctl } from "../../cli/tenantctl/program.ts";
import { inProjectNamed } from "../../console/core/command.ts";
import { filesBelow, readText } from "../lint/sources.ts";

const PROGRAMS = [["opsctl", () => buildOpsctl("all")], ["tenantctl", () => buildTenantctl("all")]] as const;

/** Returns the command that the words name, or undefined. */
function find(root: AnyCommand, words: readonly string[]): AnyCommand | undefined {
  return words.reduce<AnyCommand | undefined>(
    (parent, word) => parent?.commands.find((child) => child.name() === word),
    root,
  );
}

describe.each(PROGRAMS)("the commands of %s that the web console shows", (name, build) => {
  test("exist", async () => {
    const calls = new RegExp(`\\b${name}\\("([^"]+)"`, "g");
    const texts = [".ts", ".tsx"].flatMap((end) => filesBelow(["console"], end)).map(readText);
    const shown = new Set(texts.flatMap((text) => [...text.matchAll(calls)].map(([, words]) => words!)));
    expect(shown.size).toBeGreaterThan(10);
    const root = await build();
    const unknown = [...shown].filter((line) => {
      const words = line.split(" ");
      const found = find(root, words.filter((word) => !word.startsWith("--")));
      const flags = words.filter((word) => word.startsWith("--"));
      return found === undefined || found.commands.length > 0 ||
        flags.some((flag) => !found.options.some(({ long }) => long === flag));
    });
    expect(unknown).toEqual([]);
  });
});

test.each([
  ["tenantctl instance delete web1", "tenantctl instance delete web1 --project 'the shop'"],
  [
    "tenantctl nic delete --instance web1 -- '-a -- b'",
    "tenantctl nic delete --project 'the shop' --instance web1 -- '-a -- b'",
  ],
  ["tenantctl nic update a --instance 'b -- c'", "tenantctl nic update --project 'the shop' a --instance 'b -- c'"],
  ["tenantctl quota show", "tenantctl quota show --project 'the shop'"],
  ["tenantctl project list", "tenantctl project list"],
  ["opsctl instance list", "opsctl instance list"],
])("if the project is named, the command %s becomes %s", (line, expected) => {
  expect(inProjectNamed(line, "the shop")).toBe(expected);
});
