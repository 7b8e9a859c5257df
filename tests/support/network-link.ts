// Simulates one connection through a failing network. During a silence the link holds all bytes back. When the network
// heals, the bytes arrive, even if their sender has closed the connection in the meantime. A real kernel does the same,
// because it keeps retransmitting.
import type { Socket } from "node:net";

export type Direction = "to_server" | "to_client";
export type Side = "client" | "server";

/** The bytes to forward. If `cut` is set, the connection is cut after them. */
export type Passage = { readonly pass: Uint8Array; readonly cut?: boolean };
/**
 * Inspects the bytes of one connection and returns the bytes to forward. The function may hold some bytes back until
 * more bytes arrive.
 */
export type Watch = (direction: Direction, bytes: Uint8Array) => Passage;

export type Counters = {
  connections: number;
  /** Number of chunks that were delayed. */
  delayed: number;
  /** Number of connections that were cut by a watch or by cutAfter. */
  cut: number;
  /** Number of chunks and connection attempts during a silence. */
  swallowed: number;
  /** Number of chunks that reached the server after the client had closed the connection. */
  late: number;
  /** Number of connections that one side left without notice to the other side. */
  half_open: number;
  /** Number of chunks that the other side sent into half-open connections. */
  unheard: number;
};

export function newCounters(): Counters {
  return { connections: 0, delayed: 0, cut: 0, swallowed: 0, late: 0, half_open: 0, unheard: 0 };
}

/** The state of the whole network. Code that ends a silence must call drain() of every link. */
export type NetworkState = { readonly delay_ms: number; readonly silent: boolean; readonly counters: Counters };

export type Link = {
  isAbandoned(): boolean;
  drain(): void;
  cutAfter(direction: Direction, bytes: number): void;
  lose(side: Side): void;
  destroy(): void;
};

export type LinkOptions = {
  readonly sides: Readonly<Record<Side, Socket>>;
  readonly network: NetworkState;
  readonly watch: Watch;
  readonly over: () => void;
};

type Piece = { readonly due_ms: number; readonly bytes: Uint8Array; readonly cut: boolean };
type Way = {
  readonly from: Side;
  readonly to: Side;
  /** Chunks to forward; null is the end of the stream. */
  readonly queue: (Piece | null)[];
  /** Number of bytes to forward before the connection is cut. */
  left: number;
};

export function openLink({ sides, network, watch, over }: LinkOptions): Link {
  const { counters } = network;
  const ways: Readonly<Record<Direction, Way>> = {
    to_server: { from: "client", to: "server", queue: [], left: Infinity },
    to_client: { from: "server", to: "client", queue: [], left: Infinity },
  };
  const gone = new Set<Side>();
  const lost = new Set<Side>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let destroyed = false;
  counters.connections += 1;
  if (network.silent) counters.swallowed += 1;

  function destroy(): void {
    if (destroyed) return;
    destroyed = true;
    clearTimeout(timer);
    sides.client.destroy();
    sides.server.destroy();
    over();
  }

  function came(direction: Direction, bytes: Uint8Array): void {
    const way = ways[direction];
    if (destroyed) return;
    if (lost.has(way.to)) {
      counters.unheard += 1;
      return;
    }
    if (network.silent) counters.swallowed += 1;
    if (network.delay_ms > 0) counters.delayed += 1;
    const { pass, cut = false } = watch(direction, bytes);
    const due_ms = performance.now() + network.delay_ms;
    way.queue.push({ due_ms, bytes: pass.subarray(0, way.left), cut: cut || pass.length >= way.left });
    way.left -= pass.length;
    drain();
  }

  function drain(): void {
    clearTimeout(timer);
    let next_ms = Infinity;
    for (const way of Object.values(ways)) {
      while (!destroyed && !network.silent && way.queue.length > 0) {
        const piece = way.queue[0] ?? null;
        if (piece !== null && piece.due_ms > performance.now()) {
          next_ms = Math.min(next_ms, piece.due_ms);
          break;
        }
        way.queue.shift();
        send(piece, way);
      }
    }
    if (destroyed || network.silent) return;
    if (next_ms < Infinity) timer = setTimeout(drain, Math.max(1, next_ms - performance.now()));
    else if (gone.size === 2) destroy();
  }

  function send(piece: Piece | null, { from, to }: Way): void {
    if (piece === null) return void sides[to].end();
    if (gone.has(from) && to === "server") counters.late += 1;
    if (!gone.has(to)) sides[to].write(piece.bytes);
    if (!piece.cut) return;
    counters.cut += 1;
    // Bytes that were written already are still sent; later bytes are dropped.
    sides[to].end(destroy);
    sides[from].destroy();
  }

  for (const [direction, { from, to, queue }] of Object.entries(ways) as [Direction, Way][]) {
    sides[from].on("data", (bytes: Uint8Array) => came(direction, bytes));
    sides[from].on("error", () => {}); // The event "close" follows.
    sides[from].once("close", () => {
      gone.add(from);
      if (lost.has(from)) return;
      if (lost.has(to)) return destroy();
      queue.push(null);
      drain();
    });
  }

  return {
    isAbandoned: () => gone.has("client"),
    drain,
    destroy,
    cutAfter: (direction, bytes) => void (ways[direction].left = bytes),
    lose(side) {
      if (lost.size > 0 || gone.size > 0) return;
      lost.add(side);
      counters.half_open += 1;
      sides[side].destroy();
    },
  };
}
