// Shows the doctor, which checks the whole system. The doctor runs on request only, because it reads much of the
// database.
import type { CheckResult, DoctorReport } from "../../src/contract/doctor.ts";
import { useSignal } from "@preact/signals";
import { get, type Refusal, refusalOf } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { useKeys } from "../core/keys.ts";
import { counted } from "../core/text.ts";
import { AsCommand, Heading, Problem, Section, State, When } from "../parts/basics.tsx";

/** The order of the checks. The checks that ran come before the skipped ones. */
const RANK = { fail: 0, warn: 1, ok: 2, skip: 3 } as const;

export function Doctor() {
  const report = useSignal<DoctorReport | null>(null);
  const refusal = useSignal<Refusal | null>(null);
  const busy = useSignal(false);
  const examine = () => {
    if (busy.value) return;
    busy.value = true;
    refusal.value = null;
    get<DoctorReport>("/v1/system/doctor").then(
      (found) => (report.value = found),
      (error: unknown) => (refusal.value = refusalOf(error)),
    ).finally(() => (busy.value = false));
  };
  useKeys({ r: examine });
  const checks = (report.value?.checks ?? []).toSorted((a, b) => RANK[a.status] - RANK[b.status]);
  return (
    <>
      <Heading title="Doctor">
        {report.value !== null && <State of={report.value.status} />}
        <div class="actions">
          <button type="button" class="primary" aria-disabled={busy.value} aria-keyshortcuts="r" onClick={examine}>
            {busy.value ? "Checking…" : "Run the checks"}
          </button>
        </div>
      </Heading>
      {refusal.value !== null && <Problem refusal={refusal.value} />}
      {report.value === null
        ? (
          <p class="dim">
            The checks compare the stored data with the rules of the system, and look at the state of nodes, claims and
            operations.
          </p>
        )
        : (
          <p class="dim">
            {counted(checks.length, "check")}, <When at={report.value.checked_at} />
          </p>
        )}
      <ul class="plain checks" aria-busy={busy.value}>
        {checks.map((check) => <Check key={check.id} check={check} />)}
      </ul>
      <AsCommand line={opsctl("doctor")} />
    </>
  );
}

function Check({ check }: { readonly check: CheckResult }) {
  return (
    <li>
      <span>
        <State of={check.status} /> {check.title} <span class="dim">{check.id}</span>
      </span>
      {check.status === "skip" && <p class="dim">Not checked: {check.facts.join("; ")}</p>}
      {check.found.length > 0 && (
        <Section title={check.mend ?? "What was found"}>
          <pre>{[...check.found, ...check.facts, ...(check.more ? ["and more"] : [])].join("\n")}</pre>
        </Section>
      )}
    </li>
  );
}
