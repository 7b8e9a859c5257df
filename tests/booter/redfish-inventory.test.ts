// `booter redfish inventory` reads the hardware from a BMC and can send it to the control plane. `opsctl cn hardware`
// shows the hardware.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { runBooter } from "../../booter/program.ts";
import { fakeEnvironment } from "../cli/fake-environment.ts";
import { opsctl } from "../cli/opsctl.ts";
import { awaitingSetup, newMachine } from "../setup/machine.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { serveControlPlane } from "./booter-process.ts";
import { openPeer, type Peer, ROOT, SYSTEM, usual } from "./redfish-peer.ts";

let t: TestControlPlane;
let socket: Awaited<ReturnType<typeof serveControlPlane>>;
let folder: TemporaryFolder;
let peer: Peer | null = null;
beforeAll(async () => {
  folder = await temporaryFolder("inventory");
  t = await openTestControlPlane();
  socket = await serveControlPlane(t, "127.0.0.1");
  await writeFile(join(folder.path, "key"), `${(await t.mintKey("booter")).secret}\n`, { mode: 0o600 });
  await writeFile(join(folder.path, "password"), "secret\n", { mode: 0o600 });
  await writeFile(
    join(folder.path, "booter.toml"),
    `state_dir = "${folder.path}"
files_dir = "${folder.path}"
[control_plane]
url = "${socket.url}"
key_file = "${folder.path}/key"
[[segment]]
address = "127.0.0.1"
prefix_len = 8
`,
  );
});
afterEach(async () => {
  await peer?.close();
  peer = null;
});
afterAll(async () => {
  await socket.close();
  await t.close();
  await folder.remove();
});

const link = (path: string) => ({ "@odata.id": path });
const members = (...paths: string[]) => ({ Members: paths.map(link) });

/** The resources of a rack server, by their paths. The BMC refuses one drive, and one memory slot is empty. */
function resources(uuid: string): Readonly<Record<string, Record<string, unknown>>> {
  return {
    "/redfish/v1/": { ...ROOT, UpdateService: link("/redfish/v1/UpdateService") },
    [SYSTEM]: {
      Manufacturer: "ACME",
      Model: "R 640\n",
      SKU: "D34623J",
      SerialNumber: "SN1",
      UUID: uuid.toUpperCase(),
      BiosVersion: "2.1.8",
      MemorySummary: { TotalSystemMemoryGiB: 128 },
      Status: { Health: "Warning", HealthRollup: "Critical" },
      Processors: link(`${SYSTEM}/Processors`),
      Memory: link(`${SYSTEM}/Memory`),
      Storage: link(`${SYSTEM}/Storage`),
      EthernetInterfaces: link(`${SYSTEM}/EthernetInterfaces`),
      Links: { ManagedBy: [link("/redfish/v1/Managers/1")] },
    },
    [`${SYSTEM}/Processors`]: {
      Members: [{ ...link(`${SYSTEM}/Processors/1`), Id: "CPU.1", Model: "Xeon", TotalCores: 16, TotalThreads: 32 }],
    },
    [`${SYSTEM}/Memory`]: {
      ...members(`${SYSTEM}/Memory/1`),
      "Members@odata.nextLink": `${SYSTEM}/Memory?$skip=1`,
    },
    [`${SYSTEM}/Memory?$skip=1`]: members(`${SYSTEM}/Memory/2`),
    [`${SYSTEM}/Memory/1`]: { DeviceLocator: "A1", PartNumber: "M393", SerialNumber: "S1", CapacityMiB: 65_536 },
    [`${SYSTEM}/Memory/2`]: { DeviceLocator: "A2", Status: { State: "Absent" } },
    [`${SYSTEM}/Storage`]: members(`${SYSTEM}/Storage/1`),
    [`${SYSTEM}/Storage/1`]: { Drives: [link(`${SYSTEM}/Storage/1/Drives/0`), link(`${SYSTEM}/Storage/1/Drives/1`)] },
    [`${SYSTEM}/Storage/1/Drives/0`]: {
      Name: "Bay 0",
      Model: "PM9A3",
      SerialNumber: "D0",
      Revision: "GDC7",
      CapacityBytes: 960_197_124_096,
      Status: { Health: "OK" },
    },
    [`${SYSTEM}/EthernetInterfaces`]: members(`${SYSTEM}/EthernetInterfaces/1`),
    [`${SYSTEM}/EthernetInterfaces/1`]: {
      Id: "NIC.1",
      MACAddress: "52-54-00-AA-00-01",
      LinkStatus: "LinkUp",
      SpeedMbps: 25_000,
    },
    "/redfish/v1/Managers/1": { Model: "iBMC", FirmwareVersion: "7.10.30" },
    "/redfish/v1/UpdateService": { FirmwareInventory: link("/redfish/v1/UpdateService/FirmwareInventory") },
    "/redfish/v1/UpdateService/FirmwareInventory": members("/redfish/v1/UpdateService/FirmwareInventory/BIOS"),
    "/redfish/v1/UpdateService/FirmwareInventory/BIOS": { Name: "BIOS", Version: "2.1.8" },
  };
}

