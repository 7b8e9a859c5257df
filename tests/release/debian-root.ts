// A clean Debian below a folder: what debootstrap installs, and nothing of the machine it is made on.
import { mkdir, rm } from "node:fs/promises";
import process from "node:process";
import { lacking } from "../support/optional-programs.ts";
import { type Ended, run } from "./tools.ts";

export type DebianRoot = {
  readonly path: string;
  /** The command line that runs another one inside, in the folder of that name there. */
  wrap(argv: readonly string[], folder?: string, user?: string): readonly [string, ...string[]];
  /** Runs a command inside. It inherits nothing but the variables given. */
  run(argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  remove(): Promise<void>;
};

const SUITE = "bookworm";
/** What a Debian server has and a minimal base has not. */
const INCLUDED = "systemd,gpgv,ca-certificates";
/** /proc and the mounts end with the last process inside. */
const ENTER = 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && shift && exec "$@"';
export const INSIDE_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** Why there can be none here, or null. */
export function whyNoDebianRoot(): string | null {
  if (process.getuid?.() !== 0) return "a Debian root needs root";
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
