// Checks whether this machine can run VMs, and names the Debian package of each missing program.
import { constants, existsSync } from "node:fs";
import { access, open, rm, stat, statfs } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { SPACE_BYTES_MIN } from "./disk-space.ts";
import type { Folders } from "./folders.ts";
import { detectHost, type Host, QEMU } from "./host.ts";
import { programEnvironment } from "./run-program.ts";

export type Finding = {
  readonly subject: string;
  /** `missing` prevents VMs; `limited` makes them slower, less isolated or less capable. */
  readonly severity: "ok" | "limited" | "missing";
  readonly note: string;
};

/** Programs that every VM needs, with their packages. */
const PROGRAMS: Readonly<Record<string, string>> = {
  [QEMU]: "qemu-system-x86",
  "qemu-img": "qemu-utils",
  "ip": "iproute2",
  "setpriv": "util-linux",
  "prlimit": "util-linux",
  "unshare": "util-linux",
};
/** Programs for the networks of VPCs. */
const NETWORK_PROGRAMS: Readonly<Record<string, string>> = {
  "nft": "nftables",
  "conntrack": "conntrack",
  "arping": "arping",
  "sysctl": "procps",
};
/** Programs for migrations to this node. openssl creates the node's certificate. */
const MIGRATION_PROGRAMS: Readonly<Record<string, string>> = { "openssl": "openssl" };
/** Programs for compressed images. */
const DECOMPRESSORS: Readonly<Record<string, string>> = {
  "gzip": "gzip",
  "xz": "xz-utils",
  "zstd": "zstd",
  "bzip2": "bzip2",
};
const OTHERS_PASS = 0o001;
const TUN = "/dev/net/tun";

/**
 * Returns the findings in the order in which to fix them. Removes the one file that it creates, so it changes nothing.
 */
export async function checkMachine(folders: Folders): Promise<readonly Finding[]> {
  const host = await detectHost({ folders, signal: new AbortController().signal, log: () => {} });
  return [
    rootFinding(),
    ...programFindings(PROGRAMS, "missing"),
    await tunFinding(),
    await spaceFinding(folders),
    ...programFindings(NETWORK_PROGRAMS, "limited"),
    ...programFindings(MIGRATION_PROGRAMS, "limited"),
    ...programFindings(DECOMPRESSORS, "limited"),
    ...hostFindings(host),
  ];
}

function rootFinding(): Finding {
  const is_root = process.getuid?.() === 0;
  return is_root ? ok("root", "runs as root") : missing("root", "run the agent as root");
}

function programFindings(programs: Readonly<Record<string, string>>, severity: "limited" | "missing"): Finding[] {
  return Object.entries(programs).map(([program, name]) =>
    isInstalled(program) ? ok(program, "installed") : { subject: program, severity, note: `apt-get install ${name}` }
  );
}

async function tunFinding(): Promise<Finding> {
  const usable = await access(TUN, constants.R_OK | constants.W_OK).then(() => true, () => false);
  return usable ? ok(TUN, "usable") : missing(TUN, "load the kernel module: modprobe tun");
}

async function spaceFinding({ machine_dir, run_dir }: Folders): Promise<Finding> {
  try {
    const present = firstExisting(machine_dir);
    const { bavail, bsize } = await statfs(present);
    const gib = Math.floor(bavail * bsize / 2 ** 30);
    const closed = await closedFolder(present) ?? await closedFolder(firstExisting(run_dir));
    if (closed !== null) return missing(machine_dir, `QEMU's users cannot enter ${closed}: chmod o+x ${closed}`);
    // The agent must also start on a full disk, because it deletes VMs.
    if (bavail * bsize < SPACE_BYTES_MIN) return limited(machine_dir, `only ${bavail * bsize} bytes are free`);
    if (!await takesDirectWrites(present)) {
      return missing(machine_dir, "its file system has no direct I/O; use ext4 or XFS");
    }
    return ok(machine_dir, `${gib} GiB free`);
  } catch (error) {
    return missing(machine_dir, (error as Error).message);
  }
}

function hostFindings({ accelerator, uefi, supervisor }: Host): Finding[] {
  return [
    accelerator === "kvm" ? ok("KVM", "usable") : limited(
      "KVM",
      "VMs are emulated and slow; enable virtualization in the firmware and load kvm_intel or kvm_amd",
    ),
    uefi !== null
      ? ok("UEFI", "installed")
      : limited("UEFI", "UEFI images cannot boot, only BIOS images; apt-get install ovmf"),
    supervisor.name === "systemd"
      ? ok("systemd", "each VM is a service with limits")
      : limited("systemd", "systemd does not run, so the memory and processor time of VMs are not limited"),
  ];
}

function isInstalled(program: string): boolean {
  return programEnvironment().PATH!.split(delimiter).some((folder) => existsSync(join(folder, program)));
}

/** Returns whether a file can be opened as QEMU opens disks: with direct I/O, past the page cache. */
async function takesDirectWrites(folder: string): Promise<boolean> {
  const path = join(folder, `.berth-check-${process.pid}`);
  try {
    const file = await open(path, constants.O_CREAT | constants.O_RDWR | constants.O_DIRECT, 0o600);
    await file.close();
    return true;
  } catch (error) {
    // If nothing can be written to the folder, the check is impossible, and the folder counts as suitable.
    return ["EACCES", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "");
  } finally {
    await rm(path, { force: true }).catch(() => {});
  }
}

/** Returns the first folder of the path that other users cannot enter, or null. */
async function closedFolder(folder: string): Promise<string | null> {
  const parent = dirname(folder);
  const above = parent === folder ? null : await closedFolder(parent);
  return above ?? ((await stat(folder)).mode & OTHERS_PASS ? null : folder);
}

function firstExisting(folder: string): string {
  return existsSync(folder) ? folder : firstExisting(join(folder, ".."));
}

function ok(subject: string, note: string): Finding {
  return { subject, severity: "ok", note };
}

function limited(subject: string, note: string): Finding {
  return { subject, severity: "limited", note };
}

function missing(subject: string, note: string): Finding {
  return { subject, severity: "missing", note };
}
