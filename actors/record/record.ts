// A record is a kind with one state: its row exists or it does not. Each such kind has one description with the parts
// that differ between kinds: audit entries, locks, guards, the view. This file has the parts that all records share:
// the check of the name, 404 for an absent row, 409 for a second create, one audit entry per change. A description that
// lacks the part for one of the kind's messages does not compile, so the transition table stays total.
import type { AuditAction } from "../../src/contract/audit-actions.ts";
import { type Fault, isFault } from "../../src/contract/fault.ts";
import type { Labels, LabelsPatch } from "../../src/contract/labels.ts";
import { labelsFault, relabeled } from "../../src/lib/text/labels.ts";
import { type Named, nameFault, renamed, type Renaming } from "../../src/lib/text/resource-name.ts";
import { go, lock, refuse } from "../engine/effects.ts";
import { type Column, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Message, Out, Part } from "../engine/types.ts";
import { type AuditEntry, auditEntry } from "./audit-entry.ts";

/** The state of a record: its columns and the time of its creation. */
export type RecordState<Columns> = Columns & Named & {
  readonly state: "live";
  readonly id: string;
  readonly labels?: Labels;
  readonly created_at: Date;
};

/** Creates a record. By default, the fields of this message are the columns; the description can also build the row. */
export type Create<Fields> = { readonly type: "create"; readonly labels?: Labels } & Fields;
/** Changes the name, the description and, if the kind has labels, the labels. Null keeps the present value. */
export type Update = { readonly type: "update"; readonly labels?: LabelsPatch | null | undefined } & Renaming;
/** Deletes a record. */
export type Delete = { readonly type: "delete" };

/** One change of a record. */
type Change<S, M> = AuditEntry<S, M> & {
  /** Returns the fault that refuses the change. For a create, this function runs after the check of the name. */
  readonly check?: (row: S, message: M) => Fault | null;
  /** Locks, guards, child rows and other actors that belong to the same commit. */
  readonly parts?: (row: S, message: M, now: Date) => readonly Part<S>[];
};

type Creation<S, M> = Change<S, M> & {
  /** Returns the columns of the row. Default: the fields of the message. Runs before the check of the name. */
  readonly row?: (message: M, now: Date) => Omit<S, "state" | "created_at"> | Fault;
  /** The refusal of a create for an id that exists. Default: a 409. */
  readonly clash?: (row: S, message: M) => Fault;
};

type Renamed<S, M> = Partial<AuditEntry<S, M>> & Pick<Change<S, M>, "parts"> & {
  /** The action of the audit entry. Without `note`, the entry shows the name and, if given, the labels. */
  readonly action: AuditAction;
  /** Returns the row with the other columns that an update changes. `row` already has the new name and labels. */
  readonly row?: (row: S, message: M, change: { readonly before: S; readonly now: Date }) => S | Fault;
};

/** Whether the fields of a create are exactly the columns of the row. If not, the description must build the row. */
type FieldsAreColumns<S, M> = Omit<M, "type"> extends Omit<S, "state" | "created_at">
  ? Exclude<keyof M, keyof S | "type"> extends never ? true : false
  : false;

type DescribedCreate<S, M> =
  & Creation<S, M>
  & (FieldsAreColumns<S, M> extends true ? unknown : Required<Pick<Creation<S, M>, "row">>);

/** The part of the description for one message: required if the kind takes the message, and forbidden if not. */
type PartFor<M extends Message, T extends string, Part> = T extends M["type"] ? { readonly [Name in T]: Part }
  : { readonly [Name in T]?: never };

type Others<M extends Message> = Exclude<M, { readonly type: "create" | "update" | "delete" }>;

/** The description of one kind of record. */
export type RecordDescription<S extends RecordState<unknown>, M extends Message, V> =
  & {
    readonly kind: string;
    readonly table: string;
    /** The kind in the text of a 409: `NIC tag` gives `NIC tag exists already`. */
    readonly noun: string;
    /** The type of the record in audit entries: `NicTag`. */
    readonly resource: string;
    /**
     * The lock of the parent. A create takes it shared, so that a delete of the parent either waits for the create or
     * sees the new row.
     */
    readonly parent?: (row: S) => string | null;
    readonly view: (row: Omit<S, "state">) => V;
    /** Set if the records have labels: the table has the column, and the view shows them. */
    readonly has_labels?: V extends { readonly labels: Labels } ? true : never;
    readonly constraints: Readonly<Record<string, Fault>>;
    /** A description, or a cell written by hand if a create has several outcomes. */
    readonly create:
      | DescribedCreate<S, Of<M, "create">>
      | ((state: null, message: Of<M, "create">, now: Date) => Out<S>);
  }
  & PartFor<M, "update", Renamed<S, Of<M, "update">>>
  & PartFor<M, "delete", Change<S, Of<M, "delete">>>
  /** The rows of the transition table for all other messages. */
  & ([Others<M>] extends [never] ? { readonly others?: never } : { readonly others: Table<S, Others<M>> });

