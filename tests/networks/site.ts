// Opens a site of three nodes, an underlay, an external network and an internet. Each is a network namespace, and so is
// each machine of a tenant. They are inside a user namespace, so the tests need no root and change nothing on the
// machine.
import { type ChildProcess, type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { LocalNic, NetworkDocument } from "../../src/contract/network-document.ts";
import { type KernelNetwork, kernelNetwork } from "../../nodeagent/network/kernel.ts";
import type { Run } from "../../nodeagent/network/run.ts";
import { tapName } from "../../nodeagent/network/names.ts";
import { AS_AGENT_SERVICE } from "../release/agent-unit.ts";
import { executable } from "../processes/executables.ts";
import { present } from "../support/optional-programs.ts";
import { EXTERNAL_GATEWAY, INTERNET_HOST, NODE_NAMES, type NodeName, NODES } from "./documents.ts";
import { MARK } from "./frames.ts";

/** Time to compile the agent and to open the site, even on a busy machine. */
export const BUILD_LIMIT_MS = 180_000;

export type Outcome = { readonly code: number; readonly out: string; readonly err: string };

export type NetworkSite = Awaited<ReturnType<typeof openNetworkSite>>;

/**
 * Opens the site. The caller closes it, which ends every process and namespace in it.
 * @param as_root opens the site without a user namespace; then root must run the test. Rulesets of some 100 kB need
 * this, because nft needs a large socket buffer for them, and the kernel gives this buffer only to root
 */
export async function openNetworkSite({ as_root = false } = {}) {
  const holder = await startHolder(as_root ? [] : ["--user", "--map-root-user"]);
  const enter = [present("nsenter"), "--target", String(holder.pid), "--net", "--mount", "--pid"];
  const enterAs = as_root ? enter : [...enter, "--user", "--preserve-credentials"];

  /** Runs a program inside the site. Returns the outcome even if the program fails. */
  function attempt(argv: readonly string[], { input = "", limit_ms = 20_000 } = {}): Promise<Outcome> {
    const [program = "", ...words] = [...enterAs, ...argv];
    return new Promise((done) => {
      const child = execFile(program, words, { timeout: limit_ms, maxBuffer: Infinity }, (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        done({ code, out, err });
      });
      child.stdin?.on("error", () => {});
      child.stdin?.end(input);
    });
  }

  const run: Run = async (argv, input) => {
    const { code, out, err } = await attempt(argv, { input: input ?? "" });
    if (code !== 0) throw new Error(`${argv.join(" ")}: ${err.trim()}\n${input ?? ""}`);
    return out;
  };

  const ip = (...words: readonly string[]) => run(["ip", ...words]);
  const machineOf = (name: string) => `vm-${name}`;

  await buildTopology(run);

  const servers: ChildProcess[] = [];

  /** Starts a Python server in a namespace, and waits for its first line. null: the site's own namespace. */
  async function startServer(namespace: string | null, source: string, given: readonly string[]): Promise<void> {
    const inside = namespace === null ? [] : ["ip", "netns", "exec", namespace];
    const argv = [...enterAs, ...inside, "python3", "-u", "-c", source, ...given];
    const [program = "", ...words] = argv;
    const child = spawn(program, words, { stdio: ["ignore", "pipe", "inherit"] });
    servers.push(child);
    await new Promise<void>((ready, fail) => {
      createInterface({ input: child.stdout }).once("line", () => ready());
      child.once("close", () => fail(new Error(`a server in ${namespace} ended`)));
    });
  }

  return {
    run,
    attempt,
    startServer,
    /**
     * The kernel driver of a node. After each application the NAT gateways run for `lease_s`; null changes no lease.
     */
    driver(node: NodeName, lease_s: number | null = 3_600): KernelNetwork {
      const driver = kernelNetwork({ host_namespace: node, prefix: `${node}-`, underlay_address: NODES[node] }, run);
      return {
        ...driver,
        apply: async (document, ...more) => {
          const applied = await driver.apply(document, ...more);
          const addresses = document.nat_gateways.map(({ public_address }) => public_address);
          if (lease_s !== null && addresses.length > 0) await driver.holdGateways(document.vni, addresses, lease_s);
          return applied;
        },
      };
    },
    /** Creates a machine with the addresses of a NIC, and connects it to the NIC's tap. */
    async plug(node: NodeName | "berth", document: NetworkDocument, nic: LocalNic): Promise<void> {
      const machine = machineOf(nic.nic_id);
      const gateway = document.subnets.find(({ subnet_id }) => subnet_id === nic.subnet_id)?.gateway_ipv4;
      await ip("netns", "add", machine);
      await ip(
        ...["-n", `${node}-${document.vni}`, "link", "add", tapName(nic.mac), "type", "veth"],
        ...["peer", "name", "eth0", "netns", machine],
      );
      await run(
        ["ip", "-n", machine, "-batch", "-"],
        [
          "link set lo up",
          `link set eth0 address ${nic.mac} mtu ${document.mtu} up`,
          ...(nic.ipv4 === null ? [] : [
            `addr add ${nic.ipv4}/24 dev eth0`,
            `route add default via ${gateway}`,
          ]),
          "",
        ].join("\n"),
      );
      if (nic.ipv6 !== null) {
        await run(
          ["ip", "-n", machine, "-6", "-batch", "-"],
          `addr add ${nic.ipv6}/128 dev eth0 nodad\nroute add default via fe80::1 dev eth0\n`,
        );
      }
    },
    /** Runs a program in a machine. */
    inMachine: (name: string, ...argv: readonly string[]) => attempt(["ip", "netns", "exec", machineOf(name), ...argv]),
    /**
     * Starts the compiled agent's process that serves guests, with the capabilities of the packaged service. The caller
     * writes orders to the process.
     */
    serveGuests(machine_dir: string): ChildProcessWithoutNullStreams {
      const [program = "", ...words] = [
        ...enterAs,
        ...AS_AGENT_SERVICE,
        executable("nodeagent"),
        "serve-guests",
        "--machine-dir",
        machine_dir,
      ];
      const child = spawn(program, words);
      servers.push(child);
      return child;
    },
    /** The command line that runs a program in a namespace. */
    argvIn: (namespace: string, argv: readonly string[]) => [...enterAs, "ip", "netns", "exec", namespace, ...argv],
    /** Runs a program on the internet's side. */
    onInternet: (...argv: readonly string[]) => attempt(["ip", "netns", "exec", "inet", ...argv]),
    /** Starts a TCP server that answers each connection with this text and the caller's address. */
    serve: (namespace: string, port: number, text: string) => startServer(namespace, SERVER, [String(port), text]),
    /** Starts, in a machine, a TCP server that returns every byte. The server serves one connection. */
    serveStream: (name: string, port: number) => startServer(machineOf(name), ECHO, [String(port)]),
    /** Counts the frames that arrive in a namespace during an attack and contain the mark of frames.ts. */
    async countMarked(namespace: string, attack: () => Promise<unknown>): Promise<number> {
      const argv = [...enterAs, "ip", "netns", "exec", namespace, "python3", "-u", "-c", SNIFFER];
      const [program = "", ...words] = argv;
      const child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      await lines.next();
      await attack();
      child.stdin.end();
      return Number((await lines.next()).value);
    },
    async close(): Promise<void> {
      for (const server of servers) server.kill("SIGKILL");
      holder.child.kill("SIGKILL");
      await new Promise((ended) => holder.child.once("close", ended));
    },
  };
}

/** A TCP server for both families. The answer is one line: the text, a space and the caller's address. */
const SERVER = `
import socket, sys
server = socket.socket(socket.AF_INET6)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
server.bind(("::", int(sys.argv[1])))
server.listen(64)
print("ready")
while True:
    client, peer = server.accept()
    try:
        client.sendall((sys.argv[2] + " " + peer[0].removeprefix("::ffff:") + "\\n").encode())
    except OSError:
        pass
    client.close()
`;

/** Prints `ready`, reads frames until its input ends, waits for the last frames and prints how many had the mark. */
const SNIFFER = `
import select, socket, sys, time
frames = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
print("ready")
seen, until = 0, 0
while until == 0 or time.monotonic() < until:
    waits = [frames] if until else [frames, sys.stdin]
    for ready in select.select(waits, [], [], 0.1)[0]:
        if ready is frames:
            data, address = frames.recvfrom(65535)
            seen += address[2] != 4 and b"${MARK}" in data
        elif not sys.stdin.read(1):
            until = time.monotonic() + 0.3
print(seen)
`;

const ECHO = `
import socket, sys
server = socket.create_server(("", int(sys.argv[1])))
print("ready")
client, _ = server.accept()
while True:
    data = client.recv(64)
    if not data: break
    client.sendall(data)
`;

async function startHolder(user_namespace: readonly string[]) {
  const child = spawn(present("unshare"), [
    ...[...user_namespace, "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"],
    ...["sh", "-c", "mount -t tmpfs tmpfs /run && mkdir /run/netns && echo ready && exec sleep infinity"],
  ], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => said += chunk);
  await new Promise<void>((ready, fail) => {
    createInterface({ input: child.stdout }).once("line", () => ready());
    child.once("close", () => fail(new Error(`unshare ended: ${said}`)));
  });
  const pid = Number((await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")).trim());
  return { child, pid };
}

async function buildTopology(run: Run): Promise<void> {
  const ip = (...words: readonly string[]) => run(["ip", ...words]);
  for (const name of ["fabric", "external", "inet", ...NODE_NAMES]) {
    await ip("netns", "add", name);
    await ip("-n", name, "link", "set", "lo", "up");
  }
  for (const name of ["fabric", "external"]) await ip("-n", name, "link", "add", "br0", "type", "bridge");
  for (const name of ["fabric", "external"]) await ip("-n", name, "link", "set", "br0", "up");
  for (const node of NODE_NAMES) {
    await ip("-n", "fabric", "link", "add", `p-${node}`, "type", "veth", "peer", "name", "eth0", "netns", node);
    await ip("-n", "fabric", "link", "set", `p-${node}`, "master", "br0", "up");
    await ip("-n", node, "addr", "add", `${NODES[node]}/24`, "dev", "eth0");
    await ip("-n", node, "link", "set", "eth0", "up");
    // The node's bridge of the external NIC tag.
    await ip("-n", "external", "link", "add", `p-${node}`, "type", "veth", "peer", "name", "eth1", "netns", node);
    await ip("-n", "external", "link", "set", `p-${node}`, "master", "br0", "up");
    await ip("-n", node, "link", "add", "ext", "type", "bridge");
    await ip("-n", node, "link", "set", "ext", "up");
    await ip("-n", node, "link", "set", "eth1", "master", "ext", "up");
  }
  await ip("-n", "external", "link", "add", "p-inet", "type", "veth", "peer", "name", "eth0", "netns", "inet");
  await ip("-n", "external", "link", "set", "p-inet", "master", "br0", "up");
  await ip("-n", "inet", "link", "set", "eth0", "up");
  await ip("-n", "inet", "addr", "add", `${EXTERNAL_GATEWAY.ipv4}/24`, "dev", "eth0");
  await ip("-n", "inet", "addr", "add", `${EXTERNAL_GATEWAY.ipv6}/48`, "dev", "eth0", "nodad");
  await ip("-n", "inet", "addr", "add", `${INTERNET_HOST.ipv4}/32`, "dev", "lo");
  await ip("-n", "inet", "addr", "add", `${INTERNET_HOST.ipv6}/128`, "dev", "lo", "nodad");
}
