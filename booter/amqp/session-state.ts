// What a connection holds: its channels, its queues and its identity.
import type { Buffer } from "node:buffer";
import { type Channel, type Queue, requeue, worker } from "./channel.ts";
import { ACCESS_REFUSED, AmqpFault } from "./wire.ts";

export type SessionPort = {
  write(bytes: Buffer): void;
  /** Ends the connection once what was written is out. */
  end(): void;
  login(user: string, password: string): string | null;
  /** Whether this machine may have this identity now: another connection may hold it. */
  claim(server_uuid: string): boolean;
  /** Bytes of bodies that come in, over all connections: false when there is no room. */
  hold(bytes: number): boolean;
  opened(): void;
  /** The machine's request queue has its consumer, or lost it. */
  consuming(server_uuid: string, is: boolean): void;
  published(key: string, body: Buffer): void;
};

/** What the methods of channels work on. */
export type SessionState = {
  readonly port: SessionPort;
  readonly channels: Map<number, Channel>;
  readonly queues: Map<string, Queue>;
  server_uuid: string | null;
  frame_bytes_max: number;
};

export const TOPIC = "amq.topic";
/** Takes consumers away; says so when the request queue lost its last one. */
export function dropConsumers(queue: Queue, which: (each: Queue["consumers"][number]) => boolean, state: SessionState) {
  const before = queue.consumers.length;
  const kept = queue.consumers.filter((each) => !which(each));
  queue.consumers.splice(0, before, ...kept);
  if (before > 0 && kept.length === 0 && queue.name.startsWith("ur.request.") && state.server_uuid !== null) {
    state.port.consuming(state.server_uuid, false);
  }
}

export function closeChannel(state: SessionState, channel: Channel): void {
  for (const queue of state.queues.values()) dropConsumers(queue, (each) => each.channel === channel, state);
  for (const queue of requeue(channel, [...channel.unacked.keys()])) {
    for (const bytes of worker(queue, state.frame_bytes_max)) state.port.write(bytes);
  }
  state.channels.delete(channel.number);
}

export function accessRefused(): AmqpFault {
  return new AmqpFault(ACCESS_REFUSED, "that belongs to another machine", "channel");
}
