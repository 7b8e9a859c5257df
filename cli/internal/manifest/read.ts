// Reads a manifest: YAML or JSON from a file, from every such file of a folder, or from standard input. Rejects unknown
// lists and fields, wrong types and repeated records before any request.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { formatIp, parseIp } from "../../../src/lib/net/ip-address.ts";
import { blockText, parseBlock } from "../../../src/lib/net/ip-block.ts";
import { parseByteSize } from "../byte-size.ts";
import { usageFailure } from "../failure.ts";
import { unreadable } from "../file-problem.ts";
import type { Io } from "../io.ts";
import { nearNames } from "../../../src/lib/text/near-names.ts";
import { readPlainFile } from "../private-file.ts";
import { type Entry, entryOf, type Field, type ManifestKind } from "./kind.ts";

export type Manifest = {
  readonly entries: readonly Entry[];
  /** The lists that the manifest has, including empty ones. --prune deletes only records of these lists. */
  readonly lists: ReadonlySet<string>;
};

const FILE_NAME = /\.(?:ya?ml|json)$/;

export async function readManifest(io: Io, path: string, kinds: readonly ManifestKind[]): Promise<Manifest> {
  const texts = path === "-"
    ? [["standard input", await (await io.environment.keyboard()).readAll()] as const]
    : await filesAt(path);
  return await parseManifest(texts, kinds);
}

type Source = readonly [name: string, text: string];

export async function parseManifest(texts: readonly Source[], kinds: readonly ManifestKind[]): Promise<Manifest> {
  const entries: Entry[] = [];
  const lists = new Set<string>();
  for (const [source, text] of texts) {
    for (const document of await documentsIn(text, source)) {
      for (const [list, items] of Object.entries(document)) {
        const kind = knownKind(list, source, kinds);
        lists.add(list);
        if (kind.single === true) {
          entries.push(read(kind, items, `${source}: ${list}`));
          continue;
        }
        if (!Array.isArray(items)) throw usageFailure(`${source}: ${list} must be a list`);
        entries.push(...items.map((item, at) => read(kind, item, `${source}: ${list}[${at}]`)));
      }
    }
  }
  refuseRepeats(entries);
  return { entries, lists };
}

async function filesAt(path: string): Promise<(readonly [source: string, text: string])[]> {
  const found = await stat(path).catch((error) => {
    throw unreadable(path, "--file", error);
  });
  const names = found.isDirectory()
    ? (await readdir(path)).filter((name) => FILE_NAME.test(name)).sort().map((name) => join(path, name))
    : [path];
  if (names.length === 0) throw usageFailure(`${path} has no file *.yaml, *.yml or *.json`);
  const texts: (readonly [string, string])[] = [];
  for (const name of names) texts.push([name, await readPlainFile(name) ?? ""]);
  return texts;
}

/** Parses YAML or JSON. One parser is enough, because JSON is a part of YAML. */
async function documentsIn(text: string, source: string): Promise<Record<string, unknown>[]> {
  const { parseAllDocuments } = await import("yaml");
  const documents = [parseAllDocuments(text)].flat();
  return documents.flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) {
      throw usageFailure(`${source} is not valid YAML: ${error.message.split("\n")[0]?.replace(/:$/, "")}`);
    }
    const value: unknown = document.toJS();
    if (value === null || value === undefined) return [];
    if (!isObject(value)) throw usageFailure(`${source} must be an object of lists`);
    return [value];
  });
}

/** The fields of Kubernetes manifests. */
const FOREIGN_LISTS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "spec"]);

/** Returns a text with the names that an unknown name may mean, such as `; did you mean memory_bytes?`. */
function meantText(names: readonly string[], unknown: string): string {
  const longer = names.filter((name) => name.startsWith(`${unknown}_`));
  const meant = longer.length > 0 ? longer : nearNames(names, unknown);
  return meant.length === 0 ? "" : `; did you mean ${meant.join(" or ")}?`;
}

function knownKind(list: string, source: string, kinds: readonly ManifestKind[]): ManifestKind {
  const kind = kinds.find((each) => each.list === list);
  if (kind !== undefined) return kind;
  const lists = kinds.map((each) => each.list);
  const own = kinds.find(({ foreign }) => foreign !== true)!;
  const hint = FOREIGN_LISTS.has(list)
    ? `; write lists such as ${own.list}: [{ name: … }], not kind: ${own.singular}`
    : meantText(lists, list);
  throw usageFailure(`${source}: unknown list ${list}; a manifest has ${lists.join(", ")}${hint}`);
}

function read(kind: ManifestKind, item: unknown, where: string): Entry {
  if (!isObject(item)) throw usageFailure(`${where} must be an object`);
  const { fields } = kind;
  for (const field of Object.keys(item)) {
    if (!Object.hasOwn(fields, field)) {
      const names = Object.keys(fields);
      throw usageFailure(
        `${where}: unknown field ${field}; the fields are ${names.join(", ")}${meantText(names, field)}`,
      );
    }
  }
  const values: Record<string, unknown> = {};
  for (const [field, description] of Object.entries(fields)) {
    const value = item[field];
    if (value === undefined && description.required === true) throw usageFailure(`${where}: ${field} is missing`);
    if (value !== undefined) values[field] = valueOf(value, description, `${where}: ${field}`);
  }
  return entryOf(kind, kind.complete?.(values) ?? values);
}

function valueOf(value: unknown, { type, required }: Field, where: string): unknown {
  if (value === null && required !== true) return null;
  switch (type) {
    case "text":
      return expect(typeof value === "string", value, `${where} must be text`);
    case "boolean":
      return expect(typeof value === "boolean", value, `${where} must be true or false`);
    case "json":
      return value;
    case "number":
      return expect(Number.isSafeInteger(value), value, `${where} must be a whole number`);
    case "bytes":
      // A number is in bytes, because the field's name ends in `_bytes`. The server refuses a number that is too small.
      // A text follows the rules of the command line, where a small number needs a unit.
      return Number.isSafeInteger(value) && Number(value) >= 0 ? value : parseByteSize(String(value), where);
    case "block": {
      const parsed = typeof value === "string" ? parseBlock(value) : null;
      if (parsed === null) throw usageFailure(`${where} must be a block such as 10.0.0.0/24`);
      return blockText(parsed);
    }
    case "address": {
      const parsed = typeof value === "string" ? parseIp(value) : null;
      if (parsed === null) throw usageFailure(`${where} must be an IP address`);
      return formatIp(parsed);
    }
    case "object":
      return expect(isObject(value), value, `${where} must be an object`);
    case "texts":
      return expect(
        Array.isArray(value) && value.every((each) => typeof each === "string"),
        value,
        `${where} must be a list of names`,
      );
    case "objects":
      return expect(Array.isArray(value) && value.every(isObject), value, `${where} must be a list of objects`);
  }
}

function expect<T>(holds: boolean, value: T, message: string): T {
  if (!holds) throw usageFailure(message);
  return value;
}

function refuseRepeats(entries: readonly Entry[]): void {
  const seen = new Set<string>();
  for (const { list, key } of entries) {
    if (seen.has(`${list} ${key}`)) throw usageFailure(`the manifest has two ${list} with the name ${key}`);
    seen.add(`${list} ${key}`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
