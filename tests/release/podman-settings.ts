// Writes settings with which Podman keeps everything in a folder, and works without systemd.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Settings for both versions of cgroups. They set the ulimits, because Podman raises ulimits that no setting names, and
 * CI forbids that.
 */
const ENGINE = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
`;

/** Writes the settings into the folder. Returns the environment variables that make Podman use them. */
export async function podmanSettings(folder: string): Promise<Readonly<Record<string, string>>> {
  const storage = { driver: "vfs", graphroot: join(folder, "images"), runroot: join(folder, "run") };
  await writeFile(join(folder, "containers.conf"), ENGINE);
  const settings = Object.entries(storage).map(([name, value]) => `${name} = "${value}"\n`);
  await writeFile(join(folder, "storage.conf"), ["[storage]\n", ...settings].join(""));
  return {
    CONTAINERS_CONF: join(folder, "containers.conf"),
    CONTAINERS_STORAGE_CONF: join(folder, "storage.conf"),
  };
}
