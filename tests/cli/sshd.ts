// Starts Debian's sshd on the loopback interface with its own keys, as the current user. This sshd does not read or
// change the configuration of the machine or the user, and its sessions do not run the shell files of the machine or
// the user: a line that such a file prints would become part of a command's output.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { lacking, present } from "../support/optional-programs.ts";

const START_LIMIT_MS = 10_000;

/** The addresses at which sshd listens, one for each node. On Linux, all addresses of 127.0.0.0/8 are local. */
export const SSH_ADDRESSES = ["127.0.0.1", "127.0.0.2", "127.0.0.3"] as const;
/** An address at which nothing listens. */
export const SILENT_ADDRESS = "127.0.0.4";

export type Sshd = {
  /** The arguments of `cn exec` for a connection to this server. */
  readonly argv: readonly string[];
  stop(): Promise<void>;
};

/** Returns the reason why sshd cannot run on this machine, or null. */
export function whyNoSshd(): string | null {
  if (process.platform !== "linux") return "the tests of cn exec against sshd need Linux";
  return lacking("sshd", "ssh", "ssh-keygen");
}

export type SshdOptions = {
  /** The addresses of the nodes. ssh knows the host keys of the first two nodes. */
  readonly addresses?: readonly string[];
  /** A command that starts sshd, such as [ip, netns, exec, NAME]. */
  readonly prefix?: readonly string[];
};

export async function startSshd({ addresses = SSH_ADDRESSES, prefix = [] }: SshdOptions = {}): Promise<Sshd> {
  const folder = mkdtempSync(join(tmpdir(), "berth-sshd-"));
  const [host_key, user_key] = ["host_key", "user_key"].map((name) => newKey(join(folder, name)));
  mkdirSync(join(folder, "home"));
  const port = await freePort();
  const host_public = readFileSync(`${host_key}.pub`, "utf8").trim();
  const known = addresses.slice(0, 2).map((address) => `[${address}]:${port} ${host_public}\n`).join("");
  writeFileSync(join(folder, "known_hosts"), known);
  writeFileSync(join(folder, "sshd_config"), configText(folder, { port, addresses }));
  // Root's sshd confines its unprivileged process to this folder.
  if (userInfo().uid === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const [program = "", ...argv] = [...prefix, present("sshd"), "-D", "-e", "-f", join(folder, "sshd_config")];
  const child = spawn(program, argv, {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => said += text);
  await untilItListens(child, { port, address: addresses.at(-1)! }, () => said);
  const options = [
    `Port=${port}`,
    `IdentityFile=${user_key}`,
    "IdentitiesOnly=yes",
    `UserKnownHostsFile=${join(folder, "known_hosts")}`,
    "GlobalKnownHostsFile=/dev/null",
  ];
  return {
    argv: ["--user", userInfo().username, ...options.flatMap((option) => ["--ssh-option", option])],
    stop: () =>
      new Promise((resolve) => {
        child.once("close", () => resolve());
        child.kill("SIGTERM");
      }),
  };
}

function newKey(path: string): string {
  execFileSync(present("ssh-keygen"), ["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", path]);
  return path;
}

function configText(folder: string, { port, addresses }: { port: number; addresses: readonly string[] }): string {
  return [
    `Port ${port}`,
    ...addresses.map((address) => `ListenAddress ${address}`),
    `HostKey ${join(folder, "host_key")}`,
    `AuthorizedKeysFile ${join(folder, "user_key.pub")}`,
    // HOME is an empty folder, so the shell finds no shell files of the user. On Debian, a bash that sshd starts also
    // runs /etc/bash.bashrc, but not inside another shell. SHLVL=1 makes bash believe that it is inside another shell.
    `SetEnv HOME=${join(folder, "home")} SHLVL=1`,
    "PermitUserRC no",
    "PidFile none",
    "UsePAM no",
    // With StrictModes, sshd rejects keys in the temporary folder, because all users can write to that folder.
    "StrictModes no",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "MaxStartups 100",
    "",
  ].join("\n");
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

type Place = { readonly port: number; readonly address: string };

async function untilItListens(child: ChildProcess, place: Place, said: () => string): Promise<void> {
  for (const end = Date.now() + START_LIMIT_MS; Date.now() < end && child.exitCode === null;) {
    if (await answers(place)) return;
    await new Promise((wake) => setTimeout(wake, 50));
  }
  child.kill("SIGKILL");
  throw new Error(`sshd does not listen: ${said()}`);
}

function answers({ port, address }: Place): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, address);
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
