// Tests that the agent ends the copies of disks that an earlier agent left in a running QEMU. QEMU and the guest agent
// are replaced; tests/machines/interrupted-copy.test.ts uses real ones.
import { randomUUID } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { beforeEach, expect, test } from "vitest";
import { dataNames } from "../../nodeagent/qemu/block-nodes.ts";
import { endInterruptedCopies } from "../../nodeagent/qemu/disk-copies.ts";
import { placesOf, type VmPlaces } from "../../nodeagent/qemu/folders.ts";
import type { Qmp } from "../../nodeagent/qemu/qmp.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import type { Command } from "./qmp-monitor.ts";
import { openStandInVms, type StandInVms } from "./stand-in-vms.ts";

const SNAPSHOT = randomUUID();
const { node: DISK_NODE, file_node: FILE_NODE } = dataNames(SNAPSHOT);

let folder: TemporaryFolder;
let node: StandInVms;
let id: string;
let places: VmPlaces;
let close: () => void;
beforeEach(async () => {
  // The folder's name is short, because Linux limits the length of a socket's path.
  folder = await temporaryFolder("vm");
  node = await openStandInVms(folder.path);
  id = await node.add({ power: "on" });
  places = placesOf(node.folders, id);
  close = () => {};
  node.startProcess(id);
  return async () => {
    close();
    await node.close();
    await folder.remove();
  };
});

/** A QEMU with one copy in progress. QEMU refuses to delete a block node that the copy job uses. */
function copyingQemu() {
  let job: string | null = "running";
  let nodes = [DISK_NODE, FILE_NODE, "disk0"];
  const answer = ({ execute, arguments: given }: Command): object => {
    switch (execute) {
      case "query-status":
        return { return: { status: "running" } };
      case "query-jobs":
        return { return: job === null ? [] : [{ id: `copy-${SNAPSHOT}`, status: job }] };
      case "job-cancel":
        job = "concluded";
        return { return: {} };
      case "job-dismiss":
        job = null;
        return { return: {} };
      case "query-named-block-nodes":
        return {
          return: nodes.map((name) => ({
            "node-name": name,
            file: name === "disk0" ? places.disk(randomUUID()) : `${places.disk(SNAPSHOT)}.copy`,
          })),
        };
      case "blockdev-del":
        if (job !== null) return { error: { class: "GenericError", desc: "Node is in use" } };
        nodes = nodes.filter((name) => name !== (given as { "node-name": string })["node-name"]);
        return { return: {} };
      default:
        return { return: {} };
    }
  };
  return { answer, left: () => ({ job, nodes }) };
}

/** Opens a guest agent that answers from the second connection on. Returns the commands that it received. */
async function lateGuestAgent(): Promise<string[]> {
  const received: string[] = [];
  let connections = 0;
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    connections += 1;
    if (connections === 1) return;
    socket.on("data", (chunk) => {
      for (const line of chunk.toString("latin1").split("\n").filter((each) => each !== "")) {
        const { execute, arguments: given } = JSON.parse(line.replaceAll("\xff", ""));
        received.push(execute);
        socket.write(`${JSON.stringify({ return: execute === "guest-sync-delimited" ? given.id : 1 })}\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(places.socket("qga"), resolve));
  close = () => void server.close();
  return received;
}

test("an agent that connects to QEMU again ends the copy, removes its draft, and thaws a guest that answers late", async () => {
  const { answer, left } = copyingQemu();
  await writeFile(`${places.disk(SNAPSHOT)}.copy`, "");
  await node.openMonitor(id, answer);
  const received = await lateGuestAgent();
  await node.power.recover();
  // The next work on the VM begins when the copy has ended.
  expect(await node.power.serialized(id, () => Promise.resolve(left()))).toEqual({ job: null, nodes: ["disk0"] });
  expect(received).toEqual(["guest-sync-delimited", "guest-fsfreeze-thaw"]);
  expect((await readdir(places.folder)).filter((name) => name.startsWith("disk-"))).toEqual([]);
  expect(node.log).toEqual([`ended the interrupted copy of a disk to snapshot ${SNAPSHOT}`]);
});

test("a draft that QEMU does not have open is removed, and the guest is not thawed", async () => {
  await writeFile(`${places.disk(SNAPSHOT)}.copy`, "");
  await writeFile(`${places.disk(SNAPSHOT)}.copy.new`, "");
  const { commands } = await node.openMonitor(id, ({ execute }) => ({
    return: execute === "query-status" ? { status: "running" } : [],
  }));
  const received = await lateGuestAgent();
  await node.power.recover();
  await node.power.serialized(id, () => Promise.resolve());
  expect((await readdir(places.folder)).filter((name) => name.startsWith("disk-"))).toEqual([]);
  expect(commands.map(({ execute }) => execute)).not.toContain("blockdev-del");
  expect(received).toEqual([]);
});

test("a copy that QEMU cannot end delays the VM's next job only until the limit, and the other copies are ended", async () => {
  const [hung, other] = [randomUUID(), randomUUID()].sort() as [string, string];
  for (const snapshot of [hung, other]) await writeFile(`${places.disk(snapshot)}.copy`, "");
  const execute = (command: string) =>
    Promise.resolve(command === "query-jobs" ? [{ id: `copy-${hung}`, status: "aborting" }] : []);
  const log: string[] = [];
  const host = { signal: new AbortController().signal, log: (line: string) => void log.push(line) };
  // The function calls only `execute` of the connection.
  await endInterruptedCopies({ execute } as unknown as Qmp, places, host, 50);
  const ended = `ended the interrupted copy of a disk to snapshot ${other}`;
  expect(log).toHaveLength(2);
  expect(log).toContain(ended);
  expect(log.find((line) => line !== ended)).toMatch(`cannot end the interrupted copy of a disk to snapshot ${hung}: `);
});
