// Checks that migrations only expand the schema, so that a process of the previous version still works on the newer
// schema (docs/guides/upgrade.md, "Go back"). This test finds statements that would break such a process.
// tests/processes/rolling-upgrade.test.ts runs an older version on this schema.
import { expect, test } from "vitest";
import { filesBelow, readText } from "./sources.ts";

/**
 * The rule applies to migrations after this number. Earlier migrations may break it: for example, migration 0037
 * renames a table that release 0.1.0 uses.
 */
const LAST_WITHOUT_RULE = 62;
/**
 * The names of migrations that remove a part of the schema that no supported version uses. A comment in such a
 * migration names the first version that does not use the removed part.
 */
const CONTRACTS = /^\d{4}_contract_/;
const NAMES_VERSION = /^-- No process since \d+\.\d+\.\d+ uses /m;

/** Statements that break a process of the previous version. */
const BREAKS: Readonly<Record<string, RegExp>> = {
  "drops a table": /\bdrop table\b/i,
  "drops a column": /\bdrop column\b/i,
  "drops a type": /\bdrop type\b/i,
  "drops a function": /\bdrop function (?!(?:if exists )?pg_temp\.)/i,
  "renames": /\brename (?:to|column|constraint)\b/i,
  "changes the type of a column": /\balter column \w+ (?:set data )?type\b/i,
  "requires a value in an existing column": /\balter column \w+ set not null\b/i,
  "removes a default": /\balter column \w+ drop default\b/i,
  "adds a column that an insert must name":
    /\badd column (?:if not exists )?\w+\b(?! [^,;]*\bdefault\b)(?! [^,;]*\bgenerated\b)[^,;]*\bnot null\b/i,
};

function broken(sql: string): string[] {
  const code = sql.replace(/--.*$/gm, "");
  const views = [...code.matchAll(/\bdrop view (?:if exists )?(\w+)/gi)].map(([, name]) => name!)
    .filter((name) => !new RegExp(`\\bcreate (?:or replace )?view ${name}\\b`, "i").test(code));
  return [
    ...Object.entries(BREAKS).filter(([, pattern]) => pattern.test(code)).map(([what]) => what),
    ...views.map((name) => `drops the view ${name} and does not create it again`),
  ];
}

/** Returns the problems of a migration. */
function problems(name: string, sql: string): string[] {
  if (CONTRACTS.test(name)) return NAMES_VERSION.test(sql) ? [] : ["names no version that stopped using it"];
  return broken(sql);
}

test.each([
  ["alter table cn drop column role;", "drops a column"],
  ["alter table cn rename to node;", "renames"],
  ["alter table cn alter column role set not null;", "requires a value in an existing column"],
  ["alter table cn alter column role type integer;", "changes the type of a column"],
  ["alter table cn add column rack text not null;", "adds a column that an insert must name"],
  ["drop function commit_units_1(jsonb);", "drops a function"],
  ["drop view cn_loaded;", "drops the view cn_loaded and does not create it again"],
])("the check reports that the statement `%s` %s", (sql, what) => {
  expect(problems("0099_example.sql", sql)).toEqual([what]);
});

test.each([
  "alter table cn add column rack text, add column row integer not null default 0;",
  "alter table cn drop constraint cn_role_check, add constraint cn_role_check check (role <> '');",
  "drop view cn_loaded; create view cn_loaded as select * from cn;",
  "create table rack (id uuid not null); drop function pg_temp.rack();",
  "-- drop table cn",
])("the check accepts `%s`", (sql) => {
  expect(problems("0099_example.sql", sql)).toEqual([]);
});

test("a comment in a contract migration names the first version that does not use the removed part", () => {
  const sql = "alter table cn drop column role;";
  expect(problems("0099_contract_role.sql", sql)).toEqual(["names no version that stopped using it"]);
  expect(problems("0099_contract_role.sql", `-- No process since 0.3.0 uses cn.role.\n${sql}`)).toEqual([]);
});

test("every migration since 0063 only expands the schema, unless its name is NNNN_contract_SUBJECT.sql", () => {
  const files = filesBelow(["migrations"], ".sql").map((path) => ({ path, name: path.split("/").at(-1)! }))
    .filter(({ name }) => /^\d{4}_/.test(name));
  expect(files.length).toBeGreaterThanOrEqual(LAST_WITHOUT_RULE);
  const found = files.filter(({ name }) => Number(name.slice(0, 4)) > LAST_WITHOUT_RULE)
    .flatMap(({ path, name }) => problems(name, readText(path)).map((what) => `${path} ${what}`));
  expect(found).toEqual([]);
  // Shows that the check works: it finds the violation in an earlier migration.
  expect(problems("0037_sealed_user_data.sql", readText("migrations/0037_sealed_user_data.sql"))).toContain("renames");
});