async function bmcOf(uuid: string): Promise<Peer> {
  const known = resources(uuid);
  return await openPeer(usual(({ method, path }) => {
    const body = method === "GET" ? known[path] : undefined;
    return body === undefined ? undefined : { body };
  }));
}

async function inventory(...more: string[]) {
  const { environment, out, err } = fakeEnvironment();
  const login = ["--host", `http://127.0.0.1:${peer!.port}`, "--user", "admin"];
  const argv = ["redfish", ...login, "--password-file", join(folder.path, "password"), "inventory", ...more];
  return { code: await runBooter(argv, environment), out: out(), err: err() };
}

const report = ["--report", "--config"] as const;
const hardwareOf = async (uuid: string) => (await t.call("GET", `/v1/cns/${uuid}/hardware`)).body;

test("the command prints the hardware that the BMC shows, without parts that the BMC refuses or that are absent", async () => {
  const { server_uuid } = newMachine();
  peer = await bmcOf(server_uuid);
  const { code, out } = await inventory();
  expect([code, JSON.parse(out)]).toEqual([0, {
    system: {
      manufacturer: "ACME",
      model: "R 640?",
      sku: "D34623J",
      serial_number: "SN1",
      uuid: server_uuid.toUpperCase(),
      bios_version: "2.1.8",
      memory_bytes: 137_438_953_472,
      health: "Critical",
    },
    bmc: { model: "iBMC", firmware_version: "7.10.30" },
    processors: [{ name: "CPU.1", model: "Xeon", cores: 16, threads: 32, health: null }],
    memory: [{ name: "A1", part_number: "M393", serial_number: "S1", size_bytes: 68_719_476_736, health: null }],
    drives: [{
      name: "Bay 0",
      model: "PM9A3",
      serial_number: "D0",
      firmware_version: "GDC7",
      size_bytes: 960_197_124_096,
      health: "OK",
    }],
    ports: [{ name: "NIC.1", mac: "52:54:00:aa:00:01", link: "LinkUp", speed_mbps: 25_000 }],
    firmware: [{ name: "BIOS", version: "2.1.8" }],
  }]);
  expect(peer.asked.map(({ path }) => path)).not.toContain(`${SYSTEM}/Processors/1`);
  expect(peer.asked.at(-1)?.method).toBe("DELETE");
});

test("--report stores the hardware at the node with the system's UUID, and opsctl shows it", async () => {
  const { server_uuid } = await awaitingSetup(t);
  expect(await hardwareOf(server_uuid)).toBeNull();
  peer = await bmcOf(server_uuid);
  expect(await inventory(...report, join(folder.path, "booter.toml"))).toMatchObject({
    code: 0,
    out: `sent the hardware of node ${server_uuid}; see: opsctl cn hardware ${server_uuid}\n`,
  });
  expect(await hardwareOf(server_uuid)).toMatchObject({
    system: { serial_number: "SN1" },
    read_at: expect.stringMatching(/Z$/),
    read_by: expect.any(String),
  });
  const ran = await opsctl(["cn", "hardware", server_uuid], {
    server: async ({ method, path }) => {
      const { status, body } = await t.call(method, path);
      return { status, body };
    },
  });
  const text = ran.out();
  expect(text).toMatch(/^announced by the machine:\n(.*\n)*serial_number: +\S+/);
  expect(text).toMatch(/shown by its BMC:\nmanufacturer: +ACME\n/);
  expect(text).toMatch(/^Bay 0 +960 GB +PM9A3 +D0 +GDC7 +OK$/m);
  expect(text).toMatch(/^BIOS +2\.1\.8$/m);
});

test("--report for a UUID without a node fails and names --node, which chooses another node", async () => {
  const { server_uuid } = await awaitingSetup(t);
  peer = await bmcOf(newMachine().server_uuid);
  const config = join(folder.path, "booter.toml");
  const refused = await inventory(...report, config);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("pass --node")]);
  expect((await inventory(...report, config, "--node", server_uuid)).code).toBe(0);
  expect(await hardwareOf(server_uuid)).toMatchObject({ system: { model: "R 640?" } });
});
