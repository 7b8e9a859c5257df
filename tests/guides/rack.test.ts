// Compares the guide "rack" with the command `task rack`. tests/nightly/rack.test.ts runs the whole command.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { STORIES } from "../../src/dev/rack/stories/stories.ts";
import { ROOT } from "./run.ts";

const NAME = "rack";
const GUIDE = readFileSync(join(ROOT, "docs/guides", `${NAME}.md`), "utf8");
const optionsIn = (text: string) =>
  new Set([...text.matchAll(/--[a-z]+/g)].map(([option]) => option).filter((option) => option !== "--help"));

test("the guide to the rack names the options and the stories of the command", async () => {
  const argv = ["run", "-A", join(ROOT, "src/dev/rack/main.ts"), "--help"];
  const { stdout } = await promisify(execFile)(process.execPath, argv);
  expect(optionsIn(GUIDE)).toEqual(optionsIn(stdout));
  const rows = [...GUIDE.matchAll(/^\| `([a-z][a-z-]*)` +\|/gm)].map(([, name]) => name);
  expect(rows).toEqual(STORIES);
});
