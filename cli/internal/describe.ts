// Defines the verbs `events` and `describe` of a node and of an instance, in opsctl and tenantctl.
import { type AnyCommand, listCommand, showCommand, wholeNumber } from "../framework.ts";
import { hasColour } from "./environment.ts";
import type { Io } from "./io.ts";
import { listTable } from "./output/list-table.ts";
import { serverNowMs } from "./server-clock.ts";
import type { Column } from "./table.ts";
import { EVENT_COLUMNS, EVENTS_SHOWN, type Subject, timeLine } from "./time-line.ts";

/** The part of the output of `describe` above the events. */
export type Described = {
  /** The record, with its parts as members. */
  readonly answer: object;
  readonly text: string;
  readonly subject: Subject;
};
type Runner<I extends Io> = (
  body: (io: I, name: string, options: { readonly limit: number }) => Promise<void>,
) => (name: string, options: { readonly limit: number }) => Promise<void>;
export type DescribedNoun<I extends Io> = {
  /** The noun with its article, as in `an instance`. */
  readonly noun: string;
  readonly argument: readonly [flags: string, summary: string];
  readonly example: string;
  readonly withIo: Runner<I>;
  resolve(io: I, name: string): Promise<Subject>;
  describe(io: I, name: string): Promise<Described>;
};

const LIMIT_OPTION = ["--limit <rows>", "number of events", wholeNumber(1), EVENTS_SHOWN] as const;

export function events<I extends Io>({ noun, argument, example, withIo, resolve }: DescribedNoun<I>): AnyCommand {
  return listCommand("events", `List the newest events of ${noun}, oldest first`, example)
    .argument(...argument)
    .option(...LIMIT_OPTION)
    .action(withIo(async (io, name, { limit }) => {
      const found = await timeLine(io, await resolve(io, name), limit);
      io.table({ items: found }, found, EVENT_COLUMNS, "(no events)");
    }));
}

export function describe<I extends Io>({ noun, argument, example, withIo, describe }: DescribedNoun<I>): AnyCommand {
  return showCommand("describe", `Show ${noun}, the objects that belong to it, and its newest events`, example)
    .argument(...argument)
    .option(...LIMIT_OPTION)
    .action(withIo(async (io, name, { limit }) => {
      const { answer, text, subject } = await describe(io, name);
      const found = await timeLine(io, subject, limit);
      io.print(
        { ...answer, time_line: found },
        `${text}\n\n${section(io, "events", EVENT_COLUMNS, found)}`,
      );
    }));
}

/** Returns a table below a title, or the title and "none" if there are no rows. */
export function section<T>(io: Io, title: string, columns: readonly Column<T>[], rows: readonly T[]): string {
  if (rows.length === 0) return `${title}: none`;
  const { environment } = io;
  const { stdout } = environment;
  const { text } = listTable(columns, rows, {
    wide: io.format === "wide",
    width: stdout.isTTY ? stdout.columns : null,
    colour: hasColour(environment, stdout),
    headers: true,
    now_ms: serverNowMs(environment),
  });
  return `${title}:\n${text}`;
}
