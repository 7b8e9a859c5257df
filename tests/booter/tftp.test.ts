// Tests TFTP over real sockets. Files arrive complete with every set of options, hostile packets get errors, and
// machines that may not boot get no file.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createSocket, type RemoteInfo } from "node:dgram";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newCounters } from "../../booter/counters.ts";
import { openTftp, type TftpServer } from "../../booter/tftp/server.ts";
import { needs, present } from "../support/optional-programs.ts";
import { programBytes } from "./site.ts";
import { mutatedTftp } from "./mutations.ts";

const FILE = programBytes(3);
const EVEN = FILE.subarray(0, 1_468 * 4);
let server: TftpServer;
/** A server with a short time limit for silent clients. */
let hasty: TftpServer;
const asked: string[] = [];
const counters = newCounters();
beforeAll(async () => {
  [server, hasty] = [await open({}), await open({ resend_ms: 5 })];
});
afterAll(async () => {
  await server.close();
  await hasty.close();
});

function open({ resend_ms, prefix_len = 8 }: { resend_ms?: number; prefix_len?: number }): Promise<TftpServer> {
  const segments = [{ address: "127.0.0.1", prefix_len }];
  return openTftp({ segments, port: 0, resend_ms, file: fileOf, counters, log: () => {} });
}

function fileOf(name: string, address: string): Promise<Uint8Array | null> {
  asked.push(`${name} ${address}`);
  const found = name === "undionly.kpxe" ? FILE : name === "even" ? EVEN : name === "empty" ? new Uint8Array(0) : null;
  return Promise.resolve(address === "127.0.0.9" ? null : found);
}

const strings = (...parts: string[]) => parts.map((part) => `${part}\0`).join("");
const rrq = (name: string, ...more: string[]) => packet(1, strings(name, "octet", ...more));
function packet(opcode: number, text: string): Uint8Array {
  return Uint8Array.from(`\0${String.fromCharCode(opcode)}${text}`, (char) => char.charCodeAt(0) & 255);
}
const ack = (block: number) => Uint8Array.of(0, 4, block >> 8, block & 255);

type Client = {
  send(bytes: Uint8Array, port?: number): void;
  next(): Promise<{ bytes: Uint8Array; from: RemoteInfo }>;
  received(): number;
  close(): void;
};

async function client(address = "127.0.0.1"): Promise<Client> {
  const socket = createSocket("udp4");
  const queue: { bytes: Uint8Array; from: RemoteInfo }[] = [];
  let wake: (() => void) | null = null;
  let received = 0;
  const sending: Promise<void>[] = [];
  socket.on("message", (bytes, from) => {
    received += 1;
    queue.push({ bytes: Uint8Array.from(bytes), from });
    wake?.();
  });
  await new Promise<void>((resolve) => socket.bind(0, address, resolve));
  return {
    send: (bytes, port = server.port) => {
      sending.push(new Promise((resolve) => socket.send(bytes, port, "127.0.0.1", () => resolve())));
    },
    received: () => received,
    async next() {
      while (queue.length === 0) await new Promise<void>((resolve) => wake = resolve);
      return queue.shift()!;
    },
    // Closes the socket only after all packets are sent, because the server waits for the last packet.
    close: () => void Promise.all(sending).then(() => socket.close()),
  };
}

/** Fetches a file. `lose` has the numbers of the received packets that the client drops. */
async function fetchFile(name: string, options: string[], lose: ReadonlySet<number> = new Set()) {
  const me = await client();
  try {
    me.send(rrq(name, ...options));
    const parts: Uint8Array[] = [];
    let block_bytes = 512;
    let window = 1;
    let block = 0;
    let since = 0;
    let number = 0;
    for (;;) {
      const { bytes, from } = await me.next();
      number += 1;
      if (lose.has(number)) continue;
      const opcode = bytes[1]!;
      if (opcode === 5) throw new Error(`error ${bytes[3]}`);
      if (opcode === 6) {
        const agreed = String.fromCharCode(...bytes.subarray(2)).split("\0");
        for (let at = 0; at + 1 < agreed.length; at += 2) {
          if (agreed[at] === "blksize") block_bytes = Number(agreed[at + 1]);
          if (agreed[at] === "windowsize") window = Number(agreed[at + 1]);
        }
        me.send(ack(0), from.port);
        continue;
      }
      const received = bytes[2]! * 256 + bytes[3]!;
      if (received !== ((block + 1) & 65_535)) {
        me.send(ack(block & 65_535), from.port);
        since = 0;
        continue;
      }
      block += 1;
      since += 1;
      parts.push(bytes.subarray(4));
      const last = bytes.length - 4 < block_bytes;
      if (last || since >= window) {
        me.send(ack(block & 65_535), from.port);
        since = 0;
      }
      if (last) return parts.reduce<number[]>((all, part) => (all.push(...part), all), []);
    }
  } finally {
    me.close();
  }
}

describe("a file arrives complete", () => {
  test.each([
    ["without options", []],
    ["with the options of iPXE", ["blksize", "1432", "tsize", "0"]],
    ["with the options of edk2", ["tsize", "0", "blksize", "1468", "windowsize", "4"]],
    ["with options in capitals", ["BLKSIZE", "1024"]],
    ["with the largest window", ["blksize", "1468", "windowsize", "65535"]],
    ["with unknown options", ["multicast", "", "blksize", "600"]],
    ["with options out of range", ["blksize", "7", "windowsize", "0", "timeout", "0", "tsize", "-1"]],
  ])("%s", async (_name, options) => {
    expect(await fetchFile("undionly.kpxe", options)).toEqual([...FILE]);
  });

  test("and ends with an empty block if its length is zero or a multiple of the block size", async () => {
    expect(await fetchFile("even", ["blksize", "1468"])).toEqual([...EVEN]);
    expect(await fetchFile("empty", [])).toEqual([]);
  });

  test("when packets are lost", async () => {
    expect(await fetchFile("undionly.kpxe", ["blksize", "1468", "windowsize", "4"], new Set([3, 9, 10, 30]))).toEqual([
      ...FILE,
    ]);
  });

  test.each(["/undionly.kpxe", "//undionly.kpxe", "\\undionly.kpxe", "undionly.kpxe\xff", "undionly.kpxe\x01"])(
    "for the unusual spelling %j of its name",
    async (name) => {
      expect(await fetchFile(name, ["blksize", "1468"])).toEqual([...FILE]);
    },
  );
});

