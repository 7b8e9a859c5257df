// Defines the state of an AMQP connection: its channels, its queues, and the machine's identity.
import type { Buffer } from "node:buffer";
import { type Channel, deliverWaiting, type Queue, requeue } from "./channel.ts";
import { ACCESS_REFUSED, AmqpFault } from "../../cli/internal/amqp/wire.ts";

export type SessionPort = {
  write(bytes: Buffer): void;
  /** Closes the connection after all written bytes are sent. */
  end(): void;
  login(user: string, password: string): string | null;
  /** Reserves the server UUID for this connection. Returns false if another connection has it. */
  claim(server_uuid: string): boolean;
  /**
   * Reserves memory for the machine's messages; a negative number releases memory. Returns false if the broker has no
   * memory left for this connection.
   */
  hold(bytes: number): boolean;
  opened(): void;
  /**
   * Called with true whenever the machine's request queue gets a consumer. Called with false when the queue loses its
   * last consumer and when the connection ends.
   */
  consuming(server_uuid: string, is: boolean): void;
  published(key: string, body: Buffer): void;
  /**
   * Called when the booter closes the connection or a channel because the machine broke a rule of the protocol or
   * exceeded a limit.
   */
  fault(fault: AmqpFault): void;
};

/** The state that the methods of channels change. */
export type SessionState = {
  readonly port: SessionPort;
  readonly channels: Map<number, Channel>;
  readonly queues: Map<string, Queue>;
  server_uuid: string | null;
  frame_bytes_max: number;
};

export const TOPIC = "amq.topic";
/** Removes consumers. Calls `consuming` when the request queue loses its last consumer. */
export function dropConsumers(queue: Queue, which: (each: Queue["consumers"][number]) => boolean, state: SessionState) {
  const before = queue.consumers.length;
  const kept = queue.consumers.filter((each) => !which(each));
  queue.consumers.splice(0, before, ...kept);
  if (before > 0 && kept.length === 0 && queue.name.startsWith("ur.request.") && state.server_uuid !== null) {
    state.port.consuming(state.server_uuid, false);
  }
}

export function closeChannel(state: SessionState, channel: Channel): void {
  emptyChannel(state, channel);
  state.channels.delete(channel.number);
}

/** Removes a channel's consumers, and puts its unacknowledged messages back into their queues. */
export function emptyChannel(state: SessionState, channel: Channel): void {
  for (const queue of state.queues.values()) dropConsumers(queue, (each) => each.channel === channel, state);
  for (const queue of requeue(channel, [...channel.unacked.keys()])) {
    for (const bytes of deliverWaiting(queue, state.frame_bytes_max)) state.port.write(bytes);
  }
}

export function accessRefused(): AmqpFault {
  return new AmqpFault(ACCESS_REFUSED, "this machine may not use the name", "channel");
}
