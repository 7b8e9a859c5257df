// Prints the SQL functions with one statement for each table, guard and effect, in migrations/functions. PostgreSQL
// plans such a statement once for a connection; a statement that a function composes is planned in every call.
// `deno task schema` runs this program. tests/db/schema.test.ts fails when a printed file is out of date.
import type { Connection } from "../src/db/pool.ts";

/** A write of child rows. `keys` are the columns that find the rows; an insert finds no rows, so it has no keys. */
export type ChildWrite = {
  readonly op: "insert" | "upsert" | "remove";
  readonly table: string;
  readonly keys: readonly string[];
};

/** The frequent writes of child rows, which have a printed statement. Any other write is planned in every call. */
const CHILD_WRITES: readonly ChildWrite[] = [
  { op: "insert", table: "disk", keys: [] },
  { op: "insert", table: "nic", keys: [] },
  { op: "insert", table: "sealed_user_data", keys: [] },
  { op: "insert", table: "vpc_change", keys: [] },
  { op: "upsert", table: "cn_signal", keys: ["server_uuid"] },
  { op: "upsert", table: "disk", keys: ["id"] },
  { op: "remove", table: "disk", keys: ["instance_id"] },
  { op: "remove", table: "nic", keys: ["instance_id"] },
  { op: "remove", table: "sealed_user_data", keys: ["instance_id"] },
];

type Kind = {
  readonly kind: string;
  readonly table_name: string;
  readonly key_column: string;
  readonly key_type: string;
};
type Op = "held" | "absent" | "insert" | "update" | "delete" | "upsert" | "remove";

/** A table with a statement, and the value that selects it: the kind, the table, or the table with its key columns. */
type Branch = {
  readonly when: string;
  readonly table: string;
  readonly keys: readonly string[];
  readonly key_type: string;
};

const LINE_MAX = 120;
const PRINTED = "-- Printed by `deno task schema`: do not edit. See berth_statement.sql.";

/** Returns the printed functions by their names, for a database with all migrations. */
export async function printedFunctions(
  client: Connection,
  childWrites: readonly ChildWrite[] = CHILD_WRITES,
): Promise<ReadonlyMap<string, string>> {
  const { rows: kinds } = await client.query<Kind>("select * from actor_kind order by kind");
  const byKind = kinds.map(({ kind, table_name, key_column, key_type }): Branch => ({
    when: kind,
    table: table_name,
    keys: [key_column],
    key_type,
  }));
  const byTable = byKind.map((each) => ({ ...each, when: each.table }));
  const children = (wanted: ChildWrite["op"]) =>
    childWrites.filter(({ op }) => op === wanted).map(({ table, keys }): Branch => ({
      when: wanted === "insert" ? table : `${table} {${keys}}`,
      table,
      keys,
      key_type: "",
    }));
  const locks = async (name: string, op: Op, purpose: string) =>
    [name, lockFunction(name, op, purpose, await arms(client, op, byKind))] as const;
  const writes = async (name: string, op: Op, branches: readonly Branch[], purpose: string) =>
    [name, writeFunction(name, op, purpose, await arms(client, op, branches))] as const;
  return new Map([
    await locks(
      "berth_held",
      "held",
      "Locks the actors of kind $1 with the given versions, except locked rows. Returns their indexes in the arrays.",
    ),
    await locks(
      "berth_absent",
      "absent",
      "Returns the actors of kind $1 that still have no row, as indexes in the arrays $2 to $5.",
    ),
    await writes("berth_insert", "insert", [...byTable, ...children("insert")], "Inserts rows into a table."),
    await writes("berth_update", "update", byTable, "Updates rows of actors."),
    await writes("berth_delete", "delete", byTable, "Deletes rows of actors."),
    await writes("berth_upsert", "upsert", children("upsert"), "Inserts or updates child rows."),
    await writes("berth_remove", "remove", children("remove"), "Deletes child rows by columns."),
    ["berth_guard", guardFunction(await namesOf(client, "guard"))],
    ["berth_effect", effectFunction(await namesOf(client, "effect"))],
  ]);
}

type Arm = { readonly when: string; readonly sql: string };

