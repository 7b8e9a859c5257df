// Defines the channels and queues of an AMQP connection. A channel has its unacknowledged deliveries, and the message
// that the machine is sending on it. A queue has its waiting messages and its consumers.
import { Buffer } from "node:buffer";
import { AMQP_BODY_BYTES_MAX, AMQP_QUEUED_MAX, AMQP_UNACKED_MAX } from "../limits.ts";
import { contentFrames, frame, METHOD } from "../../cli/internal/amqp/frame.ts";
import {
  AmqpFault,
  CONTENT_TOO_LARGE,
  type Reader,
  readerOf,
  RESOURCE_ERROR,
  shortText,
  u16,
  u64,
  u8,
} from "../../cli/internal/amqp/wire.ts";

export type Message = {
  readonly exchange: string;
  readonly key: string;
  /** The property flags and values of the content header, passed on unchanged. */
  readonly properties: Buffer;
  readonly body: Buffer;
  readonly redelivered: boolean;
  /** Called when the machine acknowledges the message. */
  readonly acknowledged?: (() => void) | undefined;
};

export type Queue = {
  readonly name: string;
  readonly keys: Set<string>;
  readonly waiting: Message[];
  readonly consumers: Consumer[];
};

export type Consumer = {
  readonly tag: string;
  readonly queue: Queue;
  readonly no_ack: boolean;
  readonly channel: Channel;
};

export type Channel = {
  readonly number: number;
  readonly unacked: Map<number, { readonly queue: Queue; readonly message: Message }>;
  prefetch: number;
  delivered: number;
  last_queue: string;
  confirms: boolean;
  published: number;
  sending: Sending | null;
  /**
   * True after the booter closed the channel. The booter then ignores all frames on the channel except the client's
   * close-ok.
   */
  closing: boolean;
};

export type Sending = {
  readonly exchange: string;
  readonly key: string;
  readonly mandatory: boolean;
  properties: Buffer | null;
  size: number;
  readonly parts: Buffer[];
  received: number;
};

export function newChannel(number: number): Channel {
  return {
    number,
    unacked: new Map(),
    prefetch: 0,
    delivered: 0,
    last_queue: "",
    confirms: false,
    published: 0,
    sending: null,
    closing: false,
  };
}

/**
 * Reads a content header. Allocates no memory for the size that the header claims: body bytes are stored as they
 * arrive.
 */
export function takeHeader(sending: Sending, payload: Buffer): void {
  const reader: Reader = readerOf(payload);
  reader.u16();
  reader.u16();
  const size = reader.u64();
  if (size > AMQP_BODY_BYTES_MAX) throw new AmqpFault(CONTENT_TOO_LARGE, "the message is too long", "channel");
  sending.size = size;
  sending.properties = Buffer.from(reader.rest());
}

export function method(class_id: number, method_id: number, ...parts: Buffer[]): Buffer {
  return Buffer.concat([u16(class_id), u16(method_id), ...parts]);
}

/**
 * Assigns waiting messages to consumers that acknowledge nothing or are below their limit of unacknowledged messages.
 * Returns the frames to send.
 */
export function deliverWaiting(queue: Queue, frame_bytes_max: number): Buffer[] {
  const out: Buffer[] = [];
  while (queue.waiting.length > 0) {
    const consumer = queue.consumers.find(({ channel, no_ack }) =>
      no_ack || channel.unacked.size < Math.min(channel.prefetch || AMQP_UNACKED_MAX, AMQP_UNACKED_MAX)
    );
    if (consumer === undefined) return out;
    const message = queue.waiting.shift()!;
    const { channel, tag, no_ack } = consumer;
    const number = ++channel.delivered;
    if (!no_ack) channel.unacked.set(number, { queue, message });
    const redelivered = u8(message.redelivered ? 1 : 0);
    const fields = [shortText(tag), u64(number), redelivered, exchangeAndKey(message)];
    out.push(frame(METHOD, channel.number, method(60, 60, ...fields)));
    out.push(contentFrames(channel.number, message.properties, message.body, frame_bytes_max));
    // Round robin: this consumer moves to the end.
    queue.consumers.push(queue.consumers.splice(queue.consumers.indexOf(consumer), 1)[0]!);
  }
  return out;
}

export function exchangeAndKey({ exchange, key }: Pick<Message, "exchange" | "key">): Buffer {
  return Buffer.concat([shortText(exchange), shortText(key)]);
}

export function enqueue(queue: Queue, message: Message): void {
  if (queue.waiting.length >= AMQP_QUEUED_MAX) throw new AmqpFault(RESOURCE_ERROR, "too many messages wait in a queue");
  queue.waiting.push(message);
}

/** Puts the unacknowledged messages with these delivery tags back at the front of their queues. Returns the queues. */
export function requeue(channel: Channel, tags: readonly number[]): Queue[] {
  const queues = new Set<Queue>();
  for (const tag of [...tags].reverse()) {
    const held = channel.unacked.get(tag);
    if (held === undefined) continue;
    channel.unacked.delete(tag);
    held.queue.waiting.unshift({ ...held.message, redelivered: true });
    queues.add(held.queue);
  }
  return [...queues];
}
