// `task docs` prints parts of docs/*.md from the code. Each part is between a start mark and `<!-- end -->`:
// - `<!-- table: KIND -->`: a state table, from a transition table
// - `<!-- limits: PART -->`: numbers of docs/limits.md, from the constants
// - `<!-- codes: errors -->`: the error codes of docs/wire.md
// - `<!-- events: webhooks -->`: the events of docs/webhooks.md
// tests/lint/docs.test.ts fails when a page differs from the printed text.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bootRecordTable } from "../actors/boot-record/transition.ts";
import { cnTable } from "../actors/cn/transition.ts";
import { consoleSessionTable } from "../actors/console-session/transition.ts";
import { floatingIpTable } from "../actors/floating-ip/transition.ts";
import { instanceTable } from "../actors/instance/transition.ts";
import { jobTable } from "../actors/job/transition.ts";
import { WEBHOOK_EVENTS } from "../src/contract/audit-actions.ts";
import { ERROR_CODES } from "../src/contract/error-codes.ts";
import { limitsPart } from "./limits.ts";

type AnyTable = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const TABLES: Readonly<Record<string, AnyTable>> = {
  "boot-record": bootRecordTable,
  cn: cnTable,
  "console-session": consoleSessionTable,
  "floating-ip": floatingIpTable,
  instance: instanceTable,
  job: jobTable,
};

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const PART = /<!-- (table|limits|codes|events): ([\w-]+) -->[\s\S]*?<!-- end -->/g;

/** Returns the pages of this folder, each with its text and the text that `task docs` would write. */
export function pages(): { readonly name: string; readonly text: string; readonly printed: string }[] {
  return readdirSync(FOLDER).filter((name) => name.endsWith(".md")).sort().map((name) => {
    const text = readFileSync(`${FOLDER}${name}`, "utf8");
    return { name, text, printed: text.replace(PART, printedPart) };
  });
}

const PRINT = { table: stateTable, limits: limitsPart, codes: errorCodes, events: webhookEvents } as const;

function printedPart(_old: string, what: keyof typeof PRINT, name: string): string {
  return `<!-- ${what}: ${name} -->\n\n${PRINT[what](name)}\n\n<!-- end -->`;
}

function errorCodes(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, { status, when }]) => [`\`${code}\``, String(status), when]);
  return aligned(["Code", "Status", "When"], rows);
}

/** The events of webhooks, in a table with a row for each kind of object. */
function webhookEvents(): string {
  const kinds = Map.groupBy(WEBHOOK_EVENTS, (event) => KINDS.find((kind) => event.startsWith(`${kind}_`)) ?? "");
  const rows = [...kinds].map(([kind, events]) => {
    return [kind.replaceAll("_", " "), events.map((event) => `\`${event}\``).join(", ")];
  });
  return aligned(["Objects", "Events"], rows);
}

/** The kinds of objects that events begin with. */
const KINDS = [
  ...new Set(WEBHOOK_EVENTS.map((event) => event.match(/^(?:firewall|[a-z_]+?(?=_(?:create|set|test|update)$))/)?.[0])),
]
  .filter((kind) => kind !== undefined).toSorted((a, b) => b.length - a.length);

function stateTable(kind: string): string {
  const table = TABLES[kind];
  if (table === undefined) throw new Error(`docs: print.ts has no table ${kind}`);
  return markdown(table);
}

/** Messages are rows, states are columns. The texts of refusals are numbered and listed below the table. */
function markdown(table: AnyTable): string {
  const states = Object.keys(Object.values(table)[0] ?? {});
  const head = ["", ...states.map((state) => `\`${state}\``)];
  const refusals = [...new Set(Object.values(table).flatMap((row) => Object.values(row).filter(isRefusal)))];
  const body = Object.entries(table).map(([message, row]) => [
    `\`${message}\``,
    ...states.map((state) => cell(row[state], refusals)),
  ]);
  const texts = refusals.map((text, index) => `${index + 1}. \`${text}\``);
  return [aligned(head, body), ...(texts.length === 0 ? [] : [`Refusals:\n\n${texts.join("\n")}`])].join("\n\n");
}

/** Returns a table whose columns are padded as `deno fmt` pads them. */
function aligned(head: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...body].map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((text, column) => text.padEnd(widths[column]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}

/** Returns whether a cell is the message of a 409: any text other than `ignore` and `missing`. */
function isRefusal(value: unknown): value is string {
  return typeof value === "string" && value !== "ignore" && value !== "missing";
}

function cell(value: unknown, refusals: readonly string[]): string {
  if (typeof value === "function") return `→ ${value.name}`;
  if (isRefusal(value)) return `409 (${refusals.indexOf(value) + 1})`;
  return value === "ignore" ? "no effect" : "404";
}

if (import.meta.main) {
  for (const { name, text, printed } of pages()) {
    if (text !== printed) writeFileSync(`${FOLDER}${name}`, printed);
  }
}
