// Creates a clean Debian root file system in a folder. debootstrap installs it, and nothing is copied from this
// machine.
import { mkdir, rm } from "node:fs/promises";
import process from "node:process";
import { lacking } from "../support/optional-programs.ts";
import { type Ended, run } from "./tools.ts";

export type DebianRoot = {
  readonly path: string;
  /** Returns a command line for the host that runs `argv` in the chroot, with the given working directory. */
  wrap(argv: readonly string[], folder?: string, user?: string): readonly [string, ...string[]];
  /** Runs a command in the chroot, with the variables of this process, the given variables and HOME=/root. */
  run(argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  remove(): Promise<void>;
};

const SUITE = "bookworm";
/** Packages of a Debian server that the minimal base lacks. */
const INCLUDED = "systemd,gpgv,ca-certificates";
/**
 * Runs in new mount and PID namespaces, so that the kernel removes /proc and the other mounts when the last process
 * exits.
 */
const ENTER = 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && shift && exec "$@"';
export const INSIDE_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** Returns why this machine cannot create a Debian root, or null if it can. */
export function whyNoDebianRoot(): string | null {
  if (process.getuid?.() !== 0) return "creating a Debian root directory requires uid 0; run the tests as root";
  return lacking("debootstrap", "unshare", "chroot", "dpkg");
}

export async function debianRoot(path: string): Promise<DebianRoot> {
  await mkdir(path, { recursive: true });
  const made = await run("debootstrap", ["--variant=minbase", `--include=${INCLUDED}`, SUITE, path]);
  if (made.code !== 0) throw new Error(`debootstrap ended with ${made.code}:\n${made.stdout}${made.stderr}`);
  const wrap: DebianRoot["wrap"] = (argv, folder = "/", user) => [
    "unshare",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child=SIGTERM",
    "sh",
    "-c",
    ENTER,
    "sh",
    path,
    "chroot",
    ...user === undefined ? [] : [`--userspec=${user}`],
    path,
    "sh",
    "-c",
    'cd "$1" && shift && exec "$@"',
    "sh",
    folder,
    ...argv,
  ];
  return {
    path,
    wrap,
    run: (argv, env = {}) => {
      const [program, ...wrapped] = wrap(argv);
      return run(program, wrapped, { ...env, PATH: `${INSIDE_PATH}:${process.env.PATH ?? ""}`, HOME: "/root" });
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}
