// Opens a link between this machine's network and a namespace, like the link between a booter's site and its control
// plane. The addresses are reserved for documentation, so no real network uses them (RFC 5737). Each open link has its
// own addresses, because the kernel could answer on the wrong link if two links had the same addresses.
import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";

const run = promisify(execFile);

export type Wire = {
  /** The IP addresses on this side and in the namespace. */
  readonly here: string;
  readonly there: string;
  /** Deletes the link. Without this call, the link would exist until the last connection in the namespace has ended. */
  close(): Promise<void>;
};

const WIRES_MAX = 64;

/** Opens a link to the namespace `space`. `name` is the device's name on this side, at most 15 characters. */
export async function openWire(space: string, name: string): Promise<Wire> {
  for (let tries = 0; tries < WIRES_MAX; tries++) {
    const base = 4 * ((process.pid + tries) % WIRES_MAX);
    const { stdout } = await run("ip", ["-o", "-4", "addr", "show", "to", `198.51.100.${base}/30`]);
    if (stdout.trim() !== "") continue;
    const [here, there] = [`198.51.100.${base + 1}`, `198.51.100.${base + 2}`];
    await run("ip", ["link", "add", name, "type", "veth", "peer", "name", "berth0", "netns", space]);
    for (
      const command of [
        `addr add ${here}/30 dev ${name}`,
        `link set ${name} up`,
        `-n ${space} addr add ${there}/30 dev berth0`,
        `-n ${space} link set berth0 up`,
      ]
    ) await run("ip", command.split(" "));
    return { here, there, close: async () => void await run("ip", ["link", "del", name]).catch(() => {}) };
  }
  throw new Error("all addresses for links are in use on this machine");
}
