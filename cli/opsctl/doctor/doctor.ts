import type { DoctorReport } from "../../../src/contract/doctor.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { withIo } from "../../internal/run.ts";
import { reportText } from "./report-text.ts";

/** Time limit of the report. It is long, because the server reads many records, or the whole log. */
const DOCTOR_LIMIT_MS = 120_000;

export function doctor(summary: string): AnyCommand {
  return command("doctor", summary, "--all")
    .option("--all", "also list the checks that passed or were skipped")
    .option("--whole-log", "check the whole log of changes, not only its newest part")
    .action(withIo(async (io, { all, wholeLog }) => {
      const path = "/v1/system/doctor";
      const query = { scope: wholeLog === true ? "all" : undefined };
      const report = await io.send<DoctorReport>({ method: "GET", path, query, limit_ms: DOCTOR_LIMIT_MS });
      io.print(report, reportText(report, all === true));
      const failed = report.checks.filter(({ status }) => status === "fail").length;
      if (failed > 0) throw new Failure(`${failed} check${failed === 1 ? "" : "s"} failed`, EXIT.failure);
    }));
}
