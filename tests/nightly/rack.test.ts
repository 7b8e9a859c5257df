// Runs `task rack` as a user starts it. All stories (the rack's scenarios) run, and then nothing is left of the rack.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import process from "node:process";
import { expect, test } from "vitest";
import { whatIsMissing } from "../../src/dev/rack/missing.ts";
import { FOLDER } from "../../src/dev/rack/plan.ts";
import { presentSpaces } from "../../src/dev/rack/spaces.ts";
import { STORIES } from "../../src/dev/rack/stories/stories.ts";

/** Without KVM, each node is emulated and emulates its guests, so all stories take about 10 minutes on two cores. */
const LIMIT_MS = 3_600_000;

test("task rack runs all its stories, and then leaves no process, network or file", async (context) => {
  const missing = whatIsMissing();
  context.skip(missing !== null, missing ?? "");
  const child = spawn(process.execPath, ["run", "-A", "src/dev/rack/main.ts", "--once"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    process.stderr.write(part);
  });
  const [code] = await once(child, "close");
  expect(code, text.slice(-4_000)).toBe(0);
  for (const name of STORIES) expect(text).toContain(`story: ${name}`);
  expect(text).toMatch(/^[1-9]\d* checks passed\.$/m);
  expect(await presentSpaces()).toEqual([]);
  expect(await readdir("/sys/class/net")).not.toContain("berth-rack");
  expect(existsSync(FOLDER)).toBe(false);
}, LIMIT_MS);
