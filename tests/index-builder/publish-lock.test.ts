// Tests the lock that lets only one index-builder publish a site at a time.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { takeLock } from "../../index-builder/publish/lock.ts";
import { siteAt } from "../../index-builder/publish/site.ts";
import { index, T0 } from "./publish-fixture.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "index-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

test("only one of ten concurrent builders gets the lock; after its release, another builder can get the lock", async () => {
  const generations = join(folder, "locks");
  await mkdir(generations);
  for (let round = 0; round < 20; round++) {
    const taken = (await Promise.all(Array.from({ length: 10 }, () => takeLock(generations)))).filter((lock) =>
      lock !== null
    );
    expect(taken.length).toBe(1);
    expect(await takeLock(generations)).toBeNull();
    await taken[0]!.release();
  }
  expect((await readdir(generations)).length).toBeLessThan(4);
});

test("the lock of a dead process does not block other builders", async () => {
  const generations = join(folder, "dead");
  await mkdir(generations);
  const { stdout } = await promisify(execFile)("sh", ["-c", "echo $$"]);
  await writeFile(join(generations, "lock.7"), `${stdout.trim()} 12345`);
  const lock = await takeLock(generations);
  expect(lock).not.toBeNull();
  expect((await index("all", "--site", join(folder, "dead-site"), ...T0)).code).toBe(0);
});

test("a process of another user holds the lock, even if its start time cannot be read", async () => {
  const generations = join(folder, "other-user");
  await mkdir(generations);
  await writeFile(join(generations, "lock.7"), "4321 12345");
  const hidden = (code: string) => ({
    stat: () => Promise.resolve(null),
    check: () => {
      throw Object.assign(new Error(code), { code });
    },
  });
  expect(await takeLock(generations, hidden("EPERM"))).toBeNull();
  expect(await takeLock(generations, hidden("ESRCH"))).not.toBeNull();
});

test("while another builder runs, the program ends with exit code 75", async () => {
  const site = siteAt(join(folder, "busy"));
  await mkdir(site.generations);
  const lock = await takeLock(site.generations);
  expect((await index("all", "--site", site.link, ...T0)).code).toBe(75);
  await lock!.release();
  expect((await index("all", "--site", site.link, ...T0)).code).toBe(0);
});
