// The numbered SQL files of this build. A file's checksum is of its text, so that a checkout with other line ends agrees.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

export type Migration = {
  readonly number: number;
  /** File name, for example 0001_roles.sql. */
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
};

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

/** All migrations of a folder, in order. Throws an Error that names a file whose name or number is wrong. */
export async function readMigrations(
  folder: URL = new URL("../../migrations/", import.meta.url),
): Promise<readonly Migration[]> {
  const names = (await readdir(fileURLToPath(folder))).filter((name) => name.endsWith(".sql")).sort();
  const migrations = await Promise.all(names.map((name) => readMigration(new URL(name, folder))));
  migrations.reduce<Migration | null>((before, migration) => {
    if (before?.number === migration.number) {
      throw new Error(
        `migrations/${before.name} and ${migration.name} have one number: give one the next free number.`,
      );
    }
    return migration;
  }, null);
  return migrations;
}

async function readMigration(file: URL): Promise<Migration> {
  const name = basename(fileURLToPath(file));
  const number = FILE_NAME.exec(name)?.[1];
  if (number === undefined) throw new Error(`migrations/${name} must be named NNNN_subject.sql, in lower case.`);
  const sql = (await readFile(file, "utf8")).replaceAll("\r\n", "\n");
  return { number: Number(number), name, sql, sha256: createHash("sha256").update(sql).digest("hex") };
}
