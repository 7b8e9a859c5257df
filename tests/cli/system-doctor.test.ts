// Tests `opsctl doctor`.
import { expect, test } from "vitest";
import type { CheckResult, DoctorReport } from "../../src/contract/doctor.ts";
import { opsctl } from "./opsctl.ts";

function check(change: Partial<CheckResult> = {}): CheckResult {
  return { id: "INV-6", title: "a rule holds", status: "ok", found: [], more: false, facts: [], mend: null, ...change };
}

const HEAD = check({ id: "audit-head", title: "there is a head", facts: ["event 7, hash ab"] });
const SKIPPED = check({ id: "INV-5", title: "order", status: "skip", facts: ["only clients know"] });
const STUCK = check({
  id: "operations-stuck",
  title: "no operation is stuck",
  status: "warn",
  found: ["operation o1 (node-join): no \u001b[31manswer"],
  more: true,
  mend: "opsctl operation abandon <id>",
});
const BROKEN = check({ status: "fail", found: ["vpc v1 is live at version 2"], mend: "report it" });

async function doctor(checks: CheckResult[], argv: string[] = []) {
  const status = checks.some((each) => each.status === "fail") ? "fail" : "warn";
  const body: DoctorReport = { status, checked_at: "2026-11-21T10:00:00.000Z", scope: "recent", checks };
  const ran = await opsctl(["doctor", ...argv], { server: () => ({ body }) });
  expect(ran.asked[0]).toMatchObject({ method: "GET", path: "/v1/system/doctor" });
  return ran;
}

test("`doctor` lists only problems without --all", async () => {
  const lines = (await doctor([BROKEN, HEAD, STUCK, SKIPPED])).out().split("\n");
  expect(lines.filter((line) => /^(ok|skip|warn|FAIL) /.test(line))).toEqual([
    "warn  operations-stuck: no operation is stuck",
    "FAIL  INV-6: a rule holds",
  ]);
});

test("`doctor --all` prints a line for each check, with failures at the end, and exits 1 if a check fails", async () => {
  const ran = await doctor([BROKEN, HEAD, STUCK, SKIPPED], ["--all"]);
  expect([ran.code, ran.err()]).toEqual([1, "error: 1 check failed\n"]);
  expect(ran.out()).toBe(
    `The control plane is unhealthy: 1 fail, 1 warn, 1 skip, 1 ok (2026-11-21T10:00:00.000Z)

ok    audit-head: there is a head (event 7, hash ab)
skip  INV-5: order (only clients know)

warn  operations-stuck: no operation is stuck
      operation o1 (node-join): no \\x1b[31manswer
      and more
      -> opsctl operation abandon <id>

FAIL  INV-6: a rule holds
      vpc v1 is live at version 2
      -> report it
`,
  );
});

test("`doctor` exits 7 if the control plane is unreachable or unavailable", async () => {
  const unreachable = await opsctl(["doctor"], {});
  expect([unreachable.code, unreachable.out()]).toEqual([7, ""]);
  expect(unreachable.err()).toContain("cannot reach");
  const busy = await opsctl(["doctor"], { server: () => ({ status: 503, body: { message: "no database" } }) });
  expect([busy.code, busy.out(), busy.err()]).toEqual([7, "", "error: no database\n"]);
});

test("`doctor` exits 0 if there are only warnings, and --json prints the report", async () => {
  expect((await doctor([STUCK])).code).toBe(0);
  const ran = await doctor([BROKEN], ["--json"]);
  expect(ran.code).toBe(1);
  expect(JSON.parse(ran.out())).toMatchObject({ status: "fail", checks: [{ id: "INV-6", found: BROKEN.found }] });
});
