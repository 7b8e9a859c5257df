// Defines the schemas of the hardware and the firmware of a node, as its BMC shows them (docs/booting.md, "Hardware and
// firmware").
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { HARDWARE_PARTS_MAX, HARDWARE_TEXT_CHARS_MAX } from "./limits.ts";

const Text = z.string().max(HARDWARE_TEXT_CHARS_MAX).nullable();
const Count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).nullable();
const parts = <T extends z.ZodType>(part: T) => z.array(part).max(HARDWARE_PARTS_MAX);

/** The hardware and firmware of a node. A value is null if the BMC does not show it. */
export const Hardware = z.object({
  system: z.object({
    manufacturer: Text,
    model: Text,
    sku: Text,
    serial_number: Text,
    uuid: Text,
    bios_version: Text,
    memory_bytes: Count,
    health: Text,
  }),
  bmc: z.object({ model: Text, firmware_version: Text }).nullable(),
  processors: parts(z.object({ name: Text, model: Text, cores: Count, threads: Count, health: Text })),
  memory: parts(z.object({ name: Text, part_number: Text, serial_number: Text, size_bytes: Count, health: Text })),
  drives: parts(
    z.object({ name: Text, model: Text, serial_number: Text, firmware_version: Text, size_bytes: Count, health: Text }),
  ),
  ports: parts(z.object({ name: Text, mac: Text, link: Text, speed_mbps: Count })),
  firmware: parts(z.object({ name: Text, version: Text })),
});
export type Hardware = z.infer<typeof Hardware>;

/** The hardware that a booter read from a node's BMC. */
export const NodeHardware = Hardware.extend({
  read_at: Timestamp,
  read_by: z.string().describe("The API key of the booter"),
});
export type NodeHardware = z.infer<typeof NodeHardware>;

/** An example for the API description. */
export const HARDWARE_EXAMPLE: Hardware = {
  system: {
    manufacturer: "ACME",
    model: "R1",
    sku: null,
    serial_number: "TAG123",
    uuid: null,
    bios_version: "2.1",
    memory_bytes: 137_438_953_472,
    health: "OK",
  },
  bmc: { model: "BMC-3", firmware_version: "7.10" },
  processors: [{ name: "CPU1", model: "X9", cores: 16, threads: 32, health: "OK" }],
  memory: [],
  drives: [],
  ports: [{ name: "NIC1", mac: "02:00:5e:00:53:01", link: "LinkUp", speed_mbps: 25_000 }],
  firmware: [{ name: "BIOS", version: "2.1" }],
};