async function arms(client: Connection, op: Op, branches: readonly Branch[]): Promise<readonly Arm[]> {
  return await Promise.all(branches.map(async ({ when, table, keys, key_type }) => {
    const { rows: [found] } = await client.query<{ sql: string }>(
      "select berth_statement($1, $2, $3, $4) as sql",
      [op, table, keys, key_type],
    );
    return { when, sql: found!.sql };
  }));
}

/** Returns the names of the database's guard or effect functions, without their prefix. */
async function namesOf(client: Connection, prefix: "guard" | "effect"): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select substr(proname, $1) as name from pg_proc
      where pronamespace = 'public'::regnamespace and starts_with(proname::text, $2) order by proname`,
    [prefix.length + 2, `${prefix}_`],
  );
  return rows.map(({ name }) => name);
}

function lockFunction(name: string, op: Op, purpose: string, arms: readonly Arm[]): string {
  return `-- ${purpose}
-- - $1: the kind
-- - $2 to $5: the kinds, ids, incarnations and versions of the call's actors
-- - $6 to $8: the table of the kind, its key column and the type of the key column
${PRINTED}
create or replace function ${name}(text, text[], text[], uuid[], bigint[], text, text, text) returns bigint[]
language plpgsql volatile as $$
declare
  places bigint[];
begin
  case $1
${arms.map(({ when, sql }) => `  when '${when}' then\n    ${intoPlaces(indented(sql))};`).join("\n")}
  else
    execute berth_statement('${op}', $6, array[$7], $8) into places using $1, $2, $3, $4, $5;
  end case;
  return places;
end $$;
`;
}

function intoPlaces(sql: string): string {
  return sql.replace(/select array_agg\((\w)\.n\) from/, "select array_agg($1.n) into places from");
}

function writeFunction(name: string, op: Op, purpose: string, arms: readonly Arm[]): string {
  const by = op === "upsert" || op === "remove" ? "pair of a table and key columns" : "table";
  const what = op === "upsert" || op === "remove" ? "$4 || ' ' || $5::text" : "$4";
  return `-- ${purpose}
-- Each ${by} below has its own statement, which PostgreSQL plans once per connection.
-- Any other table uses berth_statement.
-- - $1: the entries, each with the columns of one row
-- - $2: the index of the chosen alternative of each unit; only the entries of this alternative are written
-- - $3: the columns that the entries give
-- - $4 to $6: the table, its key columns and the type of the key columns
${PRINTED}
create or replace function ${name}(jsonb, int[], text[], text, text[], text) returns void
language plpgsql volatile as $$
begin
  case ${what}
${arms.map(({ when, sql }) => `  when '${when}' then\n    ${indented(sql)};`).join("\n")}
  else
    execute berth_statement('${op}', $4, $5, $6) using $1, $2, $3;
  end case;
end $$;
`;
}

function guardFunction(names: readonly string[]): string {
  return `-- Calls a guard by its name and returns its answer as text.
${PRINTED}
create or replace function berth_guard(text, jsonb) returns text language plpgsql volatile as $$
declare
  verdict text;
begin
  case $1
${names.map((name) => `  when '${name}' then return guard_${name}($2)::text;`).join("\n")}
  else
    execute format('select %I($1)::text', 'guard_' || $1) into verdict using $2;
    return verdict;
  end case;
end $$;
`;
}

function effectFunction(names: readonly string[]): string {
  return `-- Calls an effect by its name.
${PRINTED}
create or replace function berth_effect(text, jsonb) returns void language plpgsql volatile as $$
begin
  case $1
${names.map((name) => `  when '${name}' then perform effect_${name}($2);`).join("\n")}
  else
    execute format('select %I($1)', 'effect_' || $1) using $2;
  end case;
end $$;
`;
}

/** Indents a statement and wraps its lists. */
function indented(sql: string): string {
  return sql.split("\n").flatMap((line) => wrapped(line)).join("\n    ");
}

function wrapped(line: string): readonly string[] {
  const lines: string[] = [];
  let current = "";
  for (const part of line.split(/(?<=, )/)) {
    if (current !== "" && current.length + part.length > LINE_MAX - 8) {
      lines.push(current.trimEnd());
      current = "    ";
    }
    current += part;
  }
  return [...lines, current];
}
