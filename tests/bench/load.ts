// Sends the requests of the benchmark over HTTP (http.ts), in a separate process. Each connection sends a request,
// waits for the reply, and repeats this. The program checks only the status and the length of a reply, so that it uses
// little processor time of the machine that it shares with the server. Standard input is a LoadOrder as JSON. Standard
// output is a LoadReport as JSON.
import { Buffer } from "node:buffer";
import process from "node:process";
import { CN_ROLES } from "../../src/contract/enums.ts";

export type LoadOrder = {
  readonly port: number;
  readonly key: string;
  readonly ids: readonly string[];
  readonly connections: number;
  readonly warm_up_ms: number;
  readonly measured_ms: number;
};

export type LoadReport = {
  /** The number of messages that were acknowledged during the warm-up and the measurement. */
  readonly acknowledged: number;
  readonly messages_per_s: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** The processor time of this process during the measurement, in cores. */
  readonly cores: number;
};

const RECEIVE_BYTES = 65_536;
const encoder = new TextEncoder();

if (import.meta.main) {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const report = await apply(JSON.parse(Buffer.concat(chunks).toString()) as LoadOrder);
  console.log(JSON.stringify(report));
}

async function apply(order: LoadOrder): Promise<LoadReport> {
  const start = performance.now();
  const from = start + order.warm_up_ms;
  const until = from + order.measured_ms;
  const tally = { acknowledged: 0, measured: 0, latencies_ms: [] as number[] };
  let cpuBefore = process.cpuUsage();
  setTimeout(() => cpuBefore = process.cpuUsage(), order.warm_up_ms);

  async function connection(index: number): Promise<void> {
    // Each node belongs to one connection, so that no actor has two outstanding messages.
    const ids = order.ids.filter((_, n) => n % order.connections === index);
    const socket = await Deno.connect({ hostname: "127.0.0.1", port: order.port });
    const buffer = new Uint8Array(RECEIVE_BYTES);
    for (let turn = 0; performance.now() < until; turn++) {
      const sent_ms = performance.now();
      const id = ids[turn % ids.length] ?? "";
      const role = CN_ROLES[(Math.floor(turn / ids.length) + 1) % CN_ROLES.length] ?? "both";
      await writeAll(socket, request(order, id, role));
      await readAnswer(socket, buffer);
      const now_ms = performance.now();
      tally.acknowledged += 1;
      if (now_ms < from || now_ms > until) continue;
      tally.measured += 1;
      tally.latencies_ms.push(now_ms - sent_ms);
    }
    socket.close();
  }

  await Promise.all(Array.from({ length: order.connections }, (_, index) => connection(index)));
  const cpu = process.cpuUsage(cpuBefore);
  const sorted = tally.latencies_ms.sort((a, b) => a - b);
  return {
    acknowledged: tally.acknowledged,
    messages_per_s: tally.measured / order.measured_ms * 1_000,
    p50_ms: sorted[Math.floor(sorted.length * 0.5)] ?? 0,
    p99_ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    cores: (cpu.user + cpu.system) / 1_000 / order.measured_ms,
  };
}

function request({ key }: LoadOrder, id: string, role: string): Uint8Array {
  const body = `{"role":"${role}"}`;
  return encoder.encode(
    `POST /v1/cns/${id}/role HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

async function writeAll(socket: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await socket.write(bytes.subarray(at));
}

/** Reads one reply. Throws if the reply is not a 200 with a Content-Length. */
async function readAnswer(socket: Deno.Conn, buffer: Uint8Array): Promise<void> {
  let filled = 0;
  let end = Infinity;
  while (filled < end) {
    if (filled === buffer.length) throw new Error("an answer is longer than the buffer");
    const count = await socket.read(buffer.subarray(filled));
    if (count === null) throw new Error("the server closed a connection");
    filled += count;
    if (end === Infinity) end = endOf(Buffer.from(buffer.buffer, 0, filled));
  }
}

function endOf(received: Buffer): number {
  const head_bytes = received.indexOf("\r\n\r\n");
  if (head_bytes < 0) return Infinity;
  const head = received.toString("latin1", 0, head_bytes);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (!head.startsWith("HTTP/1.1 200 ") || length === undefined) {
    throw new Error(`the answer is not a 200 with a Content-Length: ${received.toString().slice(0, 500)}`);
  }
  return head_bytes + 4 + Number(length);
}
