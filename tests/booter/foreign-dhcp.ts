// Starts a DHCP server that is not part of Berth: dnsmasq in its own namespace, on the bridge to which the booting
// machines are connected. It assigns addresses, but its replies contain no boot file.
import { execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { present } from "../support/optional-programs.ts";

const run = promisify(execFile);

export type ForeignDhcp = { text(): string; close(): Promise<void> };

export type ForeignDhcpOptions = {
  /** The namespace that contains the bridge. */
  readonly space: string;
  readonly bridge: string;
  /** The server's own address with its prefix length. */
  readonly address: string;
  /** The first and the last address that the server assigns, separated by a comma. */
  readonly range: string;
};

export async function openForeignDhcp(
  { space, bridge, address, range }: ForeignDhcpOptions,
): Promise<ForeignDhcp> {
  const own = `${space}-dhcp`;
  const ip = async (words: string) => void await run(present("ip"), words.split(" "));
  await ip(`netns add ${own}`);
  await ip(`-n ${space} link add fd0 type veth peer name eth0 netns ${own}`);
  await ip(`-n ${space} link set fd0 master ${bridge} up`);
  await ip(`-n ${own} addr add ${address} dev eth0`);
  await ip(`-n ${own} link set eth0 up`);
  const options = ["--keep-in-foreground", "--log-facility=-", "--log-dhcp", "--port=0", "--conf-file=/dev/null"];
  const leases = [`--dhcp-range=${range},1h`, "--leasefile-ro", "--no-ping", "--user=root", "--pid-file="];
  const argv = ["netns", "exec", own, present("dnsmasq"), ...options, ...leases];
  const child = spawn(present("ip"), argv, { stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  child.stderr.on("data", (part) => void (text += part));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  // dnsmasq logs this line after it has opened its sockets.
  for (let tries = 0; !/DHCP, IP range/.test(text) && tries < 100; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    text: () => text,
    async close() {
      child.kill("SIGTERM");
      await ended;
      await ip(`netns del ${own}`).catch(() => {});
    },
  };
}
