// writeFileDurably writes a private file as a draft, and then renames the draft. Tests that removeDrafts removes the
// drafts of killed processes.
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeDrafts, writeFileDurably } from "../../cli/internal/private-file.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("drafts of killed processes are removed, and no other file is removed", async () => {
  const folder = await temporaryFolder("drafts");
  await mkdir(join(folder.path, "network"));
  await writeFileDurably(join(folder.path, "jobs.json"), "[]");
  const draft = `jobs.json.${crypto.randomUUID()}.tmp`;
  for (const name of [draft, join("network", draft), "notes.tmp"]) await writeFile(join(folder.path, name), "[");
  await removeDrafts(folder.path);
  expect((await readdir(folder.path, { recursive: true })).sort()).toEqual(["jobs.json", "network", "notes.tmp"]);
  await removeDrafts(join(folder.path, "missing"));
  await folder.remove();
});
