// Opens a mount namespace with its own names of network namespaces, so that the routers of two tests on one machine do
// not affect each other. The namespace may also have its own network devices. The namespace remains when its agents
// end.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { present } from "../support/optional-programs.ts";

const run = promisify(execFile);

/** Runs `ip` for the machine's own devices. */
export const ipOfMachine = (...words: readonly string[]) => run(present("ip"), words);

export type NodeNamespace = {
  /** The process that holds the namespace. */
  readonly pid: number;
  /** The arguments to put before a command, so that it runs in the namespace. */
  readonly enter: readonly string[];
  /** Runs a program in the namespace and returns its output. */
  run(...argv: readonly string[]): Promise<string>;
  /** Starts a server in the namespace and waits for its first output. */
  serve(...argv: readonly string[]): Promise<ChildProcess>;
  /** Returns the names of the network namespaces. */
  networks(): Promise<readonly string[]>;
  /** Returns the names of the network devices. */
  devices(): Promise<readonly string[]>;
  close(): Promise<void>;
};

/** @param own_network whether the node has its own network devices instead of the machine's */
export async function openNodeNamespace({ own_network = false } = {}): Promise<NodeNamespace> {
  const net = own_network ? ["--net"] : [];
  // /sys shows the devices of the namespace in which it was mounted.
  const sys = own_network ? "mount -t sysfs sysfs /sys && ip link set lo up && " : "";
  const mount = `${sys}mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && echo ready && exec sleep infinity`;
  const argv = ["--mount", ...net, "--propagation", "private", "sh", "-c", mount];
  const holder = spawn(present("unshare"), argv, { stdio: ["ignore", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  const enter = [present("nsenter"), "--target", String(holder.pid), "--mount", ...net];
  const runInside = async (...words: readonly string[]) => {
    const [program = "", ...rest] = [...enter, ...words];
    return (await run(program, rest)).stdout;
  };
  return {
    pid: holder.pid!,
    enter,
    run: runInside,
    serve: async (...words) => {
      const [program = "", ...rest] = [...enter, ...words];
      const child = spawn(program, rest, { stdio: ["ignore", "pipe", "inherit"] });
      await once(child.stdout, "data");
      return child;
    },
    networks: async () => {
      const printed = await runInside("ip", "netns", "list");
      return printed.split("\n").map((line) => line.split(" ")[0]!).filter((name) => name !== "");
    },
    devices: async () =>
      (JSON.parse(await runInside("ip", "-j", "link")) as { ifname: string }[]).map((each) => each.ifname),
    close: async () => {
      holder.kill("SIGKILL");
      await once(holder, "close");
    },
  };
}
