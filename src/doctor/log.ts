// Checks INV-1 to INV-4 and INV-6, as far as the database can show violations. The database has the transition log, the
// actors' rows and the stored replies, but only clients know which replies they received.
import { SEEN_RETENTION_HOURS } from "../contract/limits.ts";
import { SWEPT_KINDS } from "../db/maintenance.ts";
import { type Check, invariant } from "./check.ts";
import { PUBLISHED_STEPS } from "./published.ts";
import { logIn, type Scope } from "./scope.ts";

/**
 * The check of stored replies covers changes that are at most this old, because later their replies are deleted,
 * perhaps while the doctor runs.
 */
const CHECKED = `${SEEN_RETENTION_HOURS / 2} hours`;

/** Excludes denied requests. They have rows in the log, but belong to no actor and have no stored reply. */
const OF_ACTORS = "actor_kind <> 'request'";

/**
 * Actor kinds whose rows may be deleted without a transition: together with their parent, or after a retention period.
 */
const SWEPT: readonly string[] = SWEPT_KINDS;

const DOCUMENTED = PUBLISHED_STEPS.map((step) => `('${step.join("', '")}')`).join(", ");

export function logChecks(scope: Scope): readonly Check[] {
  const log = logIn(scope);
  return [
    invariant(
      "INV-1",
      "every recent change has a stored reply",
      // A reply is deleted when its message id is old. A tell may be delivered long after it was written, so a recent
      // change may have an old message id. Therefore both the change and the id must be recent. The time in an id is
      // the database's now(), not berth_now().
      `select format('%s of %s %s: message %s', event, actor_kind, actor_id, msg_id) as what from ${log} t
        where ${OF_ACTORS} and t.at > (select berth_now()) - interval '${CHECKED}'
          and t.msg_id >= seen_bound(((now() - interval '${CHECKED}') at time zone 'UTC')::date)
          and not exists (select from seen s where s.msg_id = t.msg_id)`,
    ),
    invariant(
      "INV-2",
      "the transitions of each actor are numbered without a gap, from 1 or from the first transition that is kept",
      `select format('%s %s, incarnation %s: %s transitions, numbered %s to %s', actor_kind, actor_id, incarnation,
                     present, first, last) as what
         from (select actor_kind, actor_id, incarnation, count(*) as present, min(seq) as first, max(seq) as last
                 from ${log} t group by actor_kind, actor_id, incarnation) a, log_retention
        where present <> last - first + 1
           or first > 1 and log_retention.dropped_before is null
              and not exists (select from transition b where b.actor_kind = a.actor_kind and b.actor_id = a.actor_id
                                 and b.incarnation = a.incarnation and b.seq = a.first - 1)`,
    ),
    invariant(
      "INV-2",
      "each transition starts in the state in which the previous one ended",
      `select format('%s %s: %s (%s) starts from %s after %s', actor_kind, actor_id, event, seq, from_state,
                     before) as what
         from (select actor_kind, actor_id, seq, event, from_state,
                      coalesce(
                        lag(to_state) over (partition by actor_kind, actor_id, incarnation order by seq),
                        case when seq = 1 then case actor_kind when 'request' then 'none' else 'absent' end end
                      ) as before
                 from ${log} l) t where from_state <> before`,
    ),
    invariant(
      "INV-2",
      "every transition of a node is in the table of docs/nodes.md",
      `select format('cn %s: %s from %s to %s', actor_id, event, from_state, to_state) as what
         from ${log} l where actor_kind = 'cn' and (event, from_state, to_state) not in (values ${DOCUMENTED})`,
    ),
    invariant(
      "INV-3",
      "a refused message had no effect",
      `
      select format('%s of %s %s: message %s was refused', t.event, t.actor_kind, t.actor_id, t.msg_id) as what
        from ${log} t join seen s on t.msg_id = s.msg_id where s.reply like '{"fault"%'`,
    ),
    invariant(
      "INV-4",
      "a message changes an actor at most once",
      `
      select format('message %s acted on %s %s %s times', msg_id, actor_kind, actor_id, count(*)) as what
        from ${log} l group by actor_kind, actor_id, msg_id having count(*) > 1`,
    ),
  ];
}

type Kind = { readonly kind: string; readonly table: string; readonly key: string };

/** Tables whose key is text. Every other key is a UUID. */
const TEXT_KEYS: readonly string[] = ["boot_policy", "boot_record", "boot_roster", "setting", "site"];

/**
 * Returns the checks of INV-2 and INV-6 for the rows of each kind: a row has the state of its last transition, and a
 * missing row has a transition that deleted it. The scope `recent` checks the rows to which the newest part of the log
 * refers; the scope `all` checks all rows.
 */
export function rowChecks(kinds: readonly Kind[], scope: Scope): readonly Check[] {
  const named = new Map(kinds.map((kind) => [kind.kind, kind]));
  const present = kinds.map((kind) => scope === "all" ? rowsOfLog(kind) : logOfRows(kind));
  const lasting = [...named.values()].filter(({ kind }) => !SWEPT.includes(kind));
  const exists = lasting.map(({ kind, table, key }) =>
    `when '${kind}' then exists (select from ${table} r where r.${key} = last.actor_id${castOf(table)})`
  );
  return [
    invariant(
      "INV-6",
      "each record has the state of its last transition",
      `${scope === "all" ? "" : `with last as materialized (${lastOf(scope, "true")})`} ${present.join(" union all ")}`,
    ),
    invariant(
      "INV-2",
      "each missing record has a transition that deleted it",
      `
      select format('%s %s is missing; its last state was %s', last.actor_kind, last.actor_id, last.to_state) as what
        from (${lastOf(scope, `actor_kind <> all ('{request,${SWEPT.join(",")}}')`)}) last
       where last.to_state <> 'absent' and not (case last.actor_kind ${exists.join("\n            ")} else false end)`,
    ),
  ];
}

const castOf = (table: string) => TEXT_KEYS.includes(table) ? "" : "::uuid";

/** SQL of the last transition of each actor in the scope. */
const lastOf = (scope: Scope, where: string) => `
  select distinct on (actor_kind, actor_id) actor_kind, actor_id, incarnation, seq, to_state
    from ${logIn(scope)} l where ${where} order by actor_kind, actor_id, id desc`;

const UNLIKE = (kind: string, key: string) =>
  `format('${kind} %s is %s at version %s, which does not match its log', r.${key}, r.state, r.version) as what`;

const rowsOfLog = ({ kind, table, key }: Kind) => `
  select ${UNLIKE(kind, key)} from ${table} r
   where not exists (select from transition t where t.actor_kind = '${kind}' and t.actor_id = r.${key}::text
                        and t.incarnation = r.incarnation and t.seq = r.version and t.to_state = r.state)
      or exists (select from transition t where t.actor_kind = '${kind}' and t.actor_id = r.${key}::text
                    and t.incarnation = r.incarnation and t.seq > r.version)`;

const logOfRows = ({ kind, table, key }: Kind) => `
  select ${UNLIKE(kind, key)} from last join ${table} r
      on r.${key} = case last.actor_kind when '${kind}' then last.actor_id${castOf(table)} end
   where (r.incarnation, r.version, r.state) is distinct from (last.incarnation, last.seq, last.to_state)`;
