// Reads the SQL files of this build: the numbered migrations, and the current text of each function. Checksums are
// computed with LF line ends, so a checkout with CRLF gives the same checksums. After databases have applied a
// migration, its comments may change, but not its statements (first-checksums.ts).
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { FIRST_CHECKSUMS } from "./first-checksums.ts";

export type SqlFile = {
  /** The file name, for example 0001_roles.sql; for a function, the name of the function. */
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
};

export type Migration = SqlFile & { readonly number: number };

const FOLDER = new URL("../../migrations/", import.meta.url);
const MIGRATION_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
const FUNCTION_NAME = /^([a-z0-9_]+)\.sql$/;
/** The canonical schema, printed by `deno task schema`. It is never applied. */
const SCHEMA = "schema.sql";
/** The migrations with rewritten comments, by name. */
const FIRST = new Map(
  FIRST_CHECKSUMS.trim().split("\n").map((line) => {
    const [name = "", sha256 = "", statements = ""] = line.split(" ");
    return [name, { sha256, statements }] as const;
  }),
);

/**
 * Returns the numbered migrations of a folder, in order. Throws an Error that names the file if a name has another
 * form, or if two files have the same number.
 */
export async function readMigrations(folder: URL = FOLDER): Promise<readonly Migration[]> {
  const files = (await readFolder(folder)).filter(({ name }) => name !== SCHEMA);
  const migrations = files.map((file): Migration => {
    const number = MIGRATION_NAME.exec(file.name)?.[1];
    if (number === undefined) throw new Error(`migrations/${file.name} must be named NNNN_subject.sql, in lower case.`);
    return { ...file, sha256: appliedChecksum(file), number: Number(number) };
  });
  for (const [index, { name, number }] of migrations.entries()) {
    const before = migrations[index - 1];
    if (before?.number === number) {
      throw new Error(`migrations/${before.name} and ${name} have the same number: give one the next free number.`);
    }
  }
  return migrations;
}

/** Returns the checksum that databases record. Rewritten comments do not change it. */
function appliedChecksum({ name, sql, sha256 }: SqlFile): string {
  const first = FIRST.get(name);
  return first !== undefined && first.statements === sha256Of(withoutComments(sql)) ? first.sha256 : sha256;
}

/** Removes the lines that are only a comment. Keeps such lines in the bodies of functions, which are between $$. */
function withoutComments(sql: string): string {
  const parts = sql.split("$$");
  return parts.map((part, index) => index % 2 === 0 ? part.replace(/^[ \t]*--.*\n/gm, "") : part).join("$$");
}

/**
 * Returns the files of `functions/` in a folder of migrations. Throws an Error if a file does not create the function
 * that it is named after.
 */
export async function readFunctions(folder: URL = FOLDER): Promise<readonly SqlFile[]> {
  return (await readFolder(new URL("functions/", folder))).map((file) => {
    const name = FUNCTION_NAME.exec(file.name)?.[1];
    if (name === undefined || !file.sql.includes(`create or replace function ${name}(`)) {
      throw new Error(`migrations/functions/${file.name} must be named as the function that it creates or replaces.`);
    }
    return { ...file, name };
  });
}

/** Returns the SQL files of a folder, sorted by name; an empty list if the folder does not exist. */
async function readFolder(folder: URL): Promise<readonly SqlFile[]> {
  const entries = await readdir(fileURLToPath(folder)).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const names = entries.filter((name) => name.endsWith(".sql")).sort();
  return await Promise.all(names.map((name) => readSql(new URL(name, folder))));
}

async function readSql(file: URL): Promise<SqlFile> {
  const sql = (await readFile(file, "utf8")).replaceAll("\r\n", "\n");
  return { name: basename(fileURLToPath(file)), sql, sha256: sha256Of(sql) };
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
