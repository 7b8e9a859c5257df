// Handles AMQP methods that a machine sends on a channel. A machine can only use its own queues and routing keys
// (rights.ts).
import { randomBytes } from "node:crypto";
import { AMQP_BINDINGS_MAX, AMQP_CONSUMERS_MAX, AMQP_QUEUES_MAX, AMQP_UNACKED_MAX } from "../limits.ts";
import { type Channel, deliverWaiting, exchangeAndKey, method, type Queue, requeue } from "./channel.ts";
import { contentFrames, frame, METHOD } from "../../cli/internal/amqp/frame.ts";
import type { Method } from "./method.ts";
import { bindKeyOwner, publishKeyOwner, queueName } from "./rights.ts";
import { accessRefused, closeChannel, dropConsumers, type SessionState, TOPIC } from "./session-state.ts";
import {
  AmqpFault,
  COMMAND_INVALID,
  NOT_ALLOWED,
  NOT_FOUND,
  PRECONDITION_FAILED,
  RESOURCE_ERROR,
  RESOURCE_LOCKED,
  shortText,
  u32,
  u64,
  u8,
} from "../../cli/internal/amqp/wire.ts";

export function channelMethod(state: SessionState, channel: Channel, asked: Method): void {
  const { port } = state;
  const send = (...parts: Parameters<typeof method>) => port.write(frame(METHOD, channel.number, method(...parts)));
  const deliver = (queue: Queue) => {
    for (const bytes of deliverWaiting(queue, state.frame_bytes_max)) port.write(bytes);
  };
  switch (asked.name) {
    case "channel.close":
      closeChannel(state, channel);
      return send(20, 41);
    case "channel.close-ok":
    case "channel.flow-ok":
      return;
    case "exchange.declare":
      if (asked.exchange !== TOPIC || asked.type !== "topic") throw accessRefused();
      return asked.no_wait ? undefined : send(40, 11);
    case "exchange.delete":
      // A machine's agent asks to delete the exchange when the agent stops. All machines share the exchange, so the
      // booter keeps the exchange.
      return asked.no_wait ? undefined : send(40, 21);
    case "queue.declare": {
      const queue = declare(state, channel, asked);
      if (!asked.no_wait) {
        send(50, 11, shortText(queue.name), u32(queue.waiting.length), u32(queue.consumers.length));
      }
      return;
    }
    case "queue.bind":
      bind(state, queueOf(state, channel, asked.queue), asked);
      return asked.no_wait ? undefined : send(50, 21);
    case "queue.unbind":
      queueOf(state, channel, asked.queue).keys.delete(asked.key);
      return send(50, 51);
    case "queue.purge": {
      const purged = queueOf(state, channel, asked.queue).waiting.splice(0).length;
      return asked.no_wait ? undefined : send(50, 31, u32(purged));
    }
    case "queue.delete": {
      const queue = state.queues.get(asked.queue);
      if (queue !== undefined) dropConsumers(queue, () => true, state);
      state.queues.delete(asked.queue);
      return asked.no_wait ? undefined : send(50, 41, u32(queue?.waiting.length ?? 0));
    }
    case "basic.qos":
      channel.prefetch = asked.prefetch;
      return send(60, 11);
    case "basic.consume": {
      const queue = queueOf(state, channel, asked.queue);
      const consumers = [...state.queues.values()].reduce((sum, { consumers }) => sum + consumers.length, 0);
      if (consumers >= AMQP_CONSUMERS_MAX) throw new AmqpFault(RESOURCE_ERROR, "too many consumers", "channel");
      const tag = asked.tag === "" ? `amq.ctag-${randomBytes(12).toString("hex")}` : asked.tag;
      if ([...state.queues.values()].some(({ consumers }) => consumers.some((each) => each.tag === tag))) {
        throw new AmqpFault(NOT_ALLOWED, "the consumer tag is in use");
      }
      queue.consumers.push({ tag, queue, no_ack: asked.no_ack, channel });
      if (!asked.no_wait) send(60, 21, shortText(tag));
      deliver(queue);
      const name = queueName(queue.name);
      if (name?.kind === "request") port.consuming(name.server_uuid, true);
      return;
    }
    case "basic.cancel":
      for (const queue of state.queues.values()) dropConsumers(queue, ({ tag }) => tag === asked.tag, state);
      return asked.no_wait ? undefined : send(60, 31, shortText(asked.tag));
    case "basic.publish":
      mayPublish(state, asked);
      channel.sending = { ...asked, properties: null, size: 0, parts: [], received: 0 };
      return;
    case "basic.get": {
      const queue = queueOf(state, channel, asked.queue);
      if (!asked.no_ack && channel.unacked.size >= AMQP_UNACKED_MAX) {
        throw new AmqpFault(RESOURCE_ERROR, "too many messages are not acknowledged", "channel");
      }
      const message = queue.waiting.shift();
      if (message === undefined) return send(60, 72, shortText(""));
      const number = ++channel.delivered;
      if (!asked.no_ack) channel.unacked.set(number, { queue, message });
      const fields = [u64(number), u8(message.redelivered ? 1 : 0), exchangeAndKey(message), u32(queue.waiting.length)];
      send(60, 71, ...fields);
      port.write(contentFrames(channel.number, message.properties, message.body, state.frame_bytes_max));
      return;
    }
    case "basic.ack":
    case "basic.nack": {
      const tags = acknowledged(channel, asked);
      const queues = new Set(tags.map((tag) => channel.unacked.get(tag)!.queue));
      if (asked.name === "basic.nack" && asked.requeue) requeue(channel, tags);
      else {
        for (const tag of tags) {
          if (asked.name === "basic.ack") channel.unacked.get(tag)!.message.acknowledged?.();
          channel.unacked.delete(tag);
        }
      }
      for (const queue of queues) deliver(queue);
      return;
    }
    case "confirm.select":
      channel.confirms = true;
      return asked.no_wait ? undefined : send(85, 11);
    default:
      throw new AmqpFault(COMMAND_INVALID, "the method is not a channel method");
  }
}

