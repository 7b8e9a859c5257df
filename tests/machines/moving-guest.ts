// Starts a real guest that moves between two nodes, with compiled opsctl and tenantctl, a server as `task start` starts
// it, two compiled agents and their QEMU processes. The guest counts in a file on its disk, and has a floating IP.
import { type ChildProcess, spawn } from "node:child_process";
import { chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Migration } from "../../src/contract/migration.ts";
import { SANDBOX_UID } from "../../nodeagent/qemu/unprivileged.ts";
import type { Ended } from "../processes/executables.ts";
import { freshDatabase } from "../support/database.ts";
import { BRIDGE, type ExternalNetwork, openExternalNetwork } from "./external-network.ts";
import { MEMORY_BYTES, withMachine } from "./machine.ts";
import { openSite, type Site } from "./site.ts";

export let site: Site;
/** The URL of the server's database. */
export let database_url: string;
let external: ExternalNetwork;
let address: string;
/** The id of the guest's instance. */
export let id: string;

/** Opens two nodes, and a guest on the first node, before the tests of the file. Closes them afterwards. */
export function withMovingGuest(): void {
  withMachine(open, "nft", "conntrack", "python3", "ssh", "ssh-keygen", "openssl");
}

async function open() {
  const database = await freshDatabase();
  database_url = database.url;
  site = await openSite({
    nodes: 2,
    agent_argv: [`--nic-tags=admin,external:${BRIDGE}`],
    database: () => Promise.resolve(database),
  });
  external = await openExternalNetwork(site.nodes);
  // Both nodes see the processes of one machine, so the QEMU processes of the nodes need different users. An agent does
  // not choose a user whose id is the group of a VM's folder. So the folder `taken` makes the second agent choose the
  // next user.
  await site.killAgent(1);
  const folder = join(site.folderOf(1), "lib/vm/taken");
  await mkdir(folder, { recursive: true });
  await chown(folder, 0, SANDBOX_UID + 1);
  await site.startAgent(1).says(/reports to/);
  await createGuest();
  return async () => {
    await site.close();
    await external.close();
  };
}

/** Returns what a program printed. If the program failed, throws an Error with the program's error output. */
async function printed(ended: Promise<Ended>): Promise<string> {
  const { code, out, err } = await ended;
  if (code !== 0) throw new Error(`the program ended with ${code}: ${err}\n${site.said()}`);
  return out;
}

export const opsctl = (...argv: readonly string[]) => printed(site.opsctl(argv));
export const tenantctl = (...argv: readonly string[]) => printed(site.tenantctl(argv));
export const json = async (...argv: readonly string[]) => JSON.parse(await tenantctl(...argv, "-o", "json"));
const path = (name: string) => join(site.folder, name);

/** Creates a guest with a floating IP on the first node. The guest counts, in its memory and in a file on its disk. */
async function createGuest(): Promise<void> {
  for (const uuid of site.uuids) await opsctl("cn", "label", "set", uuid, "--role", "both");
  await opsctl("nic-tag", "create", "external", "--mtu", "1500");
  await opsctl(
    ...["external-subnet", "create", "internet", "--nic-tag", "external"],
    ...["--ipv4-block", "203.0.113.0/24", "--ipv6-block", "2001:db8::/48"],
  );
  await external.router.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path("key"));
  await tenantctl("ssh-key", "create", "--name", "laptop", "--public-key-file", path("key.pub"));
  await json("vpc", "create", "--name", "moved", "--ipv4-block", "10.0.0.0/16");
  await tenantctl("subnet", "create", "--vpc", "moved", "--name", "seat", "--ipv4-block", "10.0.1.0/24");
  const rule = ["--action", "allow", "--direction", "inbound", "--priority", "50", "--protocol", "tcp"];
  await tenantctl("firewall-rule", "create", "--vpc", "moved", "--name", "public", ...rule);
  await writeFile(path("count.sh"), COUNTER, { mode: 0o600 });
  const target = site.uuids[1]!;
  await opsctl("cn", "placement", "set", target, "--cordoned", "true", "--cordoned-reason", "test");
  ({ id } = await json(
    ...["instance", "create", "--name", "web1", "--image-id", site.image_id, "--cpu", "1", "--vpc", "moved"],
    ...["--memory-bytes", String(MEMORY_BYTES), "--primary-subnet-id", "seat", "--ssh-key-id", "laptop"],
    ...["--user-data-file", path("count.sh")],
  ));
  await opsctl("cn", "placement", "set", target, "--cordoned", "false");
  address = (await json("floating-ip", "create", "--name", "web", "--family", "ipv4")).address;
  const { items: [nic] } = await json("nic", "list", "--instance", "web1");
  await tenantctl("floating-ip", "attach", "web", "--nic", nic.id);
}

/**
 * A shell script that counts in memory. It writes each number to a file and to a list on the disk before it continues.
 */
const COUNTER = `#!/bin/sh
(i=0; while :; do
  i=$((i+1)); echo $i >> /persist/counted; echo $i > /persist/count.new; sync; mv /persist/count.new /persist/count
  usleep 100000
done) &
`;

const OPTIONS = ["BatchMode=yes", "ConnectTimeout=3", "ServerAliveInterval=5", "StrictHostKeyChecking=no"];
/** Makes ssh wait 2 minutes for an answer, because a guest without KVM is paused while its memory is sent. */
const PATIENT = ["-o", "ServerAliveCountMax=24"];
const sshArgv = () => [
  ...["ssh", "-i", path("key"), "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"],
  ...OPTIONS.flatMap((option) => ["-o", option]),
  `root@${address}`,
];
export const ssh = (command: string) => external.router.run(...sshArgv(), command);
export const count = async () => Number((await ssh("cat /persist/count")).trim());
/**
 * Returns the lines of the list on the guest's disk that differ from their line number, including an incomplete last
 * line.
 */
export const gapsOnDisk = () => ssh(`awk '$0 != NR' /persist/counted`);
export const boots = async () => (await ssh("cat /proc/sys/kernel/random/boot_id")).trim();
export const newest = async (): Promise<Migration> => (await operator("instance", "migrations", id)).items[0];
export const operator = async (...argv: readonly string[]) => JSON.parse(await opsctl(...argv, "-o", "json"));

/** An ssh connection over which the guest prints the next number every 0.1 s. */
export type Followed = {
  readonly child: ChildProcess;
  /** The number of whole lines. */
  readonly lines: () => number;
  /** The lines that differ from their line number. */
  readonly gaps: () => readonly string[];
};

export function follow(): Followed {
  const [program = "", ...rest] = [
    ...external.router.enter,
    "ssh",
    ...PATIENT,
    ...sshArgv().slice(1),
    "i=0; while :; do i=$((i+1)); echo $i; usleep 100000; done",
  ];
  const child = spawn(program, rest, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (chunk) => printed += chunk);
  const numbers = () => printed.split("\n").slice(0, -1);
  return {
    child,
    lines: () => numbers().length,
    gaps: () => numbers().filter((line, index) => line !== String(index + 1)),
  };
}
