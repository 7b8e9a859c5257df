// Chooses the user that runs PostgreSQL. PostgreSQL refuses to run as root. So a root process runs it in a user
// namespace, in which root appears as an ordinary user. The files stay where they are, even below /root. Where user
// namespaces are forbidden, as in many containers, a system user runs PostgreSQL. Programs that this user cannot read
// are copied, and data is stored in a folder that the user can enter.
import { execFile } from "node:child_process";
import { platform } from "node:os";
import { promisify } from "node:util";
import { bareEnvironment } from "./bare-environment.ts";

const execFileAsync = promisify(execFile);

export type PostgresUser = {
  readonly name: string;
  /** The owner that the data files must have, as ids outside any user namespace; null if our own user may own them. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /** Whether this user can access the files of our own user. */
  readonly seesOurFiles: boolean;
  /** Returns the command line that runs `argv` as this user. Pass it to spawn together with `ids`. */
  wrap(argv: readonly string[]): readonly [string, ...string[]];
  readonly ids: { readonly uid?: number; readonly gid?: number };
};

const plain = (argv: readonly string[]) => argv as readonly [string, ...string[]];

/**
 * Starts the program through a shell: Deno refuses to run a program in a folder that it may write to, such as our
 * copies.
 */
const throughShell = (argv: readonly string[]) => plain(["sh", "-c", 'exec "$0" "$@"', ...argv]);

/** Any id except 0 works; 1000 is usually the first id of an ordinary user. */
const NAMESPACE_UID = 1000;
const SYSTEM_USERS = ["postgres", "nobody"] as const;

/**
 * Chooses the user. If we are root, tries a user namespace, then the system users in order. If none of them works,
 * throws an Error that says what to do.
 */
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
    return null; // unshare is missing or too old, or user namespaces are forbidden: try the next user.
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
