// Opens namespaces for two nodes on this machine. Each node has its own network devices and its own processes. A bridge
// carries the packets between the nodes. A service on this machine's loopback address has the same address in both
// nodes. Needs root.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import process from "node:process";
import { promisify } from "node:util";
import { forward } from "./forward.ts";

const FORWARD = fileURLToPath(new URL("forward.ts", import.meta.url));
const LOOPBACK = "127.0.0.1";
/** The last bytes of the addresses of this machine and of the first node, in the network of the bridge. */
const OWN_HOST = 1;
const FIRST_NODE_HOST = 11;
const NODES = 2;

const run = promisify(execFile);
const ip = (...words: readonly string[]) => run("ip", words);

/** Returns the first program that a namespace needs and that is not in PATH; null if all programs are there. */
export async function missingProgram(): Promise<string | null> {
  for (const name of ["ip", "nsenter", "unshare"]) {
    if (await run(name, ["-V"]).then(() => false, () => true)) return name;
  }
  return null;
}

export type NodeNamespace = {
  readonly address: string;
  /** The arguments to put before a command, so that it runs in the namespace. */
  readonly enter: readonly string[];
};

export type NodeNamespaces = { readonly nodes: readonly NodeNamespace[]; close(): Promise<void> };

/** @param ports the ports of the services on this machine's loopback address */
export async function openNodeNamespaces(ports: readonly number[]): Promise<NodeNamespaces> {
  const stack = new AsyncDisposableStack();
  try {
    // A random number, so that two demos on one machine rarely choose the same bridge.
    const number = randomInt(256);
    const bridge = `demo${number}`;
    const of = (host: number) => `198.18.${number}.${host}`;
    await ip("link", "add", bridge, "type", "bridge");
    stack.defer(async () => void await ip("link", "del", bridge));
    await ip("addr", "add", `${of(OWN_HOST)}/24`, "dev", bridge);
    await ip("link", "set", bridge, "up");
    const servers = await forward(of(OWN_HOST), LOOPBACK, ports);
    stack.defer(() => servers.forEach((server) => server.close()));
    const nodes: NodeNamespace[] = [];
    for (let index = 0; index < NODES; index++) {
      const address = of(FIRST_NODE_HOST + index);
      const holder = await openNamespace();
      stack.defer(() => ended(holder));
      const outer = `${bridge}n${index}`;
      const pid = await childOf(holder);
      await ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", pid);
      // Deletes the link explicitly, because the kernel may keep a namespace for a while after its last process has
      // ended.
      stack.defer(async () => void await ip("link", "del", outer).catch(() => {}));
      await ip("link", "set", outer, "master", bridge, "up");
      const enter = ["nsenter", "--target", pid, "--mount", "--net", "--pid"];
      await run(enter[0]!, [...enter.slice(1), "ip", "addr", "add", `${address}/24`, "dev", "eth0"]);
      await run(enter[0]!, [...enter.slice(1), "ip", "link", "set", "eth0", "up"]);
      const inside = [...enter, process.execPath, "run", "-A", "--quiet", FORWARD, LOOPBACK, of(OWN_HOST)];
      const forwarder = await started([...inside, ...ports.map(String)]);
      stack.defer(() => ended(forwarder));
      nodes.push({ address, enter });
    }
    const opened = stack.move();
    return { nodes, close: () => opened.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/**
 * Opens a namespace with its own /run/netns, which contains the names of network namespaces. When the returned process
 * ends, all processes of the namespace end. An agent looks for the QEMU of a VM among all processes that it sees, so it
 * must not see the QEMU of the other node.
 */
async function openNamespace(): Promise<ChildProcess> {
  // Mounts a new /sys, because /sys shows the devices of the namespace in which it was mounted.
  const mounts = "mount -t sysfs sysfs /sys && ip link set lo up && mkdir -p /run/netns && " +
    "mount -t tmpfs tmpfs /run/netns && echo ready && exec sleep infinity";
  const own = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"];
  return await started(["unshare", ...own, "sh", "-c", mounts]);
}

/** Returns the id of the process that unshare has started in the namespace. */
async function childOf({ pid }: ChildProcess): Promise<string> {
  return (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim();
}

/** Starts a program and waits for its first output. */
async function started([program = "", ...argv]: readonly string[]): Promise<ChildProcess> {
  const child = spawn(program, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const failed = once(child, "exit").then(([code]) => Promise.reject(new Error(`${program} ended with ${code}`)));
  failed.catch(() => {});
  await Promise.race([once(child.stdout, "data"), failed]);
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
