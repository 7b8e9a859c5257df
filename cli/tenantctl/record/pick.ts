// Finds a record in a list by its name, its UUID or a unique prefix of the UUID.
import { pickRecord } from "../../internal/record-name.ts";

export type Named = { readonly id: string; readonly name: string };
export type Wanted = {
  readonly name: string;
  readonly singular: string;
  readonly plural: string;
  /** False if the program has no command that lists such records. By default true. */
  readonly is_listed?: boolean;
};

/** Returns the record that matches the name. Throws a Failure unless there is exactly one. */
export function pick<T extends Named>(records: readonly T[], { name, singular, plural, is_listed = true }: Wanted): T {
  return pickRecord(records, name, {
    one: singular,
    many: plural,
    ...is_listed && { list: `tenantctl ${singular.toLowerCase().replaceAll(" ", "-")} list` },
    id: (record) => record.id,
    title: (record) => record.name,
    isCalled: (record, called) => record.name === called,
  });
}
