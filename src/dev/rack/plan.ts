// Defines the names, addresses and sizes of the rack. One machine has one rack at a time, because the names are fixed.
import { join } from "node:path";
import { ROOT } from "../environment.ts";

/**
 * Network namespaces of the rack. All daemons and machines of the rack run in them, so that `--down` finds every
 * process.
 */
export const SPACES = {
  /** The switch, which has the bridges. The bare machines and their BMCs are connected here. */
  switch: "berth-rack-switch",
  control: "berth-rack-control",
  booter: "berth-rack-booter",
  /** A network outside of the site, with a web server and the tenant's laptop. */
  internet: "berth-rack-net",
} as const;

export type Space = keyof typeof SPACES;

/** The device of this machine on the site's network. */
export const HOST_DEVICE = "berth-rack";

/** The site's network: control plane, BMCs, booter, and this machine. */
export const SITE = { host: "10.78.1.1", booter: "10.78.1.2", control: "10.78.1.10", prefix_len: 24 } as const;
/** The admin network, from which the machines boot. */
export const ADMIN = {
  block: "10.78.0.0/24",
  booter: "10.78.0.1",
  prefix_len: 24,
  provision_start: "10.78.0.10",
  provision_end: "10.78.0.99",
} as const;
/**
 * The external network. The machines reach it through their port on the admin network, without a VLAN tag, because not
 * every kernel supports VLANs. Floating IPs are allocated from its block.
 */
export const EXTERNAL = {
  tag: "external",
  block: "203.0.113.0/24",
  router: "203.0.113.1",
} as const;

export const PORTS = { api: 8080, https: 8443, channel: 8090, processes: [8081, 8082, 8083] } as const;
export const API_URL = `http://${SITE.control}:${PORTS.api}`;
export const CONSOLE_URL = `https://${SITE.control}:${PORTS.https}`;
export const CHANNEL_URL = `http://${SITE.control}:${PORTS.channel}`;

export type BareMachine = {
  readonly hostname: string;
  readonly uuid: string;
  readonly mac: string;
  readonly tap: string;
  /** The address of the machine's BMC on the site's network. */
  readonly bmc: string;
};

export const MACHINES: readonly BareMachine[] = [1, 2].map((number) => ({
  hostname: `rack1-n${number}`,
  uuid: `7c1f2a60-4f6e-4a52-9d0b-3a6d0a5b1c0${number}`,
  mac: `52:54:00:78:00:0${number}`,
  tap: `tap${number}`,
  bmc: `10.78.1.2${number}`,
}));

/**
 * While a machine boots, it has the image in memory twice: the downloaded file, and the files that the kernel unpacked
 * from it.
 */
export const MEMORY_MIB = 3_072;
/** The setup requires a pool of at least twice the size of the memory. */
export const DISK_BYTES = 9 * 2 ** 30;

export const BMC = { user: "admin", port: 443 } as const;

/** The folder of the running rack. */
export const FOLDER = join(ROOT, ".berth/rack");
/** The folder of the release and the images, which stay when the rack is removed. */
export const BUILD_FOLDER = join(ROOT, ".berth/rack-build");
/** The root file system of Debian in which the programs of the packages run. */
export const DEBIAN = join(FOLDER, "debian");

export function at(...parts: readonly string[]): string {
  return join(FOLDER, ...parts);
}
