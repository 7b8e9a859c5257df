// Which of the records of a list a name means: its name, its UUID or the beginning of it.
import { pickRecord } from "../../internal/record-name.ts";

export type Named = { readonly id: string; readonly name: string };
export type Wanted = { readonly name: string; readonly argv: string; readonly plural: string };

/** Throws a Failure unless the name fits exactly one of the records. */
export function pick<T extends Named>(records: readonly T[], { name, argv, plural }: Wanted): T {
  return pickRecord(records, name, {
    one: argv,
    many: plural,
    id: (record) => record.id,
    title: (record) => record.name,
    isCalled: (record, called) => record.name === called,
  });
}
