// Checks that the booter can open each of its ports on each of its addresses. The check opens a port exclusively.
// Programs can share a UDP port, so the check would otherwise not notice another DHCP server.
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { fail, type Finding, ok, warn } from "./check-finding.ts";
import type { BooterConfig } from "./config.ts";
import { listenOn } from "./tcp-port.ts";
import { openUdp } from "./udp-socket.ts";

type Port = { readonly name: string; readonly address: string; readonly port: number; readonly kind: "udp" | "tcp" };

const METRICS_ADDRESS = "127.0.0.1";
/** The time limit of the request that finds out whether a booter is running on this machine. */
const RUNNING_MS = 2_000;

export async function portFindings(config: BooterConfig): Promise<Finding[]> {
  const running = await isRunning(config);
  const findings: Finding[] = [];
  for (const each of portsOf(config)) findings.push(await portFinding(each, running));
  return findings;
}

function portsOf({ dhcp, tftp, http, https, metrics, ur, segment }: BooterConfig): Port[] {
  return [
    ...segment.flatMap(({ address }): Port[] => [
      { name: "DHCP", address, port: dhcp.port, kind: "udp" },
      ...(dhcp.mode === "proxy" ? [{ name: "DHCP proxy", address, port: dhcp.proxy_port, kind: "udp" } as const] : []),
      { name: "TFTP", address, port: tftp.port, kind: "udp" },
      { name: "HTTP", address, port: http.port, kind: "tcp" },
      ...(https === undefined ? [] : [{ name: "HTTPS", address, port: https.port, kind: "tcp" } as const]),
      ...(ur === undefined ? [] : [{ name: "AMQP", address, port: ur.port, kind: "tcp" } as const]),
    ]),
    { name: "metrics", address: METRICS_ADDRESS, port: metrics.port, kind: "tcp" },
  ];
}

async function portFinding({ name, address, port, kind }: Port, running: boolean): Promise<Finding> {
  const where = `${name}: ${address} ${kind === "udp" ? "UDP" : "TCP"} port ${port}`;
  try {
    await (kind === "udp" ? tryUdp(address, port) : tryTcp(address, port));
    return ok(`${where} can be opened`);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const reason = `${code ?? ""} ${message}`;
    // The runtimes report an address of another machine with different codes, so the address is compared with the
    // machine's own addresses.
    if (!isOwn(address)) {
      return fail(`${where}: ${address} is not an address of this machine`);
    }
    if (/EADDRINUSE|in use/i.test(reason)) {
      return running
        ? warn(`${where} is in use; a booter is running here`)
        : fail(`${where} is in use by another program`);
    }
    if (/EACCES|EPERM|permission/i.test(reason)) {
      return fail(`${where} cannot be opened by this user; run the check as root`);
    }
    return fail(`${where} cannot be opened (${code ?? "unknown error"})`);
  }
}

async function tryUdp(address: string, port: number): Promise<void> {
  const socket = await openUdp({ address, port, received: () => {}, failed: () => {} });
  await socket.close();
}

async function tryTcp(address: string, port: number): Promise<void> {
  const server = createServer();
  try {
    await listenOn(server, { address, port });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

function isOwn(address: string): boolean {
  if (address.startsWith("127.")) return true;
  return Object.values(networkInterfaces()).some((each) => each?.some((own) => own.address === address));
}

/** Returns whether a booter answers at the metrics port. */
async function isRunning({ metrics: { port } }: BooterConfig): Promise<boolean> {
  if (port === 0) return false;
  try {
    const answer = await fetch(`http://${METRICS_ADDRESS}:${port}/health`, {
      signal: AbortSignal.timeout(RUNNING_MS),
    });
    return (await answer.text()).includes('"control_plane"');
  } catch {
    return false;
  }
}
