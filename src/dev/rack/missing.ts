// Finds the programs and devices for a rack that are missing on this machine, and how to install them.
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";

/** Programs and files that a rack needs, with Debian's package of each. */
const NEEDED: readonly { readonly name: string; readonly package: string; readonly file?: string }[] = [
  { name: "qemu-system-x86_64", package: "qemu-system-x86" },
  { name: "qemu-img", package: "qemu-utils" },
  { name: "iPXE on QEMU's network card", package: "ipxe-qemu", file: "/usr/lib/ipxe/qemu/pxe-virtio.rom" },
  { name: "ip", package: "iproute2" },
  { name: "sysctl", package: "procps" },
  { name: "unshare", package: "util-linux" },
  { name: "mmdebstrap", package: "mmdebstrap" },
  { name: "Debian's keys", package: "debian-archive-keyring", file: "/usr/share/keyrings/debian-archive-keyring.gpg" },
  { name: "mksquashfs", package: "squashfs-tools" },
  { name: "cpio", package: "cpio" },
  { name: "depmod", package: "kmod" },
  { name: "mke2fs", package: "e2fsprogs" },
];

/** Returns why this machine cannot run a rack, and the remedy; null if this machine can run a rack. */
export function whatIsMissing(): string | null {
  if (process.platform !== "linux") return "a rack needs Linux, because it consists of network namespaces";
  if (process.arch !== "x64") {
    return "a rack needs a machine with an x86-64 processor, because its nodes are x86-64 machines";
  }
  if (process.getuid?.() !== 0) return "a rack needs root, because it makes network namespaces: run it with sudo";
  if (!existsSync("/dev/net/tun")) return "/dev/net/tun is missing: load the kernel module with `modprobe tun`";
  const absent = absentOf(NEEDED);
  if (absent.length === 0) return null;
  return `missing: ${absent.map(({ name }) => name).join(", ")}; install with: apt-get install ${packagesOf(absent)}`;
}

function absentOf(needed: typeof NEEDED): typeof NEEDED {
  return needed.filter(({ name, file }) => file === undefined ? !isProgram(name) : !existsSync(file));
}

function packagesOf(needed: typeof NEEDED): string {
  return [...new Set(needed.map((each) => each.package))].join(" ");
}

function isProgram(name: string): boolean {
  // The shell of an ordinary user has no sbin in its PATH.
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  return folders.some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

// Prints the names of the missing packages, for `.ci/run`.
if (import.meta.main) console.log(packagesOf(absentOf(NEEDED)));
