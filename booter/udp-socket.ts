// Opens UDP sockets. Uses only functions of node:dgram that behave the same under Bun, Deno and Node.js.
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";

export type Datagram = (bytes: Uint8Array, from: RemoteInfo) => void;

export type UdpSocket = {
  readonly port: number;
  /** Reports an error to `failed` and never throws, because UDP may lose packets anyway. */
  send(bytes: Uint8Array, port: number, address: string): void;
  close(): Promise<void>;
};

export type UdpOptions = {
  readonly address: string;
  readonly port: number;
  /** Allows several sockets on one port. A packet goes to the socket with the most specific address. */
  readonly shared?: boolean;
  readonly broadcast?: boolean;
  readonly received: Datagram;
  readonly failed: (error: Error) => void;
};

/** The size of the kernel's receive buffer, for bursts of packets. net.core.rmem_max limits it. */
const RECEIVE_BYTES = 4_194_304;

export async function openUdp(options: UdpOptions): Promise<UdpSocket> {
  const { address, port, shared = false, broadcast = false, received, failed } = options;
  const socket: Socket = createSocket({ type: "udp4", reuseAddr: shared, lookup: asIs });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind({ address, port }, () => {
      socket.off("error", reject);
      resolve();
    });
  });
  socket.on("error", failed);
  if (broadcast) socket.setBroadcast(true);
  try {
    socket.setRecvBufferSize(RECEIVE_BYTES);
  } catch {
    // Some runtimes cannot set the buffer's size. Smaller bursts of packets then overflow the buffer.
  }
  socket.on("message", received);
  let open = true;
  return {
    port: socket.address().port,
    send(bytes, to_port, to_address) {
      if (!open) return;
      try {
        // Passes no callback, which would take as much time as sending the packet. Errors arrive as events.
        socket.send(bytes, to_port, to_address);
      } catch (error) {
        failed(error instanceof Error ? error : new Error(String(error)));
      }
    },
    close: () =>
      new Promise((resolve) => {
        if (!open) return resolve();
        open = false;
        socket.close(() => resolve());
      }),
  };
}

/** Replaces name resolution, which would run for every packet although all addresses are IP addresses. */
function asIs(address: string, _options: unknown, found: (error: null, address: string, family: number) => void) {
  found(null, address, 4);
}
