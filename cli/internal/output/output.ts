// Prints the answer of a command in the format of `-o`, for opsctl and tenantctl.
import { type Environment, hasColour } from "../environment.ts";
import { usageFailure } from "../failure.ts";
import { plainJson, plainText } from "../plain-text.ts";
import { serverNowMs } from "../server-clock.ts";
import type { Column } from "../table.ts";
import { entriesOf, enveloped, recordsOf, withEntries } from "./answer.ts";
import { csvText } from "./csv.ts";
import { type Format, FORMAT_CHOICES, formatOf, type OutputFlags } from "./format.ts";
import { idOf, nameOf } from "./identity.ts";
import { valuesAt } from "./json-path.ts";
import { listTable } from "./list-table.ts";
import { selected, shownColumns } from "./selection.ts";
import { yamlText } from "./yaml-text.ts";

export type Output = {
  /** True in every format except table and wide: a program reads the output, so progress and hints are not printed. */
  readonly json: boolean;
  readonly format: Format["kind"];
  /** True if the output has no columns: with -q, and in the formats json, yaml, name and jsonpath. */
  readonly is_data: boolean;
  /** Throws a usage Failure with -q or -o name, because they would not print a secret that is shown only once. */
  needSecretShown(): void;
  /**
   * Prints the answer in the format. Prints `text` instead in three cases: in the formats table and wide; in the format
   * name if no record has a name or an id; in csv if the answer has no records. With -q, prints the ids of the answer
   * if it has any. `text` must be safe to print.
   */
  print(answer: unknown, text: string): void;
  /** Prints a list. `rows` show the records of the answer in the same order. */
  table<T>(answer: unknown, rows: readonly T[], columns: readonly Column<T>[], empty: string): void;
  /** Prints a line on stderr; nothing with --quiet. */
  note(line: string): void;
  /** Prints one line in every format; nothing with --quiet. */
  say(line: string): void;
};

/** Throws a usage Failure if the value of `-o` is not a format. Without `-o` and `--json`, the format is `fallback`. */
export function openOutput(environment: Environment, flags: OutputFlags, fallback: "table" | "json"): Output {
  const format = wantedFormat(flags, fallback);
  const { stdout, stderr } = environment;
  const is_quiet = flags.quiet === true;
  const write = (text: string) => stdout.write(`${text}\n`);
  const writeLines = (texts: readonly string[]) => texts.forEach((text) => write(plainText(text)));
  const note = (line: string) => is_quiet ? undefined : stderr.write(`${plainText(line)}\n`);

  const print = (answer: unknown, text: string) => {
    const records = recordsOf(answer);
    const ids = records.map(idOf).filter((id) => id !== null);
    if (is_quiet && ids.length > 0) return writeLines(ids);
    switch (format.kind) {
      case "json":
        return write(plainJson(flags.json === true ? answer : enveloped(answer)));
      case "yaml":
        return write(yamlText(enveloped(answer)));
      case "jsonpath":
        return writeLines(valuesAt(enveloped(answer), format.path).map(scalarText));
      case "name": {
        const names = records.map(nameOf).filter((name) => name !== null);
        return names.length === 0 ? write(text) : writeLines(names);
      }
      case "csv":
        return records.length === 0 ? write(text) : stdout.write(recordsCsv(records, flags));
      case "table":
      case "wide":
        return write(text);
    }
  };

  const table: Output["table"] = (answer, rows, columns, empty) => {
    const every = entriesOf(answer, rows);
    const now_ms = serverNowMs(environment);
    const entries = selected(every, columns, { ...flags, now_ms });
    const shown = shownColumns(every, columns, flags.columns);
    if (is_quiet) return writeLines(entries.map(({ item }) => idOf(item) ?? nameOf(item) ?? ""));
    switch (format.kind) {
      case "json":
      case "yaml":
      case "jsonpath": {
        const is_whole = flags.filter === undefined && flags.sortBy === undefined;
        return print(is_whole ? answer : withEntries(answer, entries), "");
      }
      case "name":
        return writeLines(entries.map(({ item }) => nameOf(item) ?? ""));
      case "csv": {
        // In CSV, AGE is a time, which another column of the list has already (tests/cli/age-columns.test.ts).
        const columns = flags.columns === undefined ? shown.filter(([title]) => title !== "AGE") : shown;
        const titles = flags.headers === false ? null : columns.map(([title]) => title.toLowerCase());
        return stdout.write(csvText(titles, entries.map((entry) => columns.map(([, cell]) => cell(entry)))));
      }
      case "table":
      case "wide": {
        if (entries.length === 0) return write(empty);
        const { text, hidden } = listTable(shown, entries, {
          wide: format.kind === "wide",
          width: stdout.isTTY ? stdout.columns : null,
          colour: hasColour(environment, stdout),
          headers: flags.headers !== false,
          now_ms,
        });
        write(text);
        if (hidden.length > 0) note(`The terminal is too narrow for ${hidden.join(", ")}; -o wide shows all columns`);
      }
    }
  };

  return {
    json: format.kind !== "table" && format.kind !== "wide",
    format: format.kind,
    is_data: is_quiet || !["table", "wide", "csv"].includes(format.kind),
    needSecretShown: () => {
      if (!is_quiet && format.kind !== "name") return;
      const flag = is_quiet ? "-q" : "-o name";
      throw usageFailure(`${flag} would not print the secret, which is shown only once; use -o jsonpath=.secret`);
    },
    print,
    table,
    note,
    say: (line) => is_quiet ? undefined : write(plainText(line)),
  };
}

function wantedFormat({ output, json }: OutputFlags, fallback: "table" | "json"): Format {
  if (output === undefined) return { kind: json === true ? "json" : fallback };
  const format = formatOf(output);
  if (format === null) throw usageFailure(`-o ${output} is not a format; use ${FORMAT_CHOICES.join(", ")}PATH`);
  return format;
}

function recordsCsv(records: readonly unknown[], { headers }: OutputFlags): string {
  const titles = [...new Set(records.flatMap((record) => Object.keys(Object(record))))];
  const rows = records.map((record) => titles.map((title) => Object(record)[title] as unknown));
  return csvText(headers === false ? null : titles, rows);
}

function scalarText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
