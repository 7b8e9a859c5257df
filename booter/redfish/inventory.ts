// Reads the hardware and the firmware of a system from its BMC. BMCs show different parts of the hardware. The values
// of a resource that is missing or refused are null. The list of a collection that is missing or refused is empty. A
// resource that is embedded in its collection is not requested again.
import type { Hardware } from "../../src/contract/hardware.ts";
import { HARDWARE_PARTS_MAX, HARDWARE_TEXT_CHARS_MAX } from "../../src/contract/limits.ts";
import { canonicalMac } from "../../src/lib/net/mac.ts";
import { type Bmc, BmcFault } from "./bmc.ts";
import { bagOf, linkOf } from "./messages.ts";
import type { System } from "./system.ts";

type Bag = Readonly<Record<string, unknown>>;
type Reader = { one(link: unknown): Promise<Bag | null>; all(link: unknown): Promise<Bag[]> };

const GIB = 1_073_741_824;
const MIB = 1_048_576;

export async function readHardware(bmc: Bmc, { body: system }: System): Promise<Hardware> {
  const reader = readerOf(bmc);
  const [manager] = listOf(bagOf(system.Links).ManagedBy);
  const processors = await reader.all(system.Processors);
  const memory = await reader.all(system.Memory);
  const ports = await reader.all(system.EthernetInterfaces);
  return {
    system: {
      manufacturer: text(system.Manufacturer),
      model: text(system.Model),
      sku: text(system.SKU),
      serial_number: text(system.SerialNumber),
      uuid: text(system.UUID),
      bios_version: text(system.BiosVersion),
      memory_bytes: bytes(bagOf(system.MemorySummary).TotalSystemMemoryGiB, GIB),
      health: healthOf(system),
    },
    bmc: bmcOf(await reader.one(manager)),
    // BMCs also list empty sockets and slots.
    processors: processors.filter(isPresent).map((each) => ({
      name: nameOf(each),
      model: text(each.Model),
      cores: count(each.TotalCores),
      threads: count(each.TotalThreads),
      health: healthOf(each),
    })),
    memory: memory.filter(isPresent).map((each) => ({
      name: text(each.DeviceLocator) ?? nameOf(each),
      part_number: text(each.PartNumber),
      serial_number: text(each.SerialNumber),
      size_bytes: bytes(each.CapacityMiB, MIB),
      health: healthOf(each),
    })),
    drives: (await drivesOf(reader, system)).filter(isPresent).map((each) => ({
      name: nameOf(each),
      model: text(each.Model),
      serial_number: text(each.SerialNumber),
      firmware_version: text(each.Revision ?? each.FirmwareVersion),
      size_bytes: count(each.CapacityBytes),
      health: healthOf(each),
    })),
    ports: ports.map((each) => ({
      name: nameOf(each),
      mac: canonicalMac(String(each.PermanentMACAddress ?? each.MACAddress ?? "")),
      link: text(each.LinkStatus),
      speed_mbps: count(each.SpeedMbps),
    })),
    firmware: await firmwareOf(reader),
  };
}

/** Returns the drives of the storage controllers. Older BMCs list their drives as devices of SimpleStorage instead. */
async function drivesOf(reader: Reader, system: Bag): Promise<Bag[]> {
  const drives: Bag[] = [];
  for (const controller of await reader.all(system.Storage)) {
    for (const link of listOf(controller.Drives)) drives.push(...await reader.one(link).then(asList));
  }
  if (drives.length > 0) return drives.slice(0, HARDWARE_PARTS_MAX);
  const simple = await reader.all(system.SimpleStorage);
  return simple.flatMap(({ Devices }) => listOf(Devices).map(bagOf)).slice(0, HARDWARE_PARTS_MAX);
}

async function firmwareOf(reader: Reader): Promise<Hardware["firmware"]> {
  const root = await reader.one({ "@odata.id": "/redfish/v1/" });
  const service = await reader.one(root?.UpdateService);
  return (await reader.all(service?.FirmwareInventory)).map((each) => ({
    name: nameOf(each),
    version: text(each.Version),
  }));
}

function bmcOf(manager: Bag | null): Hardware["bmc"] {
  return manager === null
    ? null
    : { model: text(manager.Model) ?? nameOf(manager), firmware_version: text(manager.FirmwareVersion) };
}

function readerOf(bmc: Bmc): Reader {
  const one = async (link: unknown): Promise<Bag | null> => {
    const bag = bagOf(link);
    const path = linkOf(link);
    if (path === null) return null;
    if (Object.keys(bag).some((key) => !key.startsWith("@odata."))) return bag;
    try {
      return (await bmc.get(path)).body;
    } catch (error) {
      // An error without a status means that the BMC did not answer or the deadline passed.
      if (error instanceof BmcFault && error.status !== null && error.status !== 401) return null;
      throw error;
    }
  };
  return {
    one,
    async all(link) {
      const found: Bag[] = [];
      for (let page = await one(link); page !== null && found.length < HARDWARE_PARTS_MAX;) {
        for (const member of listOf(page.Members)) {
          if (found.length < HARDWARE_PARTS_MAX) found.push(...await one(member).then(asList));
        }
        const next = page["Members@odata.nextLink"];
        page = typeof next === "string" ? await one({ "@odata.id": next }) : null;
      }
      return found;
    },
  };
}

function asList(bag: Bag | null): Bag[] {
  return bag === null ? [] : [bag];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isPresent(part: Bag): boolean {
  return bagOf(part.Status).State !== "Absent";
}

function nameOf(part: Bag): string | null {
  return text(part.Name) ?? text(part.Id);
}

function healthOf(part: Bag): string | null {
  const { HealthRollup, Health } = bagOf(part.Status);
  return text(HealthRollup) ?? text(Health);
}

function text(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const plain = value.replace(/[^\x20-\x7e]/g, "?").trim().slice(0, HARDWARE_TEXT_CHARS_MAX);
  return plain === "" ? null : plain;
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(Math.round(value)) && value >= 0 ? Math.round(value) : null;
}

function bytes(value: unknown, unit: number): number | null {
  return typeof value === "number" ? count(value * unit) : null;
}
