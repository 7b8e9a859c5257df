// As whom PostgreSQL runs. It refuses root, so a root process runs it in a user namespace where root appears as an
// ordinary user: files stay where they are, also below /root. Where namespaces are forbidden (many containers), a
// system user runs it, and what that user cannot enter or read is placed where it can.
import { execFile } from "node:child_process";
import { platform } from "node:os";
import { promisify } from "node:util";
import { bareEnvironment } from "./bare-environment.ts";

const execFileAsync = promisify(execFile);

export type PostgresUser = {
  readonly name: string;
  /** Owner that the data files need, as the kernel sees it; null: files are already ours. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /** True when this user has the access of the process that starts it. */
  readonly seesOurFiles: boolean;
  /** The command line that runs `argv` as this user, for spawn together with `ids`. */
  wrap(argv: readonly string[]): readonly [string, ...string[]];
  readonly ids: { readonly uid?: number; readonly gid?: number };
};

const plain = (argv: readonly string[]) => argv as readonly [string, ...string[]];

/** Deno starts no program from a folder that it may write to, as the copies for this user are; the shell does. */
const throughShell = (argv: readonly string[]) => plain(["sh", "-c", 'exec "$0" "$@"', ...argv]);

/** Any number but 0 does; 1000 is what tools expect of a person. */
const NAMESPACE_UID = 1000;

/** The user to try, best first. Throws an Error with a mend when we are root and nobody else can be used. */
export async function choosePostgresUser(): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) {
    return { name: "you", owner: null, seesOurFiles: true, wrap: plain, ids: {} };
  }
  return await namespaceUser() ?? await systemUser("postgres") ?? await systemUser("nobody") ?? refuseRoot();
}

async function namespaceUser(): Promise<PostgresUser | null> {
  if (platform() !== "linux") return null;
  const prefix = ["unshare", "--user", `--map-user=${NAMESPACE_UID}`, "--"];
  try {
    await execFileAsync(prefix[0]!, [...prefix.slice(1), "true"], { env: bareEnvironment() });
  } catch {
    return null; // No unshare, an old one, or a kernel or container that forbids it: the next way is tried.
  }
  return {
    name: "root in a user namespace",
    owner: { uid: 0, gid: 0 },
    seesOurFiles: true,
    wrap: (argv) => plain([...prefix, ...argv]),
    ids: {},
  };
}

async function systemUser(name: string): Promise<PostgresUser | null> {
  try {
    const uid = Number((await execFileAsync("id", ["-u", name], { env: bareEnvironment() })).stdout);
    const gid = Number((await execFileAsync("id", ["-g", name], { env: bareEnvironment() })).stdout);
    return { name, owner: { uid, gid }, seesOurFiles: false, wrap: throughShell, ids: { uid, gid } };
  } catch {
    return null; // No such user here.
  }
}

function refuseRoot(): never {
  throw new Error(
    "PostgreSQL does not run as root, and neither a user namespace nor a user `postgres` or `nobody` can be used here. " +
      "Start Berth as an ordinary user, or set DATABASE_URL to a server of your own.",
  );
}
