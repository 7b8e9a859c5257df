// The error about an unreadable file names the option, the path and the reason in words, and has no system error code.
import { mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { fileProblem, fileReason } from "../../cli/internal/file-problem.ts";
import { runBooter } from "../../booter/program.ts";
import { runIndexBuilder } from "../../index-builder/program.ts";
import { fakeEnvironment } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";
import { tenantctl } from "./tenantctl/run.ts";
import { TENANT } from "./tenantctl/records.ts";

const ID = "3f2a9c1e-0000-4000-8000-00000000c0de";
const CREATE = ["instance", "create", "--name", "a", "--image", ID, "--subnet", ID, "--cpu", "1", "--memory", "1GiB"];
const UPLOAD = ["--tenant", TENANT, "--os", "linux", "--image-version", "1"];

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-files-"));
  await mkdir(join(folder, "directory"));
  await symlink("loop", join(folder, "loop"));
  await writeFile(join(folder, "file"), "x");
});

const PROBLEMS = [
  ["absent", "it does not exist"],
  ["directory", "it is a directory; name a file"],
  ["loop", "the symbolic links of the path form a loop"],
  ["file/inside", "a part of the path is not a directory"],
  ["x".repeat(300), "the name is too long"],
] as const;

test.each(PROBLEMS)(
  "every option and argument for a file reports the problem of the path %.20s",
  async (name, words) => {
    const path = join(folder, name);
    const runs = [
      ["--public-key-file", await tenantctl(["ssh-key", "create", "--name", "a", "--public-key-file", path])],
      ["--user-data-file", await tenantctl([...CREATE, "--tenant", TENANT, "--project", ID, "--user-data-file", path])],
      ["<file>", await tenantctl(["image", "upload", path, ...UPLOAD])],
      ["--key", await tenantctl(["image", "verify", "x", "--signature", "--key", path])],
      ["--script", await opsctl(["cn", "exec", "--script", path])],
    ] as const;
    for (const [named, ran] of runs) {
      expect([ran.code, ran.err()]).toEqual([1, `error: ${named}: cannot read ${path}: ${words}\n`]);
    }
  },
);

test("the error about a manifest that is a loop of links, or about a missing booter configuration, has the reason in words", async () => {
  const path = join(folder, "loop");
  const applied = await tenantctl(["apply", "-f", path, "--tenant", TENANT, "--project", ID]);
  expect(applied.err()).toContain("the symbolic links of the path form a loop");
  expect(applied.err()).not.toMatch(/ELOOP|ENOENT/);
  const booter = fakeEnvironment();
  expect(await runBooter(["check", "--config", join(folder, "absent")], booter.environment)).not.toBe(0);
  expect(booter.err()).toContain("absent: cannot be read: it does not exist");
});

test("the index builder's error about a missing key or folder has the reason in words, and the exit code is 3", async () => {
  const [absent, site] = [join(folder, "absent"), join(folder, "site")];
  await mkdir(join(site, "v1"), { recursive: true });
  await writeFile(join(site, "v1", "index.json"), "{}");
  const said = async (...argv: string[]) => {
    const { environment, err } = fakeEnvironment();
    return [await runIndexBuilder(argv, environment), err().trimEnd().split("\n").at(-1)];
  };
  expect(await said("verify", site, "--key", absent)).toEqual([
    3,
    `error: --key: cannot read ${absent}: it does not exist`,
  ]);
  expect(await said("all", "--site", site, "--recorded", absent)).toEqual([
    3,
    `error: cannot use ${join(absent, "responses.json")}: it does not exist`,
  ]);
});

test("a system error that ends a program is printed in words; other errors are unchanged", () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
  expect(fileProblem(full)).toBe("cannot write the output: no space is left on the disk");
  const absent = Object.assign(new Error("ENOENT: ..."), { code: "ENOENT", syscall: "open", path: "/a" });
  expect(fileProblem(absent)).toBe("cannot use /a: it does not exist");
  expect(fileProblem(new Error("a bug"))).toBeNull();
  expect(fileReason(new Error("a bug"))).toBe("a bug");
});
