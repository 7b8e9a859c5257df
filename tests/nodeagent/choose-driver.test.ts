// Tests the choice of the driver on a machine that cannot run VMs, because QEMU's users cannot enter a parent of the
// folder for VMs.
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { processEnvironment } from "../../cli/internal/environment.ts";
import { chooseDriver, type DriverName } from "../../nodeagent/choose-driver.ts";
import { checkMachine } from "../../nodeagent/qemu/check-machine.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

let folder: TemporaryFolder;
let closed: string;
const log: string[] = [];

beforeAll(async () => {
  folder = await temporaryFolder("choose");
  await chmod(folder.path, 0o711);
  closed = join(folder.path, "closed");
  await mkdir(closed, { mode: 0o700 });
});
afterAll(() => folder.remove());

const folders = () => ({ machine_dir: join(closed, "lib"), run_dir: join(folder.path, "run") });
const choose = (name: DriverName) =>
  chooseDriver({
    name,
    state_dir: folder.path,
    folders: folders(),
    server_uuid: undefined,
    hostname: undefined,
    disk_reserve: 0,
    nic_tags: [],
    underlay_address: null,
    ownInstances: () => Promise.resolve(null),
    environment: processEnvironment(new AbortController().signal),
    log: (line) => void log.push(line),
  });

test("the check names the folder that QEMU's users cannot enter, and the command that lets them enter", async () => {
  const finding = (await checkMachine(folders())).find(({ subject }) => subject === folders().machine_dir);
  expect(finding).toEqual({
    subject: folders().machine_dir,
    severity: "missing",
    note: `QEMU's users cannot enter ${closed}: chmod o+x ${closed}`,
  });
});

test("the choice of the driver qemu fails with the reason", async () => {
  await expect(choose("qemu")).rejects.toThrow(/this machine cannot run VMs: .*; run nodeagent check/);
});

test("with auto, the simulated driver is chosen, and the log contains the reason", async () => {
  const driver = await choose("auto");
  expect(driver.images).toBeNull();
  expect(log).toEqual([expect.stringMatching(/^driver: simulated, because this machine cannot run VMs: .*lib/)]);
});

test("with auto, a node that ran with QEMU is not simulated", async () => {
  await writeFile(join(folder.path, "machine.json"), "{}\n", { mode: 0o600 });
  await expect(choose("auto")).rejects.toThrow(/this machine cannot run VMs: .*; run nodeagent check/);
});
