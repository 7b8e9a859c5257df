// The user that runs PostgreSQL. PostgreSQL refuses root, so a root process runs it in a user namespace where root
// appears as an ordinary user: files stay in place, also below /root. Where namespaces are forbidden (many containers), a
// system user runs it, and files that this user cannot read are copied to a folder that it can.
import { execFile } from "node:child_process";
import { platform } from "node:os";
import { promisify } from "node:util";
import { bareEnvironment } from "./bare-environment.ts";

const execFileAsync = promisify(execFile);

export type PostgresUser = {
  readonly name: string;
  /** The owner that the data files need, as the kernel sees it; null: the files are ours already. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /** Whether this user has the access of the process that starts it. */
  readonly seesOurFiles: boolean;
  /** Returns the command line that runs `argv` as this user, for spawn together with `ids`. */
  wrap(argv: readonly string[]): readonly [string, ...string[]];
  readonly ids: { readonly uid?: number; readonly gid?: number };
};

const plain = (argv: readonly string[]) => argv as readonly [string, ...string[]];

/** Deno refuses to start a program from a writable folder, such as the copies for this user; the shell does not. */
const throughShell = (argv: readonly string[]) => plain(["sh", "-c", 'exec "$0" "$@"', ...argv]);

/** Any id except 0 works; 1000 is the usual first id of a person. */
const NAMESPACE_UID = 1000;
const SYSTEM_USERS = ["postgres", "nobody"] as const;

/** Chooses the user, best first. Throws an Error with a remedy when we are root and no other user is usable. */
export async function choosePostgresUser(): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) {
    return { name: "you", owner: null, seesOurFiles: true, wrap: plain, ids: {} };
  }
  const [first, second] = SYSTEM_USERS;
  return await namespaceUser() ?? await systemUser(first) ?? await systemUser(second) ?? refuseRoot();
}

async function namespaceUser(): Promise<PostgresUser | null> {
  if (platform() !== "linux") return null;
  const prefix = ["unshare", "--user", `--map-user=${NAMESPACE_UID}`, "--"];
  try {
    await execFileAsync(prefix[0]!, [...prefix.slice(1), "true"], { env: bareEnvironment() });
  } catch {
    return null; // No unshare, an old one, or a kernel or container that forbids it: try the next user.
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
    return null; // This machine does not have the user.
  }
}

function refuseRoot(): never {
  throw new Error(
    `PostgreSQL does not run as root, and this machine has neither user namespaces nor the user ${
      SYSTEM_USERS.join(" or ")
    }. ` +
      "Start Berth as an ordinary user, or set DATABASE_URL to a server of your own.",
  );
}
