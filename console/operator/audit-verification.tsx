// Verifies the audit chain, including its archive. The verification runs on request only, because it reads the whole
// range.
import type { AuditVerification } from "../../src/contract/audit.ts";
import { useSignal } from "@preact/signals";
import type { Values } from "../core/action.ts";
import { get } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { Copyable, Facts, Heading, Link } from "../parts/basics.tsx";
import { Form } from "../parts/form.tsx";

const RANGE = [
  { name: "from", label: "First event", type: "number", isOptional: true, hint: "Default: the oldest event" },
  { name: "to", label: "Last event", type: "number", isOptional: true, hint: "Default: the newest event" },
] as const;

export function AuditVerificationPage() {
  const result = useSignal<AuditVerification | null>(null);
  return (
    <>
      <Heading title="Verify the audit chain" above={<Link to="/audit">Audit</Link>} />
      <p class="dim">
        The server computes the hash of every event again, and checks the signatures of the archive. Events move to the
        archive when they are older than the setting <code>audit.archive_after_secs</code>.
      </p>
      <Form
        button="Verify"
        onlyReads
        fields={RANGE}
        cli={({ from, to }) => opsctl("audit verify", [], { "--from": from, "--to": to })}
        onValues={() => (result.value = null)}
        send={async ({ from, to }: Values) => {
          result.value = null;
          result.value = await get<AuditVerification>("/v1/audit/verify", { from, to });
        }}
        done={() => {}}
      />
      <div role="status">{result.value !== null && <Result {...result.value} />}</div>
    </>
  );
}

function Result({ outcome, head }: AuditVerification) {
  return (
    <>
      {"Mismatch" in outcome
        ? (
          <p class="sentence bad">
            The chain is broken at <Link to={`/audit/${outcome.Mismatch.seq}`}>event {outcome.Mismatch.seq}</Link>:{" "}
            {outcome.Mismatch.message}.
          </p>
        )
        : (
          <p class="sentence ok">
            {outcome.Ok.verified_to === null
              ? "The range has no event."
              : `The chain verifies up to event ${outcome.Ok.verified_to}.`}
          </p>
        )}
      {head !== null && (
        <>
          <Facts
            of={{ "Newest event": String(head.seq), "Its hash": <Copyable text={head.hash} label="the hash" /> }}
          />
          <p class="hint">
            Keep a copy of this hash outside of Berth. If the end of the chain is rewritten later, only this copy shows
            it.
          </p>
        </>
      )}
    </>
  );
}