describe("an error packet is the answer to", () => {
  const answer = async (bytes: Uint8Array, address?: string) => {
    const me = await client(address);
    me.send(bytes);
    const { bytes: got } = await me.next();
    me.close();
    return [got[1], got[3]];
  };
  test.each([
    ["a write", packet(2, strings("undionly.kpxe", "octet")), 2],
    ["a mode other than octet", packet(1, strings("undionly.kpxe", "netascii")), 0],
    ["an unknown file", rrq("autoexec.ipxe"), 1],
    ["a path to a file outside the folder", rrq("../../etc/passwd"), 1],
    ["an absolute path", rrq("/etc/passwd"), 1],
    ["a request without its last byte", rrq("undionly.kpxe").subarray(0, -1), 0],
    ["a name without its end byte", packet(1, "x".repeat(5_000)), 0],
  ])("%s", async (_name, bytes, code) => {
    expect(await answer(bytes)).toEqual([5, code]);
  });

  test("a request for an existing file from a machine that may not boot", async () => {
    expect(await answer(rrq("undionly.kpxe"), "127.0.0.9")).toEqual([5, 1]);
    expect(asked).toContain("undionly.kpxe 127.0.0.9");
  });
});

test.each([
  ["127.0.0.255", 22],
  ["127.0.0.1", 31],
  ["127.0.0.1", 32],
])("the address %s in the network 127.0.0.1/%i gets a file", async (address, prefix_len) => {
  const [other, me] = [await open({ prefix_len }), await client(address)];
  me.send(rrq("empty"), other.port);
  const { bytes, from } = await me.next();
  expect([...bytes]).toEqual([0, 3, 0, 1]);
  me.send(ack(1), from.port);
  await expect.poll(() => other.transfers()).toBe(0);
  me.close();
  await other.close();
});

test("the broadcast address of a network gets nothing", async () => {
  const [other, me] = [await open({ prefix_len: 24 }), await client("127.0.0.255")];
  const before = counters.valueOf("tftp_ignored_total");
  me.send(rrq("even"), other.port);
  await expect.poll(() => counters.valueOf("tftp_ignored_total"), { timeout: 20_000 }).toBe(before + 1);
  expect(asked).not.toContain("even 127.0.0.255");
  me.close();
  await other.close();
});

test("a packet from another port gets an error and does not affect the transfer", async () => {
  const [me, stranger] = [await client(), await client()];
  me.send(rrq("undionly.kpxe", "blksize", "1468"));
  const { from } = await me.next();
  stranger.send(ack(0), from.port);
  expect([...(await stranger.next()).bytes.subarray(0, 4)]).toEqual([0, 5, 0, 5]);
  me.send(ack(0), from.port);
  expect([...(await me.next()).bytes.subarray(0, 4)]).toEqual([0, 3, 0, 1]);
  me.send(packet(5, "\0\0stop\0"), from.port);
  me.close();
  stranger.close();
});

test("a client that never acknowledges gets only one packet for its request", async () => {
  const me = await client();
  const before = counters.valueOf("tftp_abandoned_total");
  me.send(rrq("undionly.kpxe"), hasty.port);
  await me.next();
  await expect.poll(() => counters.valueOf("tftp_abandoned_total"), { timeout: 20_000 }).toBe(before + 1);
  expect(me.received()).toBe(1);
  me.close();
});

test("the number of transfers per client is limited, and an error packet of a client ends its transfer", async () => {
  const clients = await Promise.all(Array.from({ length: 6 }, () => client("127.0.0.5")));
  const before = counters.valueOf("tftp_too_many_total");
  for (const each of clients) each.send(rrq("undionly.kpxe", "tsize", "0"));
  await expect.poll(() => counters.valueOf("tftp_too_many_total"), { timeout: 20_000 }).toBe(before + 2);
  const answered = () => clients.filter((each) => each.received() > 0);
  await expect.poll(() => answered().length, { timeout: 20_000 }).toBe(4);
  for (const each of answered()) each.send(packet(5, "\0\x08no\0"), (await each.next()).from.port);
  await expect.poll(() => server.transfers(), { timeout: 20_000 }).toBe(0);
  for (const each of clients) each.close();
});

test("S-24: reading 100,000 mutated requests throws nothing and returns no name that begins with a slash", () => {
  const { reached, violations } = mutatedTftp(100_000);
  expect(violations).toEqual([]);
  expect(reached).toBeGreaterThan(10_000);
});

test("curl fetches a file by TFTP", async (context) => {
  needs(context, "curl with TFTP");
  const run = promisify(execFile);
  const folder = await mkdtemp(join(tmpdir(), "berth-tftp-"));
  const path = join(folder, "file");
  await run(present("curl with TFTP"), [
    "-sS",
    "--max-time",
    "25",
    "-o",
    path,
    `tftp://127.0.0.1:${server.port}/undionly.kpxe`,
  ]);
  const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  expect(hash(await readFile(path))).toBe(hash(FILE));
  await rm(folder, { recursive: true });
});
