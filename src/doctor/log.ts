// INV-1 to INV-6, as far as the database can show them: it has the transition log, the actors' rows and the stored
// replies, but only clients know which replies they received.
import { SEEN_RETENTION_HOURS } from "../contract/limits.ts";
import { type Check, invariant } from "./check.ts";
import { PUBLISHED_STEPS } from "./published.ts";

/** Excludes denied requests: they are rows of the log, but belong to no actor and have no stored reply. */
const OF_ACTORS = "actor_kind <> 'request'";

/**
 * Actor kinds whose rows may be deleted without a transition: together with their parent, or after a retention period.
 */
const SWEPT = ["route", "quota", "tenant-quota", "session", "saga", "job", "enrolment-claim"];

const DOCUMENTED = PUBLISHED_STEPS.map((step) => `('${step.join("', '")}')`).join(", ");

export const LOG_CHECKS: readonly Check[] = [
  invariant(
    "INV-1",
    "every recent change has a stored reply",
    // Checks only recent messages, because replies are deleted after the retention period.
    `select format('%s of %s %s: message %s', event, actor_kind, actor_id, msg_id) as what from transition t
      where ${OF_ACTORS} and t.at > berth_now() - interval '${SEEN_RETENTION_HOURS / 2} hours'
        and not exists (select from seen s where s.msg_id = t.msg_id)`,
  ),
  invariant(
    "INV-2",
    "the transitions of each actor are numbered from 1 without a gap",
    `select format('%s %s, incarnation %s: %s transitions, numbered %s to %s', actor_kind, actor_id, incarnation,
                   count(*), min(seq), max(seq)) as what
       from transition group by actor_kind, actor_id, incarnation having count(*) <> max(seq) or min(seq) <> 1`,
  ),
  invariant(
    "INV-2",
    "each transition starts in the state in which the previous one ended",
    `select format('%s %s: %s (%s) starts from %s after %s', actor_kind, actor_id, event, seq, from_state,
                   before) as what
       from (select actor_kind, actor_id, seq, event, from_state,
                    lag(to_state, 1, case actor_kind when 'request' then 'none' else 'absent' end)
                      over (partition by actor_kind, actor_id, incarnation order by seq) as before
               from transition) t where from_state <> before`,
  ),
  invariant(
    "INV-2",
    "every transition of a node is in the published table",
    `select format('cn %s: %s from %s to %s', actor_id, event, from_state, to_state) as what
       from transition where actor_kind = 'cn' and (event, from_state, to_state) not in (values ${DOCUMENTED})`,
  ),
  invariant(
    "INV-3",
    "a refused message had no effect",
    `
    select format('%s of %s %s: message %s was refused', t.event, t.actor_kind, t.actor_id, t.msg_id) as what
      from seen s join transition t on t.msg_id = s.msg_id where s.reply like '{"fault"%'`,
  ),
  invariant(
    "INV-4",
    "a message changes an actor at most once",
    `
    select format('message %s acted on %s %s %s times', msg_id, actor_kind, actor_id, count(*)) as what
      from transition group by actor_kind, actor_id, msg_id having count(*) > 1`,
  ),
];

type Kind = { readonly kind: string; readonly table: string; readonly key: string };

/**
 * Returns the checks of INV-2 and INV-6 for the rows of each kind: a row has the state of its last transition, and each
 * change of a row has a transition.
 */
export function rowChecks(kinds: readonly Kind[]): readonly Check[] {
  const present = kinds.map(({ kind, table, key }) => `
    select format('${kind} %s is %s at version %s, which does not match its log', r.${key}, r.state, r.version) as what
      from ${table} r
     where not exists (select from transition t where t.actor_kind = '${kind}' and t.actor_id = r.${key}::text
                          and t.incarnation = r.incarnation and t.seq = r.version and t.to_state = r.state)
        or exists (select from transition t where t.actor_kind = '${kind}' and t.actor_id = r.${key}::text
                      and t.incarnation = r.incarnation and t.seq > r.version)`);
  const rows = kinds.map(({ kind, table, key }) => `select '${kind}' as kind, ${key}::text as id from ${table}`);
  return [
    invariant("INV-6", "each record has the state of its last transition", present.join(" union all ")),
    invariant(
      "INV-2",
      "each missing record has a transition that deleted it",
      `
      select format('%s %s is missing; its last state was %s', last.actor_kind, last.actor_id, last.to_state) as what
        from (select distinct on (actor_kind, actor_id) actor_kind, actor_id, to_state from transition
               where actor_kind <> all ('{request,${SWEPT.join(",")}}') order by actor_kind, actor_id, id desc) last
        left join (${rows.join(" union all ")}) r on r.kind = last.actor_kind and r.id = last.actor_id
       where last.to_state <> 'absent' and r.id is null`,
    ),
  ];
}
