// Runs the archive_command of the backup guide in the way that PostgreSQL does, but without PostgreSQL.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { settingsIn } from "./guide.ts";
import { ROOT } from "./run.ts";

const SEGMENT = "000000010000000000000001";
const BYTES = randomBytes(100_000);

let folder: TemporaryFolder;
let command: string;
beforeEach(async (context) => {
  needs(context, "cmp");
  folder = await temporaryFolder("archive");
  for (const name of ["data", "archive", "bin"]) await mkdir(join(folder.path, name));
  await writeFile(join(folder.path, "data", SEGMENT), BYTES);
  const [settings = ""] = settingsIn(await readFile(join(ROOT, "docs/guides/backup.md"), "utf8"), "ini");
  const quoted = /^archive_command = '(.*)'$/m.exec(settings)?.[1] ?? expect.fail("no archive_command");
  command = quoted.replaceAll("''", "'").replaceAll("/var/backups/berth", join(folder.path, "archive"))
    .replaceAll("%p", SEGMENT).replaceAll("%f", SEGMENT);
});
afterEach(() => folder?.remove());

function archive(path = process.env.PATH): number | null {
  return spawnSync("sh", ["-c", command], { cwd: join(folder.path, "data"), env: { PATH: path } }).status;
}

const archived = () => readFile(join(folder.path, "archive", SEGMENT));

test("after a kill during the copy, the next run archives the whole segment", async () => {
  const killed = join(folder.path, "bin", "cp");
  await writeFile(killed, `#!/bin/sh\nhead -c 1000 "$1" > "$2"\nkill -KILL $$\n`);
  await chmod(killed, 0o755);
  expect(archive(`${join(folder.path, "bin")}:${process.env.PATH}`)).not.toBe(0);
  await expect(archived()).rejects.toThrow(/ENOENT/);
  expect(archive()).toBe(0);
  expect(await archived()).toEqual(BYTES);
  expect(await readdir(join(folder.path, "archive"))).toEqual([SEGMENT]);
});

test("a segment that is already archived is accepted, and an archived segment with other content is not overwritten", async () => {
  expect(archive()).toBe(0);
  expect(archive()).toBe(0);
  await writeFile(join(folder.path, "archive", SEGMENT), "of another server");
  expect(archive()).not.toBe(0);
  expect((await archived()).toString()).toBe("of another server");
});
