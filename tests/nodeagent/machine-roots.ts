// Creates folders like a machine's /sys and /proc, for tests of the inventory of a Linux node image.
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const UUID = "7c1f2a60-4f6e-4a52-9d0b-3a6d0a5b1c05";

/** Writes folders like /sys and /proc with these disks: name and size in units of 512 bytes. */
export async function machineRoots(folder: string, disks: Readonly<Record<string, number>>, mac: string) {
  const put = async (path: string, text: string) => {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), `${text}\n`);
  };
  for (const [name, sectors] of Object.entries(disks)) {
    await put(`sys/block/${name}/size`, String(sectors));
    await put(`sys/block/${name}/queue/rotational`, "1");
    await put(`sys/block/${name}/removable`, name.startsWith("usb") ? "1" : "0");
  }
  await put("sys/class/dmi/id/product_uuid", UUID.toUpperCase());
  await put("sys/class/dmi/id/product_serial", "D34623J");
  await put("sys/class/net/eth0/address", mac);
  await put("sys/class/net/eth0/operstate", "up");
  await put("sys/class/net/br0/address", "52:54:00:aa:00:09");
  await put("sys/devices/card/x", "");
  await symlink(join(folder, "sys/devices/card"), join(folder, "sys/class/net/eth0/device"));
  await put("proc/meminfo", "MemTotal:        2097152 kB");
  // Two cores with two threads each.
  const threads = [0, 1, 2, 3].map((n) => `processor\t: ${n}\nphysical id\t: 0\ncore id\t\t: ${n % 2}\n`);
  await put("proc/cpuinfo", threads.join("\n"));
  return { sys: join(folder, "sys"), proc: join(folder, "proc") };
}
