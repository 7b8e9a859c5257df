// Tests the commands `nodeagent network` on a node without a network. A wrong directory is an error, and no command
// creates anything.
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../cli/internal/run.ts";
import { buildAgent } from "../../nodeagent/program.ts";
import { fakeEnvironment } from "../cli/fake-environment.ts";

async function network(...argv: readonly string[]) {
  const fake = fakeEnvironment({ env: {} });
  return {
    code: await runCommand(buildAgent(), ["network", ...argv], fake.environment),
    out: fake.out(),
    err: fake.err(),
  };
}

test("a mistyped --state-dir is refused, and the directory is not created", async () => {
  const missing = join(mkdtempSync(join(tmpdir(), "berth-network-")), "typo");
  for (const argv of [["show"], ["check"], ["trace", "10.0.1.5", "10.0.2.6", "443"]]) {
    const ran = await network(...argv, "--state-dir", missing);
    expect(ran).toEqual({
      code: 1,
      out: "",
      err: `error: there is no directory ${missing}; set --state-dir to the agent's directory\n`,
    });
  }
  expect(existsSync(missing)).toBe(false);
});

test("on a node without a VPC, the commands print that the node has no VPC", async () => {
  const empty = mkdtempSync(join(tmpdir(), "berth-network-"));
  for (const verb of ["show", "check"]) {
    expect(await network(verb, "--state-dir", empty)).toEqual({ code: 0, out: "(this node has no VPC)\n", err: "" });
  }
});
