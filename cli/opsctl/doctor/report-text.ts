// Formats the doctor's report as text. A summary line comes first. On request, a line follows for each check that
// passed or was skipped. Warnings and then failures come last, so that failures are next to the prompt.
import type { CheckResult, DoctorReport } from "../../../src/contract/doctor.ts";
import type { CheckStatus } from "../../../src/contract/enums.ts";
import { plainText } from "../../internal/plain-text.ts";

const MARKS: Readonly<Record<CheckStatus, string>> = { ok: "ok  ", skip: "skip", warn: "warn", fail: "FAIL" };
const HEADS: Readonly<Record<DoctorReport["status"], string>> = {
  ok: "is healthy",
  warn: "is degraded",
  fail: "is unhealthy",
};

/** `with_all` adds the checks without a problem. */
export function reportText({ checks, status, checked_at }: DoctorReport, with_all: boolean): string {
  const of = (wanted: CheckStatus) => checks.filter((check) => check.status === wanted);
  const counts = (["fail", "warn", "skip", "ok"] as const).map((each) => `${of(each).length} ${each}`).join(", ");
  return [
    `The control plane ${HEADS[status]}: ${counts} (${plainText(checked_at)})`,
    ...(with_all ? ["", ...[...of("ok"), ...of("skip")].map(quietLine)] : []),
    ...[...of("warn"), ...of("fail")].flatMap((check) => ["", ...findingLines(check)]),
  ].join("\n");
}

function quietLine(check: CheckResult): string {
  const { facts } = check;
  return `${headOf(check)}${facts.length === 0 ? "" : ` (${facts.map(plainText).join("; ")})`}`;
}

function findingLines(check: CheckResult): string[] {
  const { found, more, facts, mend: fix } = check;
  return [
    headOf(check),
    ...[...found, ...facts].map((text) => `      ${plainText(text)}`),
    ...(more ? ["      and more"] : []),
    ...(fix === null ? [] : [`      -> ${plainText(fix)}`]),
  ];
}

function headOf({ id, title, status }: CheckResult): string {
  return `${MARKS[status]}  ${plainText(id)}: ${plainText(title)}`;
}
