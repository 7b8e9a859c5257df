import type { AuditVerification } from "../../../src/contract/audit.ts";
import { type AnyCommand, command, wholeNumber } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure, usageFailure } from "../../internal/failure.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";

// Time limit: the server verifies the whole chain in one request.
const VERIFY_LIMIT_MS = 300_000;

export function verify(): AnyCommand {
  return command("verify", "Verify the audit chain; exit code 1 if it was altered")
    .option("--from <seq>", "first event to verify; by default the oldest", wholeNumber(0))
    .option("--to <seq>", "last event to verify; by default the newest", wholeNumber(0))
    .action(withIo(async (io, { from, to }) => {
      if (from !== undefined && to !== undefined && from > to) throw usageFailure("--from is after --to");
      const verified = await io.send<AuditVerification>({
        method: "GET",
        path: "/v1/audit/verify",
        query: { from, to },
        limit_ms: VERIFY_LIMIT_MS,
      });
      if ("Mismatch" in verified.outcome) {
        if (io.json) io.print(verified, "");
        const { seq, message } = verified.outcome.Mismatch;
        throw new Failure(`the audit chain is broken at seq ${seq}: ${message}`, EXIT.failure);
      }
      const { head } = verified;
      if (from !== undefined && head !== null && from > head.seq) {
        throw usageFailure(`--from ${from} is after the last event, which has seq ${head.seq}`);
      }
      io.print(verified, verifiedText(verified.outcome.Ok.verified_to, head));
    }));
}

function verifiedText(verified_to: number | null, head: AuditVerification["head"]): string {
  if (verified_to === null || head === null) return "Audit chain is empty";
  return `Audit chain verified to seq ${verified_to} (head ${plainText(head.hash)})`;
}
