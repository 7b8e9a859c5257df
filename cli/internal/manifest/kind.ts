// Describes the kinds of records in a manifest. Each program has its own list of kinds, ordered so that a record refers
// only to records of earlier kinds. The only exception is a floating IP, which names the instance that it is attached
// to. A field that refers to another record contains the name of that record. The name of such a field is the API's
// name without "id": `image` for image_id, `ssh_keys` for ssh_key_ids. Every other field has the API's name.

/**
 * The type of a field's value in a manifest. `block`: a CIDR block. `address`: an IP address. `bytes`: a number, or a
 * size such as 4GiB. `json`: a value that only the server checks.
 */
export type FieldType =
  | "text"
  | "boolean"
  | "block"
  | "address"
  | "number"
  | "bytes"
  | "object"
  | "texts"
  | "objects"
  | "json";

/**
 * How a field of an existing record changes. `patch`: by a request that changes the record. `replace`: the record is
 * deleted and created. `step`: by a separate request. `grow`: as `step`, and only to a larger number. `fixed`: not at
 * all. `hidden`: set only when the record is created, and not compared later.
 */
export type FieldChange = "patch" | "replace" | "step" | "grow" | "fixed" | "hidden";

export type Field = {
  readonly type: FieldType;
  readonly change: FieldChange;
  readonly required?: true;
  /** The server chooses a value for a record that is created with null. So null in a manifest equals every value. */
  readonly chosen?: true;
};

export type ManifestKind = {
  /** The list in the manifest: the API's plural. */
  readonly list: string;
  readonly singular: string;
  readonly path: string;
  /** Fields that together identify the record in the manifest. A field without a value is left out of the key. */
  readonly key: readonly string[];
  readonly fields: Readonly<Record<string, Field>>;
  /** The API has exactly one record of this kind, so the manifest has an object in place of a list. */
  readonly single?: true;
  /**
   * The records do not belong to the project or site of the manifest: --prune does not delete them, and export omits
   * them.
   */
  readonly foreign?: true;
  /** Returns the values with the server's defaults, so that they can be compared. */
  complete?(values: Entry["values"]): Entry["values"];
};

/** A record of a manifest. `key` is unique among the records of its kind: `front`, or `main/front` in the VPC main. */
export type Entry = {
  readonly kind: ManifestKind;
  readonly list: string;
  readonly key: string;
  readonly values: Readonly<Record<string, unknown>>;
};

export function entryOf(kind: ManifestKind, values: Readonly<Record<string, unknown>>): Entry {
  const names = kind.key.map((field) => values[field]).filter((name) => name !== undefined && name !== null);
  return { kind, list: kind.list, key: names.join("/"), values };
}
