// Shows one event of the audit chain, links to its neighbours, and whether the chain is intact at this event.
import type { AuditEvent, AuditPage, AuditVerification } from "../../src/contract/audit.ts";
import { useActions } from "../core/action.ts";
import { actorText } from "../core/audit-actor.ts";
import { objectOf } from "../core/audit-object.ts";
import { get } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { pageOf } from "../core/names.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Facts, Heading, Link, Problem, Section, State } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import { verify } from "./audit.tsx";
import { useUsernames } from "./directory.ts";

/** The page of one event of the site's chain. Its id is the number of the event. */
export function AuditEventPage({ id: seq }: { readonly id: string }) {
  const number = Number(seq);
  const { data: event, refusal } = useQuery({
    key: `audit ${seq}`,
    kinds: [],
    read: (signal) => get<AuditEvent>(`/v1/audit/events/${encodeURIComponent(seq)}`, undefined, signal),
  });
  const head = useQuery({
    key: "audit head",
    kinds: [],
    fresh_ms: 5_000,
    read: async (signal) => (await get<AuditPage>("/v1/audit/events", { order: "desc", limit: 1 }, signal)).head,
  });
  const check = useQuery({
    key: `audit ${seq} verified`,
    kinds: [],
    read: (signal) => get<AuditVerification>("/v1/audit/verify", { from: Math.max(0, number - 1), to: number }, signal),
  });
  const usernames = useUsernames(new Set(event !== undefined && "user_id" in event.actor ? [event.actor.user_id] : []));
  useActions([verify]);
  const above = <Link to="/audit">Audit</Link>;
  if (event === undefined) {
    return (
      <>
        <Heading title={`Event ${seq}`} above={above} />
        {refusal !== undefined && <Problem refusal={refusal} lookedFor={`event ${seq}`} />}
      </>
    );
  }
  const outcome = check.data?.outcome;
  const object = objectOf(event.resource);
  const page = object === null ? null : pageOf(object);
  return (
    <>
      <Heading title={`Event ${seq}: ${event.action}`} above={above}>
        <State of={event.decision} />
        <Actions />
      </Heading>
      {outcome !== undefined && ("Ok" in outcome
        ? <p class="sentence ok">The chain verifies at this event.</p>
        : <p class="sentence bad">The chain does not verify: {outcome.Mismatch.message}</p>)}
      <Facts
        of={{
          "Time": <time dateTime={event.ts}>{event.ts}</time>,
          "Actor": actorText(event.actor, usernames),
          "Key": "key_id" in event.actor ? <code>{event.actor.key_id}</code> : null,
          "User": "user_id" in event.actor ? <code>{event.actor.user_id}</code> : null,
          "Object": page === null ? event.resource : <Link to={page}>{event.resource}</Link>,
          "Request": event.request_id === null ? null : <code>{event.request_id}</code>,
          "Outcome": event.outcome.kind,
          "Hash": <code>{event.hash}</code>,
          "Previous hash": <code>{event.prev_hash}</code>,
        }}
      />
      <Section title="Content">
        <pre>{JSON.stringify({ payload: event.payload, outcome: event.outcome }, null, 2)}</pre>
      </Section>
      <nav class="tabs" aria-label="Neighbouring events">
        {number > 0 && <Link to={`/audit/${number - 1}`}>Event {number - 1}</Link>}
        {number < (head.data?.seq ?? 0) && <Link to={`/audit/${number + 1}`}>Event {number + 1}</Link>}
      </nav>
      <AsCommand line={opsctl("audit verify")} />
    </>
  );
}
