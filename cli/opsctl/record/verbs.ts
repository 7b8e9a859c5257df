// Builds the list, show, delete and update commands of a kind of record from its description (kind.ts).
import type { NamedPatch } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command, listCommand, showCommand } from "../../framework.ts";
import { confirmOnTerminal } from "../../internal/confirmation.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import type { Io } from "../../internal/io.ts";
import { DESCRIPTION_OPTION, NAME_OPTION, patchOf } from "../../internal/named-patch.ts";
import { withIo } from "../../internal/run.ts";
import { blockText } from "../../internal/table.ts";
import type { Changing, Listing, Showing } from "./kind.ts";

export function list<R>(kind: Listing<R>): AnyCommand {
  const { parent, many, summaries, columns, list_sample, selectors } = kind;
  const made: AnyCommand = listCommand("list", summaries.list, list_sample ?? parent?.sample);
  const selecting = selectors?.(made) ?? made;
  return (parent === undefined ? selecting : selecting.option(...parent.list)).action(withIo(async (io, ...given) => {
    const selected = { argument: commandOf(given).args[0], options: optionsOf(given) };
    const found = await kind.all(io, parentOf(kind, given), selected);
    const { rows, note } = "rows" in found ? found : { rows: found, note: null };
    const records = rows.map(kind.record);
    const shown = typeof columns === "function" ? await columns(io, rows) : columns;
    io.table(kind.is_array === true ? records : { items: records }, rows, shown, `(no ${many})`);
    if (note !== null) io.note(note);
  }));
}

export function show<R>(kind: Showing<R>): AnyCommand {
  return addName(showCommand("show", kind.summaries.show ?? `Show one ${kind.one}`, kind.sample), kind)
    .action(withIo(async (io, ...given) => {
      const row = await findNamed(io, kind, given);
      io.print(kind.record(row), "text" in kind ? kind.text(row) : blockText(kind.lines(row)));
    }));
}

export function remove<R>(kind: Changing<R>): AnyCommand {
  const { lost, summaries, sample } = kind;
  const made = deleteCommand("delete", summaries.delete, sample, { asks: lost !== undefined });
  return addName(made, kind).action(withIo(async (io, ...given) => {
    const row = await findNamed(io, kind, given);
    if (lost !== undefined) {
      await confirmOnTerminal(io, optionsOf(given).yes === true, () => Promise.resolve(lost(row)));
    }
    await io.send({ method: "DELETE", path: kind.path(row) });
    io.print(null, `Deleted ${kind.one} ${kind.title(row)}`);
  }));
}

/**
 * `changed` returns the row after the update, from the old row and the API's record. `sample` contains the options in
 * the example of help.
 */
export function update<R, T>(
  kind: Changing<R>,
  { sample, changed }: { readonly sample: string; changed(row: R, record: T): R },
): AnyCommand {
  const made = command("update", `Change the name or description of a ${kind.one}`, `${kind.sample} ${sample}`);
  return addName(made, kind).option(...NAME_OPTION).option(...DESCRIPTION_OPTION)
    .action(withIo(async (io, ...given) => {
      const body = patchOf(optionsOf(given) as NamedPatch);
      const row = await findNamed(io, kind, given);
      const record = await io.send<T>({ method: "PATCH", path: kind.path(row), body });
      io.print(record, `Updated ${kind.one} ${kind.title(changed(row, record))}`);
    }));
}

function addName(made: AnyCommand, { argument, parent }: Pick<Changing<unknown>, "argument" | "parent">): AnyCommand {
  const named = made.argument(...argument);
  return parent === undefined ? named : named.option(...parent.find);
}

/** The parser cannot type the arguments of a shared verb. The last argument is the command itself. */
function commandOf(given: readonly unknown[]): AnyCommand {
  return given.at(-1) as AnyCommand;
}

function optionsOf(given: readonly unknown[]): Readonly<Record<string, unknown>> {
  return commandOf(given).opts();
}

function parentOf({ parent }: Pick<Changing<unknown>, "parent">, given: readonly unknown[]): string | undefined {
  return parent === undefined ? undefined : optionsOf(given)[parent.name] as string | undefined;
}

async function findNamed<R>(
  io: Io,
  kind: Pick<Changing<R>, "find" | "parent">,
  given: readonly unknown[],
): Promise<R> {
  return await kind.find(io, commandOf(given).args[0]!, parentOf(kind, given));
}
