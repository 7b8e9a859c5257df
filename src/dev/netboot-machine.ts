// Simulates a machine that netboots like firmware and iPXE. Its DHCP packets go through a relay. The relay receives the
// replies on the port from which it sent the packets. TFTP and HTTP requests come from the machine's own address. All
// addresses are on loopback.
import { createSocket, type Socket } from "node:dgram";
import { request } from "node:http";
import { joinedBytes } from "../lib/text/joined-bytes.ts";

/** The program whose packets the machine sends: its BIOS boot ROM, or iPXE, which the ROM loads. */
export type NetbootProgram = "bios" | "ipxe";

export type Lease = { readonly address: string; readonly file: string };
export type Fetched = { readonly status: number; readonly bytes: Uint8Array };

export type NetbootMachine = {
  readonly mac: string;
  /** Sends DISCOVER and REQUEST, and repeats each until it gets a reply. Returns the address and the boot file. */
  lease(program: NetbootProgram): Promise<Lease>;
  /** Sends one DISCOVER and does not wait for a reply. */
  discover(program: NetbootProgram): void;
  /** Returns the number of DHCP replies received so far. */
  replies(): number;
  tftp(name: string, from: string): Promise<Uint8Array>;
  close(): void;
};

export type NetbootPorts = {
  readonly dhcp: number;
  readonly tftp: number;
  readonly http: number;
  readonly bus: number;
};
export type NetbootOptions = { readonly mac: string; readonly relay: string; readonly ports: NetbootPorts };

const SERVER = "127.0.0.1";
const RETRY_MS = 1_000;
const TRIES_MAX = 30;
const [DISCOVER, OFFER, REQUEST, ACK] = [1, 2, 3, 5] as const;
/** The vendor class. iPXE sends the class of the firmware that loaded it. */
const VENDOR_CLASS = "PXEClient:Arch:00000:UNDI:002001";
const TFTP = { read: 1, data: 3, ack: 4, error: 5, agreed: 6 } as const;
const BLOCK_BYTES = 1_468;

export async function netbootMachine({ mac, relay, ports }: NetbootOptions): Promise<NetbootMachine> {
  const socket = await bound(relay);
  const replies: Uint8Array[] = [];
  socket.on("message", (bytes) => void replies.push(Uint8Array.from(bytes)));
  let xid = 1;

  const send = (program: NetbootProgram, type: number, more: readonly Option[] = []) =>
    socket.send(
      packet({ xid, mac, relay, options: [[53, [type]], ...clientOptions(program), ...more] }),
      ports.dhcp,
      SERVER,
    );

  async function answered(type: number, ask: () => void): Promise<Reply> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      ask();
      for (let waited_ms = 0; waited_ms < RETRY_MS; waited_ms += 10) {
        const found = replies.map(readReply).find((each) => each.xid === xid && each.type === type);
        if (found !== undefined) return found;
        await pause(10);
      }
    }
    throw new Error(`${mac} gets no answer to its DHCP packets`);
  }

  return {
    mac,
    async lease(program) {
      xid += 1;
      const offer = await answered(OFFER, () => send(program, DISCOVER));
      const asked: Option[] = [[50, octets(offer.address)], [54, octets(SERVER)]];
      return await answered(ACK, () => send(program, REQUEST, asked));
    },
    discover(program) {
      xid += 1;
      send(program, DISCOVER);
    },
    replies: () => replies.length,
    tftp: (name, from) => readByTftp({ name, from, port: ports.tftp }),
    close: () => void socket.close(),
  };
}

/** Sends a GET from the given address. */
export function fetchFrom(from: string, url: string, headers: Headers = {}): Promise<Fetched> {
  return asked(from, url, { method: "GET", headers, body: "" });
}

/** Sends a POST from the given address. */
export function postFrom(from: string, url: string, { headers, body }: { headers: Headers; body: string }) {
  return asked(from, url, { method: "POST", headers, body });
}

type Headers = Readonly<Record<string, string>>;
type HttpParts = { readonly method: "GET" | "POST"; readonly headers: Headers; readonly body: string };

