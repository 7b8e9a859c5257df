import type { AuditVerification } from "../../../src/contract/audit.ts";
import { type AnyCommand, command, wholeNumber } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure, usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";

/** Number of events in one request. The server verifies them in a few seconds, well within the time limit. */
const PART_EVENTS = 100_000;
const PART_LIMIT_MS = 300_000;

export function verify(): AnyCommand {
  return command("verify", "Verify the audit chain; exit code 1 if it was altered")
    .option("--from <seq>", "first event to verify; by default the oldest", wholeNumber(0))
    .option("--to <seq>", "last event to verify; by default the newest", wholeNumber(0))
    .action(withIo(async (io, { from, to }) => {
      if (from !== undefined && to !== undefined && from > to) throw usageFailure("--from is after --to");
      const verified = await verifyParts(io, { from: from ?? 0, to });
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

type Range = { readonly from: number; readonly to: number | undefined };

/**
 * Verifies the events in parts, oldest first. Returns the answer about the first part that is broken, or else about the
 * last part. The newest event in the first answer determines the number of parts. Without `to`, the last part has no
 * end, so it includes events that were added meanwhile.
 */
async function verifyParts(io: Io, { from, to }: Range): Promise<AuditVerification> {
  let last: number | null = null;
  for (let at = from;; at += PART_EVENTS) {
    const is_last: boolean = last !== null && at + PART_EVENTS > last;
    const part: Range = { from: at, to: is_last ? to : Math.min(at + PART_EVENTS - 1, to ?? Infinity) };
    const verified = await verifyPart(io, part, from);
    last ??= Math.min(verified.head?.seq ?? -1, to ?? Infinity);
    if ("Mismatch" in verified.outcome || is_last || part.to! >= last) return verified;
  }
}

async function verifyPart(io: Io, query: Range, first: number): Promise<AuditVerification> {
  try {
    return await io.send<AuditVerification>({
      method: "GET",
      path: "/v1/audit/verify",
      query,
      limit_ms: PART_LIMIT_MS,
    });
  } catch (error) {
    if (!(error instanceof Failure) || query.from === first) throw error;
    io.note(`Events ${first} to ${query.from - 1} are verified; continue with --from ${query.from}`);
    throw error;
  }
}
