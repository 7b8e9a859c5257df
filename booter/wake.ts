// Switches a machine on by wake-on-LAN: the machine's network card recognizes the packet while the machine is off. The
// machine does not answer, so success only means that the packet was sent.
import { createSocket } from "node:dgram";
import { Failure } from "../cli/internal/failure.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import type { BooterConfig } from "./config.ts";
import { broadcastOf } from "./ipv4.ts";

/** The port of the discard service. Cards look at the content of a packet and ignore the port. */
export const WAKE_PORT = 9;
/** The number of times that each packet is sent, because UDP may lose a packet. */
const COPIES = 3;
const SYNCHRONIZATION = [255, 255, 255, 255, 255, 255];
/** The number of times that the packet format repeats the MAC address. */
const REPETITIONS = 16;

/** Returns the packet for a canonical MAC address. */
export function wakePacket(mac: string): Uint8Array {
  const octets = mac.split(":").map((octet) => parseInt(octet, 16));
  return Uint8Array.from([...SYNCHRONIZATION, ...Array.from({ length: REPETITIONS }, () => octets).flat()]);
}

type Segment = BooterConfig["segment"][number];

/**
 * Sends the packets of the machines to each network, from the booter's own address on that network. Throws if a packet
 * was not sent.
 */
export async function wake(macs: readonly string[], segments: readonly Segment[], port = WAKE_PORT): Promise<void> {
  for (const segment of segments) {
    const to = broadcastOf(segment);
    const socket = createSocket("udp4");
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once("error", reject);
        socket.bind({ address: segment.address, port: 0 }, resolve);
      });
      socket.setBroadcast(true);
      for (let copy = 0; copy < COPIES; copy++) {
        for (const mac of macs) {
          await new Promise<void>((resolve, reject) =>
            socket.send(wakePacket(mac), port, to, (error) => error ? reject(error) : resolve())
          );
        }
      }
    } catch (error) {
      const why = (error as Error).message;
      throw new Failure(`cannot send from ${segment.address} to ${to}: ${why}`, EXIT.failure);
    } finally {
      socket.close();
    }
  }
}