/** The behavior of a record, with its transition table for tests. */
export type RecordBehavior<S extends RecordState<unknown>, M extends Message, V> = Behavior<S, M> & {
  readonly transitions: Table<S, M>;
  readonly view: (row: Omit<S, "state">) => V;
};

/** Makes the behavior of a record from its description. */
export function record<S extends RecordState<unknown>, M extends Message, V>(
  description: RecordDescription<S, M, V>,
): RecordBehavior<S, M, V> {
  const { kind, table, view, constraints } = description;
  // RecordDescription<S, M, V> has checked the message types, and AnyDescription drops them.
  const transitions = tableOf<S, M>(description as unknown as AnyDescription<S>);
  return {
    kind,
    table,
    key: "id",
    transitions,
    step: (s, m, now) => runTable(transitions, s, m, now),
    deadline: () => null,
    view,
    constraints,
  };
}

/** The description with optional parts and without message types, both of which RecordDescription has checked. */
type AnyDescription<S extends RecordState<unknown>> = Pick<Described<S>, "noun" | "resource" | "parent"> & {
  readonly has_labels?: boolean;
  readonly create: Creation<S, Create<S>> | ((state: null, message: Create<S>, now: Date) => Out<S>);
  readonly update?: Renamed<S, Update>;
  readonly delete?: Change<S, Delete>;
  readonly others?: Readonly<Record<string, Readonly<Record<Column<S>, unknown>>>>;
};
type Described<S extends RecordState<unknown>> = RecordDescription<S, Create<S>, unknown>;

function tableOf<S extends RecordState<unknown>, M extends Message>(d: AnyDescription<S>): Table<S, M> {
  const entry = auditEntry(d.resource);
  const rows = {
    create: createRow(d, entry),
    ...(d.update && { update: { absent: "missing", live: updateCell(d.update, entry, d.has_labels === true) } }),
    ...(d.delete && { delete: { absent: "missing", live: deleteCell(d.delete, entry) } }),
    ...d.others,
  };
  // PartFor and Others demand a part for each message of M, so each message has a row here.
  return rows as unknown as Table<S, M>;
}

type Entry = ReturnType<typeof auditEntry>;

function createRow<S extends RecordState<unknown>>(d: AnyDescription<S>, entry: Entry) {
  const { create } = d;
  const exists = `${d.noun} exists already`;
  if (typeof create === "function") return { absent: create, live: exists };
  return { absent: createCell(create, d, entry), live: create.clash === undefined ? exists : clashCell(create.clash) };
}

function createCell<S extends RecordState<unknown>>(
  creation: Creation<S, Create<S>>,
  { parent, has_labels }: AnyDescription<S>,
  entry: Entry,
) {
  const { row, check, parts } = creation;
  return function create(_s: null, m: Create<S>, now: Date): Out<S> {
    const { type: _type, ...fields } = m;
    const columns = row === undefined ? fields : row(m, now);
    if (isFault(columns)) return refuse(columns);
    const next = { ...columns, ...has_labels && { labels: m.labels ?? {} }, state: "live", created_at: now } as S;
    const wrong = nameFault(next.name) ?? labelsFault(m.labels ?? {}) ?? check?.(next, m) ?? null;
    if (wrong !== null) return refuse(wrong);
    const key = parent?.(next) ?? null;
    return go(
      next,
      ...(key === null ? [] : [lock(key, true)]),
      ...(parts?.(next, m, now) ?? []),
      entry<S, Create<S>>(creation, next, m),
    );
  };
}

function clashCell<S extends RecordState<unknown>>(fault: (row: S, message: Create<S>) => Fault) {
  return function clash(s: S, m: Create<S>): Out<S> {
    return refuse(fault(s, m));
  };
}

function updateCell<S extends RecordState<unknown>>(change: Renamed<S, Update>, entry: Entry, has_labels: boolean) {
  const { row, parts, action, note } = change;
  return function update(s: S, m: Update, now: Date): Out<S> {
    const named = renamed(s, m);
    if (isFault(named)) return refuse(named);
    const labels = has_labels ? relabeled(s.labels ?? {}, m.labels ?? null) : {};
    if (isFault(labels)) return refuse(labels);
    const to = has_labels ? { ...named, labels } : named;
    const next = row === undefined ? to : row(to, m, { before: s, now });
    if (isFault(next)) return refuse(next);
    const changed = note ?? (m.labels == null ? ["name"] : ["name", "labels"]);
    return go(next, ...(parts?.(next, m, now) ?? []), entry({ action, note: changed }, next, m));
  };
}

function deleteCell<S extends RecordState<unknown>>(removal: Change<S, Delete>, entry: Entry) {
  return function remove(s: S, m: Delete, now: Date): Out<S> {
    const wrong = removal.check?.(s, m) ?? null;
    if (wrong !== null) return refuse(wrong);
    return go<S>(null, ...(removal.parts?.(s, m, now) ?? []), entry(removal, s, m));
  };
}
