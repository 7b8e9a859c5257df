// Opens the VMs of a node with the production code of the driver. Only QEMU is replaced: the agent takes another
// process for QEMU, and the test decides what the monitor of this process answers.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import type { Vms } from "../../nodeagent/driver.ts";
import { openDocumentStore } from "../../nodeagent/network/document-store.ts";
import { createNodeNetwork, type NodeNetwork } from "../../nodeagent/network/node-network.ts";
import type { NetworkDriver } from "../../nodeagent/network/network-driver.ts";
import { simulatedNetwork } from "../../nodeagent/network/simulated.ts";
import { type Folders, placesOf } from "../../nodeagent/qemu/folders.ts";
import { detectHost } from "../../nodeagent/qemu/host.ts";
import type { Moves } from "../../nodeagent/qemu/vm-arrival.ts";
import { createVmPower } from "../../nodeagent/qemu/vm-power.ts";
import type { VmRecord } from "../../nodeagent/qemu/vm-record.ts";
import { openVmStore } from "../../nodeagent/qemu/vm-store.ts";
import { qemuVms } from "../../nodeagent/qemu/vms.ts";
import { type Command, type FakeMonitor, fakeMonitor } from "./qmp-monitor.ts";

export type StandInVms = Moves & {
  readonly vms: Vms;
  readonly network: NodeNetwork;
  readonly folders: Folders;
  /** Lines that the agent logged. */
  readonly log: string[];
  /** Stores a VM without a process, and returns its id. */
  add(fields?: Partial<VmRecord>): Promise<string>;
  /** Starts a process that the agent takes for the VM's QEMU. If a file is given, the process opens the file. */
  startProcess(id: string, file?: string): void;
  /** Opens the monitor of the VM's QEMU. The command `quit` ends the process. */
  openMonitor(id: string, answer?: (command: Command) => object | null): Promise<FakeMonitor>;
  close(): Promise<void>;
};

/** Opens the VMs of a node. Their records are in the folder `lib` of `path`. */
export async function openStandInVms(path: string, driver: NetworkDriver = simulatedNetwork()): Promise<StandInVms> {
  const stop = new AbortController();
  const folders = { machine_dir: join(path, "lib"), run_dir: join(path, "run") };
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const host = await detectHost({ folders, signal: stop.signal, log });
  const store = await openVmStore(folders, log);
  const network = createNodeNetwork({
    driver,
    store: await openDocumentStore(join(path, "network"), log),
    log,
    services: null,
    monotonicMs: () => performance.now(),
  });
  const power = createVmPower({ host, store, network, admit: () => null });
  const bindings = { change: () => Promise.resolve() };
  const vms = qemuVms({ host, store, power, network, bindings });
  const processes = new Map<string, ChildProcess>();
  const monitors: FakeMonitor[] = [];
  const end = (id: string) => void processes.get(id)?.kill("SIGKILL");

  return {
    host,
    store,
    power,
    vms,
    network,
    folders,
    log: lines,
    add: async (fields) => {
      const id = randomUUID();
      await store.put({ ...vmRecord(id, process.getuid!()), ...fields });
      return id;
    },
    startProcess: (id, file = "/dev/null") => {
      const opened = openSync(file, "r");
      // The agent recognizes QEMU by the UUID among its arguments, and by its user, which is here the user of the test.
      const argv = ["-c", "read line", "sh", "-uuid", id];
      processes.set(id, spawn("sh", argv, { stdio: ["pipe", "pipe", "pipe", opened] }));
      closeSync(opened);
    },
    openMonitor: async (id, answer = () => ({ return: {} })) => {
      const monitor = await fakeMonitor((command) => {
        if (command.execute === "quit") end(id);
        const message = answer(command);
        // The agent looks for interrupted copies with this command. The monitors of most tests do not answer the
        // command, so the answer is an empty list.
        return command.execute !== "query-named-block-nodes" || hasList(message) ? message : { return: [] };
      });
      monitors.push(monitor);
      const { run_folder, socket } = placesOf(folders, id);
      await mkdir(run_folder, { recursive: true });
      await symlink(monitor.path, socket("qmp"));
      return monitor;
    },
    close: async () => {
      stop.abort();
      for (const id of processes.keys()) end(id);
      for (const monitor of monitors) await monitor.remove();
    },
  };
}

function hasList(message: object | null): boolean {
  return message !== null && "return" in message && Array.isArray(message.return);
}

export function vmRecord(id: string, uid: number): VmRecord {
  return {
    id,
    uid,
    name: id,
    brand: "kvm",
    owner_uuid: id,
    cpu: 1,
    memory_bytes: 2 ** 30,
    firmware: "bios",
    disks: [],
    nics: [],
    internal_metadata: {},
    power: "off",
    boot_id: "boot-1",
    end: null,
    last_modified: "",
  };
}