type Declare = Extract<Method, { readonly name: "queue.declare" }>;

function declare(state: SessionState, channel: Channel, { queue: asked, passive }: Declare): Queue {
  const name = asked === "" ? `amq.gen-${randomBytes(12).toString("hex")}` : asked;
  const owner = queueName(name);
  if (owner === null) throw accessRefused();
  const known = state.queues.get(name);
  if (known === undefined && passive) throw new AmqpFault(NOT_FOUND, "the queue does not exist", "channel");
  if (owner.kind !== "own") identify(state, owner.server_uuid);
  channel.last_queue = name;
  if (known !== undefined) return known;
  if (state.queues.size >= AMQP_QUEUES_MAX) throw new AmqpFault(RESOURCE_ERROR, "too many queues", "channel");
  const made: Queue = { name, keys: new Set(), waiting: [], consumers: [] };
  state.queues.set(name, made);
  return made;
}

/** Binds the connection to the first server UUID that it names. No other open connection can use that UUID. */
function identify(state: SessionState, server_uuid: string): void {
  if (state.server_uuid === server_uuid) return;
  if (state.server_uuid !== null) throw accessRefused();
  if (!state.port.claim(server_uuid)) {
    throw new AmqpFault(RESOURCE_LOCKED, "the queue belongs to another connection", "channel");
  }
  state.server_uuid = server_uuid;
}

function bind(state: SessionState, queue: Queue, { exchange, key }: { exchange: string; key: string }): void {
  if (exchange !== TOPIC) throw new AmqpFault(NOT_FOUND, "the exchange does not exist", "channel");
  const owner = bindKeyOwner(key);
  if (owner === false || (owner !== null && owner !== state.server_uuid)) throw accessRefused();
  if (queue.keys.has(key)) return;
  const bindings = [...state.queues.values()].reduce((sum, { keys }) => sum + keys.size, 0);
  if (bindings >= AMQP_BINDINGS_MAX) throw new AmqpFault(RESOURCE_ERROR, "too many bindings", "channel");
  queue.keys.add(key);
}

function mayPublish(state: SessionState, { exchange, key }: { exchange: string; key: string }): void {
  if (exchange === "") return; // the default exchange delivers only to the machine's own queues
  if (exchange !== TOPIC) throw new AmqpFault(NOT_FOUND, "the exchange does not exist", "channel");
  const owner = publishKeyOwner(key);
  if (owner === false) throw accessRefused();
  identify(state, owner);
}

function queueOf(state: SessionState, channel: Channel, name: string): Queue {
  const queue = state.queues.get(name === "" ? channel.last_queue : name);
  if (queue === undefined) throw new AmqpFault(NOT_FOUND, "the queue does not exist", "channel");
  return queue;
}

function acknowledged(channel: Channel, { tag, multiple }: { tag: number; multiple: boolean }): number[] {
  const tags = [...channel.unacked.keys()].filter((each) => multiple ? tag === 0 || each <= tag : each === tag);
  if (tags.length === 0 && !(multiple && tag === 0)) {
    throw new AmqpFault(PRECONDITION_FAILED, "the delivery tag is unknown", "channel");
  }
  return tags;
}
