// Serves files by TFTP, read-only. Every transfer has its own port. A packet from another sender to that port does not
// affect the transfer. A machine gets a file only if decision.ts lets the machine boot.
import type { RemoteInfo } from "node:dgram";
import type { Counters } from "../counters.ts";
import { broadcastOf } from "../ipv4.ts";
import { TFTP_RESEND_MS, TFTP_TRANSFERS_MAX, TFTP_TRANSFERS_PER_CLIENT_MAX } from "../limits.ts";
import type { Log } from "../log.ts";
import { openUdp, type UdpSocket } from "../udp-socket.ts";
import { ACK, ERROR, errorPacket, opcodeOf, readRequest, RRQ, WRQ } from "./packet.ts";
import { agree, newTransfer } from "./transfer.ts";

export type TftpOptions = {
  /** The networks to serve, with the booter's own address on each. */
  readonly segments: readonly { readonly address: string; readonly prefix_len: number }[];
  readonly port: number;
  /** Returns the content of a file for the machine at an IP address, or null if this machine must not get the file. */
  readonly file: (name: string, address: string) => Promise<Uint8Array | null>;
  readonly counters: Counters;
  readonly log: Log;
  /**
   * The pause before blocks are repeated. The default is the client's `timeout` option, or TFTP_RESEND_MS without this
   * option; tests set a shorter pause.
   */
  readonly resend_ms?: number;
};

export type TftpServer = { readonly port: number; transfers(): number; close(): Promise<void> };

type Running = { end(): void };

const NOT_DEFINED = 0;
const FILE_NOT_FOUND = 1;
const ACCESS_VIOLATION = 2;
const UNKNOWN_TRANSFER = 5;

export async function openTftp(options: TftpOptions): Promise<TftpServer> {
  const { counters, log } = options;
  const running = new Map<string, Running>();
  const listeners: UdpSocket[] = [];
  let port = options.port;

  // A network with a prefix of 31 or 32 bits has no broadcast address.
  const broadcasts = new Set(options.segments.filter(({ prefix_len }) => prefix_len < 31).map(broadcastOf));
  const isOneMachine = (address: string) => {
    const first = Number(address.split(".", 1)[0]);
    return first > 0 && first < 224 && !broadcasts.has(address);
  };

  for (const { address } of options.segments) {
    const listener: UdpSocket = await openUdp({
      address,
      port,
      received: (bytes, from) => void request({ bytes, from, listener, address }).catch(failed),
      failed,
    });
    listeners.push(listener);
    // Port 0 picks a free port; all addresses then share it.
    port = listener.port;
  }

  function failed(error: Error): void {
    counters.count("tftp_errors_total");
    log("tftp.error", { error: error.message });
  }

  async function request({ bytes, from, listener, address }: Asked): Promise<void> {
    const opcode = opcodeOf(bytes);
    const refuse = (code: number, message: string) => {
      counters.count("tftp_refused_total", { code: String(code) });
      listener.send(errorPacket(code, message), from.port, from.address);
    };
    // An answer to an error, a broadcast address or a multicast address could cause an endless loop.
    if (opcode === ERROR || from.port === 0 || !isOneMachine(from.address)) {
      return void counters.count("tftp_ignored_total");
    }
    if (opcode === WRQ) return refuse(ACCESS_VIOLATION, "files are read-only");
    if (opcode !== RRQ) return void counters.count("tftp_ignored_total");
    const asked = readRequest(bytes);
    if (asked === null) return refuse(NOT_DEFINED, "the packet is not a TFTP request");
    if (asked.mode !== "octet") return refuse(NOT_DEFINED, "the mode must be octet");
    const file = await options.file(asked.name, from.address);
    if (file === null) return refuse(FILE_NOT_FOUND, "no such file");
    const key = `${from.address} ${from.port}`;
    // A repeated request means that the first answer was lost. So the earlier transfer ends.
    running.get(key)?.end();
    const own = [...running.keys()].filter((each) => each.startsWith(`${from.address} `)).length;
    if (running.size >= TFTP_TRANSFERS_MAX || own >= TFTP_TRANSFERS_PER_CLIENT_MAX) {
      return void counters.count("tftp_too_many_total");
    }
    await transfer({ key, from, address, file, options: asked.options });
  }

  async function transfer({ key, from, address, file, options: asked }: Started): Promise<void> {
    const agreed = agree(asked, file.length);
    const machine = newTransfer(file, agreed);
    const wait_ms = options.resend_ms ?? (agreed.timeout_s === null ? TFTP_RESEND_MS : agreed.timeout_s * 1_000);
    let socket: UdpSocket | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    const end = () => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      if (running.get(key) === self) running.delete(key);
      void socket?.close();
    };
    const self: Running = { end };
    running.set(key, self);
    const send = (packets: readonly Uint8Array[]) => {
      for (const packet of packets) socket?.send(packet, from.port, from.address);
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const packets = machine.timedOut();
        if (packets === null) {
          counters.count("tftp_abandoned_total");
          return end();
        }
        send(packets);
        wait();
      }, wait_ms);
    };
    const received = (bytes: Uint8Array, sender: RemoteInfo) => {
      if (sender.address !== from.address || sender.port !== from.port) {
        const opcode = opcodeOf(bytes);
        if (opcode !== ERROR) {
          socket?.send(
            errorPacket(UNKNOWN_TRANSFER, "this port belongs to another client's transfer"),
            sender.port,
            sender.address,
          );
        }
        return;
      }
      // Firmware may first ask only for the size, and then end the transfer with an error packet.
      if (opcodeOf(bytes) === ERROR) return end();
      if (opcodeOf(bytes) !== ACK || bytes.length < 4) return;
      const packets = machine.acknowledged(bytes[2]! * 256 + bytes[3]!);
      if (machine.isDone()) {
        counters.count("tftp_done_total");
        return end();
      }
      if (packets.length === 0) return;
      send(packets);
      wait();
    };
    try {
      socket = await openUdp({ address, port: 0, received, failed });
    } catch (error) {
      end();
      throw error;
    }
    // A repeated request may have replaced this transfer while its socket was opened.
    if (ended) return void await socket.close();
    counters.count("tftp_started_total");
    send(machine.start());
    wait();
  }

  return {
    port,
    transfers: () => running.size,
    async close() {
      for (const each of [...running.values()]) each.end();
      await Promise.all(listeners.map((each) => each.close()));
    },
  };
}

type Asked = {
  readonly bytes: Uint8Array;
  readonly from: RemoteInfo;
  readonly listener: UdpSocket;
  readonly address: string;
};
type Started = {
  readonly key: string;
  readonly from: RemoteInfo;
  readonly address: string;
  readonly file: Uint8Array;
  readonly options: ReadonlyMap<string, string>;
};
