// Starts a Debian machine in its own Linux namespaces, with systemd as its first process. No hardware is emulated. The
// machine has no network except loopback.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestContext } from "vitest";
import { type Ended, run } from "../release/tools.ts";
import { needs, type Optional, present } from "../support/optional-programs.ts";

export type DebianMachine = {
  readonly root: string;
  /**
   * Returns a command line for the host that runs `argv` inside the machine, as root, in the given folder of the
   * machine.
   */
  wrap(argv: readonly string[], folder?: string): readonly [string, ...string[]];
  /** Runs a command in the machine as root. */
  inside(...argv: readonly string[]): Promise<Ended>;
  close(): Promise<void>;
};

const SUITE = "bookworm";
const PROGRAMS: readonly Optional[] = ["mmdebstrap", "mount", "nsenter", "unshare"];
const BOOT_LIMIT_MS = 120_000;
const LOOK_MS = 500;
export const INSIDE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Mounts the file systems that systemd expects in a container, makes the folder in $1 the root, and starts systemd. */
const BOOT = `
set -eu
root=$1
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs -o mode=755 dev "$root/dev"
for each in null zero full random urandom tty net/tun kvm vhost-net; do
  [ -e "/dev/$each" ] || continue
  mkdir -p "$(dirname "$root/dev/$each")"
  touch "$root/dev/$each"
  mount --bind "/dev/$each" "$root/dev/$each"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t tmpfs -o mode=755 run "$root/run"
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
  mount -t tmpfs -o mode=755 cgroup "$root/sys/fs/cgroup"
  mkdir "$root/sys/fs/cgroup/systemd"
  mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
fi
ip link set lo up
cd "$root"
mkdir -p .before
pivot_root . .before
umount -l /.before
exec env -i container=berth PATH="${INSIDE_PATH}" /lib/systemd/systemd --unit=multi-user.target
`;

/**
 * Skips the test with a reason if the process is not root. Only root can install a Debian and mount its file systems.
 */
export function needsDebianMachine(context: TestContext): void {
  context.skip(process.getuid?.() !== 0, "a machine in namespaces requires uid 0; run the tests as root");
  needs(context, "ip", ...PROGRAMS);
}

/**
 * Installs Debian and the packages into the folder `root`, and boots this Debian. Throws an Error if systemd does not
 * start.
 */
export async function openDebianMachine(root: string, packages: readonly string[]): Promise<DebianMachine> {
  const include = `--include=${["systemd", "dbus", "iproute2", ...packages].join()}`;
  const made = await run(present("mmdebstrap"), ["--variant=minbase", "--mode=root", include, SUITE, root]);
  if (made.code !== 0) throw new Error(`mmdebstrap ended with ${made.code}:\n${made.stderr.slice(-4_000)}`);
  await writeFile(join(root, "etc/hostname"), "berth-machine\n");
  await mkdir(join(root, "var/log/journal"), { recursive: true });
  const first = spawn(present("unshare"), [
    ...["--fork", "--pid", "--mount", "--uts", "--ipc", "--net", "--cgroup", "--kill-child"],
    ...["sh", "-c", BOOT, "sh", root],
  ], { stdio: ["ignore", "ignore", "pipe"] });
  let complaint = "";
  first.stderr.setEncoding("utf8").on("data", (text: string) => complaint += text);
  const stop = async () => {
    const ended = once(first, "close");
    // The kernel kills all processes of the PID namespace together with its first process.
    first.kill("SIGKILL");
    await ended;
  };
  const pid = await systemdPid(first, () => complaint).catch(async (error) => {
    if (first.exitCode === null) await stop();
    throw error;
  });
  const namespaces = ["--pid", "--mount", "--uts", "--ipc", "--net", "--cgroup", "--root", "--wd"];
  const wrap: DebianMachine["wrap"] = (argv, folder = "/") => [
    present("nsenter"),
    ...[`--target=${pid}`, ...namespaces],
    ...["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", folder, ...argv],
  ];
  const machine: DebianMachine = {
    root,
    wrap,
    inside: (...argv) => {
      const [program, ...words] = wrap(argv);
      return run(program, words, { PATH: INSIDE_PATH, HOME: "/root", LANG: "C.UTF-8" });
    },
    async close() {
      await stop();
      await rm(root, { recursive: true, force: true });
    },
  };
  await booted(machine).catch(async (error) => {
    await machine.close();
    throw error;
  });
  return machine;
}

/** Waits for the child of `unshare`, which becomes systemd, and returns its PID on this machine. */
async function systemdPid(first: ChildProcess, complaint: () => string): Promise<number> {
  const limit_at = Date.now() + BOOT_LIMIT_MS;
  while (Date.now() < limit_at && first.exitCode === null) {
    const children = await readFile(`/proc/${first.pid}/task/${first.pid}/children`, "utf8").catch(() => "");
    const pid = Number(children.trim().split(" ")[0]);
    const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "");
    if (name.trim() === "systemd") return pid;
    await sleep(LOOK_MS);
  }
  throw new Error(`systemd did not start:\n${complaint()}`);
}

async function booted(machine: DebianMachine): Promise<void> {
  const limit_at = Date.now() + BOOT_LIMIT_MS;
  for (;;) {
    const { stdout } = await machine.inside("systemctl", "is-system-running");
    // A few services of Debian fail in a container, which has no devices and no kernel modules. The state is then
    // "degraded".
    if (["running", "degraded"].includes(stdout.trim())) return;
    if (Date.now() > limit_at) throw new Error(`the machine is still ${stdout.trim()}`);
    await sleep(LOOK_MS);
  }
}