function asked(from: string, url: string, { body, ...parts }: HttpParts): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...parts, localAddress: from, agent: false }, (answer) => {
      const read: Uint8Array[] = [];
      answer.on("data", (part: Uint8Array) => read.push(part));
      answer.on("error", reject);
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, bytes: joinedBytes(read) }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Returns whether a socket can be bound to this address. Some systems have only one loopback address. */
export function hasAddress(address: string): Promise<boolean> {
  return bound(address).then((socket) => (socket.close(), true), () => false);
}

function bound(address: string): Promise<Socket> {
  const socket = createSocket("udp4");
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(0, address, () => {
      socket.off("error", reject);
      socket.on("error", () => {});
      resolve(socket);
    });
  });
}

// ---------------------------------------------------------------------------------------------------------------- DHCP

type Option = readonly [number, ArrayLike<number>];
type Reply = Lease & { readonly xid: number; readonly type: number };

function clientOptions(program: NetbootProgram): Option[] {
  const options: Option[] = [[60, latin(VENDOR_CLASS)], [93, [0, 0]]];
  return program === "ipxe" ? [...options, [77, latin("iPXE")], [57, [5, 192]]] : options;
}

type Packet = {
  readonly xid: number;
  readonly mac: string;
  readonly relay: string;
  readonly options: readonly Option[];
};

/** Returns a packet as a relay forwards it, with the relay's address in `giaddr` (RFC 2131). */
function packet({ xid, mac, relay, options }: Packet): Uint8Array {
  const head = new Uint8Array(240);
  const view = new DataView(head.buffer);
  head.set([1, 1, 6, 1]);
  view.setUint32(4, xid);
  head.set(octets(relay), 24);
  head.set(mac.split(":").map((part) => Number.parseInt(part, 16)), 28);
  view.setUint32(236, 0x63825363);
  return joinedBytes([
    head,
    ...options.map(([code, value]) => Uint8Array.from([code, value.length, ...Array.from(value)])),
    Uint8Array.of(255),
  ]);
}

function readReply(bytes: Uint8Array): Reply {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const options = new Map<number, Uint8Array>();
  for (let at = 240; at + 1 < bytes.length && bytes[at] !== 255; at += 2 + bytes[at + 1]!) {
    options.set(bytes[at]!, bytes.subarray(at + 2, at + 2 + bytes[at + 1]!));
  }
  return {
    xid: view.getUint32(4),
    type: options.get(53)?.[0] ?? 0,
    address: [...bytes.subarray(16, 20)].join("."),
    file: String.fromCharCode(...options.get(67) ?? []).replace(/\0$/, ""),
  };
}

// ---------------------------------------------------------------------------------------------------------------- TFTP

type Download = { readonly name: string; readonly from: string; readonly port: number };

/** Reads a file by TFTP, one block per acknowledgement, with the block size of PXE firmware. */
async function readByTftp({ name, from, port }: Download): Promise<Uint8Array> {
  const socket = await bound(from);
  const blocks: Uint8Array[] = [];
  try {
    return await new Promise((resolve, reject) => {
      socket.on("message", (message, { port: their_port }) => {
        const bytes = Uint8Array.from(message);
        const [opcode, number] = [bytes[1], bytes[2]! * 256 + bytes[3]!];
        if (opcode === TFTP.error) {
          return reject(new Error(`TFTP of ${name}: ${String.fromCharCode(...bytes.subarray(4))}`));
        }
        if (opcode === TFTP.data && number === (blocks.length + 1) % 65_536) blocks.push(bytes.subarray(4));
        else if (opcode !== TFTP.agreed) return;
        socket.send(Uint8Array.of(0, TFTP.ack, blocks.length >> 8, blocks.length), their_port, SERVER);
        if (opcode === TFTP.data && bytes.length - 4 < BLOCK_BYTES) resolve(joinedBytes(blocks));
      });
      socket.send(Uint8Array.of(0, TFTP.read, ...latin(`${name}\0octet\0blksize\0${BLOCK_BYTES}\0`)), port, SERVER);
    });
  } finally {
    socket.close();
  }
}

// --------------------------------------------------------------------------------------------------------------- bytes

function latin(text: string): number[] {
  return [...text].map((character) => character.charCodeAt(0));
}

function octets(address: string): number[] {
  return address.split(".").map(Number);
}

function pause(duration_ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, duration_ms));
}
