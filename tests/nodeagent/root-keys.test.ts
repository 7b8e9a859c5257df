// Tests root's keys on a node with a Linux node image. The image's own storage program runs in a small root file
// system, where only the commands for disks are replaced. The agent's own function writes the keys that an operator
// sets (cn.root_authorized_keys).
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test, type TestContext } from "vitest";
import { BOOT_KEYS_FILE, writeRootKeys } from "../../nodeagent/qemu/root-keys.ts";
import { ROOT } from "../lint/sources.ts";
import { lacking, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);
const UUID = "7c1f2a60-4f6e-4a52-9d0b-3a6d0a5b1c05";
const [STAYS, REMOVED] = ["ssh-ed25519 AAAAstays operator@desk", "ssh-ed25519 AAAAremoved former@desk"] as const;
/** The files that sshd reads by default. */
const KEY_FILES = ["authorized_keys", "authorized_keys2"];
const ENTER = 'mount --bind /usr "$1/usr" && mount --bind /dev "$1/dev" && exec chroot "$1" /storage';
const lacks = lacking("unshare", "mount", "chroot", "ssh-keygen") ??
  (process.getuid?.() === 0 ? null : "a mount needs root");

let folder: TemporaryFolder;
const at = (path: string) => join(folder.path, path);
const needsRoot = ({ skip }: TestContext) => skip(lacks !== null, lacks ?? "");
beforeAll(async () => {
  folder = await temporaryFolder("root-keys");
  for (const path of ["usr", "dev", "run", "etc", "var/lib", "fake", "sys/class/dmi/id"]) {
    await mkdir(at(path), { recursive: true });
  }
  for (const name of ["bin", "sbin", "lib", "lib64"]) await symlink(`usr/${name}`, at(name));
  await writeFile(at("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
  await writeFile(at("sys/class/dmi/id/product_uuid"), `${UUID.toUpperCase()}\n`);
  for (const name of ["mdadm", "vgs", "vgchange", "udevadm", "mountpoint", "mount"]) {
    await writeFile(at(`fake/${name}`), name === "vgs" ? `#!/bin/sh\necho berth-${UUID}\n` : "#!/bin/sh\n", {
      mode: 0o755,
    });
  }
  await cp(join(ROOT, "cli/release/node-image/storage.sh"), at("storage"));
  await chmod(at("storage"), 0o755);
});
afterAll(() => folder.remove());
beforeEach(() => rm(at("zones"), { recursive: true, force: true }));

/** Boots the node: /root and /run are new, and /zones is on the disks. */
async function boot(): Promise<void> {
  await rm(at("root"), { recursive: true, force: true });
  await rm(at("run/berth"), { recursive: true, force: true });
  await mkdir(at("root"));
  await mkdir(at("run/berth"));
  const env = { PATH: `/fake:${process.env.PATH}` };
  await run(present("unshare"), ["--mount", "sh", "-c", ENTER, "sh", folder.path], { env });
}

/** Returns the keys that sshd accepts for root. */
async function accepted(): Promise<string[]> {
  const texts = await Promise.all(KEY_FILES.map((name) => readFile(at(`root/.ssh/${name}`), "utf8").catch(() => "")));
  return texts.join("").split("\n").filter((line) => line.startsWith("ssh-"));
}

const configure = (...keys: string[]) => writeRootKeys(keys, at("root"), at(BOOT_KEYS_FILE));

test("a key that an operator removes cannot log in any more, at once and after the next boot", async (context) => {
  needsRoot(context);
  await mkdir(at("zones/config"), { recursive: true });
  await writeFile(at(BOOT_KEYS_FILE), `${STAYS}\n${REMOVED}\n`, { mode: 0o600 });
  await boot();
  // The keys work before the agent has a connection, so that an operator can repair a node without a connection.
  expect(await accepted()).toEqual([STAYS, REMOVED]);
  await configure(STAYS);
  expect(await accepted()).toEqual([STAYS]);
  await boot();
  expect(await accepted()).toEqual([STAYS]);
  await configure();
  expect(await accepted()).toEqual([]);
  await boot();
  expect(await accepted()).toEqual([]);
  for (const path of [BOOT_KEYS_FILE, "root/.ssh/authorized_keys2"]) {
    expect((await stat(at(path))).mode & 0o777, path).toBe(0o600);
  }
});

test("on a node without /zones, the agent keeps an administrator's authorized_keys, and creates no file for the next boot", async () => {
  await mkdir(at("root/.ssh"), { recursive: true });
  await writeFile(at("root/.ssh/authorized_keys"), `${STAYS}\n`);
  await configure(REMOVED);
  await configure();
  expect(await accepted()).toEqual([STAYS]);
  await expect(stat(at("zones"))).rejects.toThrow("ENOENT");
});
