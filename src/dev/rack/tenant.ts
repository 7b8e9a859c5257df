// Acts as the tenant of the rack: runs tenantctl of the package on this machine, and ssh from the internet.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CONSOLE_URL, DEBIAN, EXTERNAL } from "./plan.ts";
import { type Ended, must, run, until } from "./processes.ts";

export const PROJECT = "shop";
export const TENANT_KEY = "/root/tenant.key";
const SSH_KEY = "/root/laptop";

/** Runs tenantctl. `typed` is its standard input. */
export async function tenantctl(argv: readonly string[], typed?: string): Promise<Ended> {
  const env = {
    TENANTCTL_ENDPOINT: CONSOLE_URL,
    TENANTCTL_API_KEY: (await readFile(join(DEBIAN, TENANT_KEY), "utf8")).trim(),
    TENANTCTL_PROJECT: PROJECT,
    NODE_EXTRA_CA_CERTS: "/etc/ssl/rack.pem",
  };
  return await run(["tenantctl", ...argv], { user: "root", env, ...typed === undefined ? {} : { input: typed } });
}

/** Runs tenantctl, which must succeed, and returns the JSON that it prints. */
export async function rent(...argv: readonly string[]) {
  const { code, stdout, stderr } = await tenantctl([...argv, "-o", "json"]);
  if (code !== 0) throw new Error(`tenantctl ${argv.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  return stdout.trim() === "" ? null : JSON.parse(stdout);
}

/** Writes the tenant's API key to a file that only root may read. */
export async function saveKey(key: string): Promise<void> {
  await writeFile(join(DEBIAN, TENANT_KEY), key, { mode: 0o600 });
}

/** Creates the tenant's SSH key. Returns the path of the public key. */
export async function makeSshKey(): Promise<string> {
  await must(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", SSH_KEY], { user: "root" });
  return `${SSH_KEY}.pub`;
}

/** A guest whose processor is emulated twice takes minutes for an SSH login. */
const SSH_CONNECT_S = 300;
const SSH_OPTIONS = [
  ...["BatchMode=yes", `ConnectTimeout=${SSH_CONNECT_S}`, "StrictHostKeyChecking=no"],
  ...["UserKnownHostsFile=/dev/null", "LogLevel=ERROR"],
];

/** Runs a command in a guest, with ssh from the internet. */
export function ssh(address: string, command: string): Promise<Ended> {
  const options = SSH_OPTIONS.flatMap((option) => ["-o", option]);
  return run(["ssh", "-i", SSH_KEY, ...options, `root@${address}`, command], { space: "internet", user: "root" });
}

/** Runs a command in a guest until its output matches, and returns the output. */
export async function sshUntil(address: string, command: string, pattern: RegExp, limit_ms: number): Promise<string> {
  let last = "";
  return await until(`ssh ${address} ${command}`, limit_ms, async () => {
    const { stdout, stderr } = await ssh(address, command);
    last = `${stdout}${stderr}`;
    return pattern.test(stdout) ? stdout : null;
  }, () => Promise.resolve(last));
}

/** Waits until an instance is in a state. Throws at once if the instance is in the state failed. */
export async function waitFor(name: string, state: string, limit_ms: number): Promise<void> {
  let last = "";
  await until(`${name} is ${state}`, limit_ms, async () => {
    const shown = await rent("instance", "show", name);
    last = JSON.stringify(shown.lifecycle);
    if (shown.lifecycle.state === "failed" && state !== "failed") throw new Error(`${name} failed: ${last}`);
    return shown.lifecycle.state === state ? true : null;
  }, () => Promise.resolve(last));
}

/** The address of the web server on the internet. */
export const INTERNET = `http://${EXTERNAL.router}/`;

/** Returns the address of a floating IP. */
export async function addressOf(name: string): Promise<string> {
  return (await rent("floating-ip", "show", name)).address;
}
