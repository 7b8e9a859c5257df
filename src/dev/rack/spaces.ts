// Builds the network of the rack: four namespaces, two bridges in the switch, and a link to this machine.
//
//   this machine ─┐                ┌─ booter ─┐                ┌─ node 1
//   control plane ┴─ bridge `site` ┤          ├─ bridge `admin`┼─ node 2
//   BMCs ─────────┘                                            └─ the internet
import { readdir } from "node:fs/promises";
import process from "node:process";
import { ADMIN, EXTERNAL, HOST_DEVICE, MACHINES, SITE, type Space, SPACES } from "./plan.ts";
import { must, run, sleep } from "./processes.ts";

/** How long processes may take to end after SIGTERM. */
const END_LIMIT_MS = 15_000;
const END_POLL_MS = 100;

const ip = (command: string) => must(["ip", ...command.split(" ")]);

/** Returns the existing namespaces of the rack. */
export async function presentSpaces(): Promise<readonly string[]> {
  const names = await readdir("/run/netns").catch((): string[] => []);
  return Object.values(SPACES).filter((name) => names.includes(name));
}

/** Creates a link between a namespace and a bridge of the switch. */
async function cable(space: Space, device: string, bridge: string): Promise<void> {
  const port = `${space}-${device}`.slice(-DEVICE_CHARS_MAX);
  await ip(`-n ${SPACES.switch} link add ${port} type veth peer name ${device} netns ${SPACES[space]}`);
  await ip(`-n ${SPACES.switch} link set ${port} master ${bridge} up`);
  await ip(`-n ${SPACES[space]} link set ${device} up`);
}

/** Linux allows 15 characters in the name of a device. */
const DEVICE_CHARS_MAX = 15;

export async function openSpaces(): Promise<void> {
  for (const name of Object.values(SPACES)) {
    await ip(`netns add ${name}`);
    await ip(`-n ${name} link set lo up`);
  }
  const { switch: hub, control, booter, internet } = SPACES;
  for (const bridge of ["site", "admin"]) {
    await ip(`-n ${hub} link add ${bridge} type bridge mcast_snooping 0`);
    await ip(`-n ${hub} link set ${bridge} up`);
  }
  for (const { tap, bmc } of MACHINES) {
    await ip(`-n ${hub} addr add ${bmc}/${SITE.prefix_len} dev site`);
    await ip(`-n ${hub} tuntap add dev ${tap} mode tap`);
    await ip(`-n ${hub} link set ${tap} master admin up`);
  }
  await cable("control", "eth0", "site");
  await cable("booter", "eth0", "site");
  await cable("booter", "eth1", "admin");
  await cable("internet", "eth0", "admin");
  await ip(`-n ${control} addr add ${SITE.control}/${SITE.prefix_len} dev eth0`);
  await ip(`-n ${booter} addr add ${SITE.booter}/${SITE.prefix_len} dev eth0`);
  await ip(`-n ${booter} addr add ${ADMIN.booter}/${ADMIN.prefix_len} dev eth1`);
  // The booter's machine is the router between the admin network and the site.
  await must(["sysctl", "-qw", "net.ipv4.ip_forward=1"], { space: "booter" });
  await ip(`-n ${control} route add ${ADMIN.block} via ${SITE.booter}`);
  await ip(`-n ${hub} route add ${ADMIN.block} via ${SITE.booter}`);
  await ip(`-n ${internet} addr add ${EXTERNAL.router}/24 dev eth0`);
  await ip(`-n ${hub} link add host type veth peer name ${HOST_DEVICE} netns ${process.pid}`);
  await ip(`-n ${hub} link set host master site up`);
  await ip(`addr add ${SITE.host}/${SITE.prefix_len} dev ${HOST_DEVICE}`);
  await ip(`link set ${HOST_DEVICE} up`);
  await ip(`route add ${ADMIN.block} via ${SITE.booter}`);
}

async function processesIn(name: string): Promise<readonly number[]> {
  const { stdout } = await run(["ip", "netns", "pids", name]);
  return stdout.split("\n").filter((line) => line !== "").map(Number);
}

function signal(pids: readonly number[], name: "SIGTERM" | "SIGKILL"): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // The process has ended.
    }
  }
}

/** Ends every process of the rack, and removes the rack's networks. Processes have time to finish their requests. */
export async function closeSpaces(): Promise<void> {
  const names = await presentSpaces();
  const left = async () => (await Promise.all(names.map(processesIn))).flat();
  signal(await left(), "SIGTERM");
  for (const end_ms = performance.now() + END_LIMIT_MS; (await left()).length > 0 && performance.now() < end_ms;) {
    await sleep(END_POLL_MS);
  }
  signal(await left(), "SIGKILL");
  for (const name of names) await run(["ip", "netns", "del", name]);
  await run(["ip", "link", "del", HOST_DEVICE]);
}
