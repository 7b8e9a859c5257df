// The doctor's report in words: a line for each check that is well or was skipped, then what is wrong, worst last, so
// that it stands where the eye is when the command ends.
import type { CheckResult, DoctorReport } from "../../../src/contract/doctor.ts";
import type { CheckStatus } from "../../../src/contract/enums.ts";
import { plainText } from "../../internal/plain-text.ts";

const MARKS: Readonly<Record<CheckStatus, string>> = { ok: "ok  ", skip: "skip", warn: "warn", fail: "FAIL" };
const HEADS: Readonly<Record<DoctorReport["status"], string>> = {
  ok: "is well",
  warn: "works, with drawbacks",
  fail: "does not keep its promises",
};

export function reportText({ checks, status, checked_at }: DoctorReport): string {
  const of = (wanted: CheckStatus) => checks.filter((check) => check.status === wanted);
  const counts = (["fail", "warn", "skip", "ok"] as const).map((each) => `${of(each).length} ${each}`).join(", ");
  return [
    `The control plane ${HEADS[status]}: ${counts} (${plainText(checked_at)})`,
    "",
    ...[...of("ok"), ...of("skip")].map(quietLine),
    ...[...of("warn"), ...of("fail")].flatMap((check) => ["", ...findingLines(check)]),
  ].join("\n");
}

function quietLine(check: CheckResult): string {
  const { facts } = check;
  return `${headOf(check)}${facts.length === 0 ? "" : ` (${facts.map(plainText).join("; ")})`}`;
}

function findingLines(check: CheckResult): string[] {
  const { found, more, facts, mend } = check;
  return [
    headOf(check),
    ...[...found, ...facts].map((text) => `      ${plainText(text)}`),
    ...(more ? ["      and more"] : []),
    ...(mend === null ? [] : [`      -> ${plainText(mend)}`]),
  ];
}

function headOf({ id, title, status }: CheckResult): string {
  return `${MARKS[status]}  ${plainText(id)}: ${plainText(title)}`;
}
