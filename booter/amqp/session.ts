// Handles the AMQP connection of one machine. After the login, the machine can use only its own queues. A message that
// a machine publishes can reach only the booter and the machine's own queues. A queue gets a message once, even if
// several of its bindings match: the machine's agent creates its bindings twice after it reconnects.
import { Buffer } from "node:buffer";
import { AMQP_FRAME_BYTES_MAX } from "../../cli/internal/amqp/limits.ts";
import { AMQP_CHANNELS_MAX, AMQP_HEARTBEAT_S } from "../limits.ts";
import { type Channel, deliverWaiting, enqueue, type Message, method, newChannel, takeHeader } from "./channel.ts";
import { channelMethod } from "./channel-method.ts";
import { emptyChannel, type SessionPort, type SessionState, TOPIC } from "./session-state.ts";
import { newStore } from "./store.ts";
import {
  BODY,
  contentFrames,
  type Frame,
  frame,
  HEADER,
  HEARTBEAT,
  METHOD,
  newFrameCutter,
  PROTOCOL_HEADER,
} from "../../cli/internal/amqp/frame.ts";
import { type Method, readLogin, readMethod } from "./method.ts";
import { topicMatches } from "./topic.ts";
import {
  AmqpFault,
  CHANNEL_ERROR,
  COMMAND_INVALID,
  longText,
  NOT_ALLOWED,
  RESOURCE_ERROR,
  shortText,
  table,
  u16,
  u32,
  u8,
} from "../../cli/internal/amqp/wire.ts";

export type Session = {
  receive(bytes: Buffer): void;
  /**
   * Sends a message to every queue with a binding that matches the key. Returns the number of these queues. Calls
   * `acknowledged` when the machine acknowledges the message.
   */
  deliver(key: string, body: string, acknowledged?: () => void): number;
  mac(): string | null;
  /** Returns the interval of heartbeats; 0 if the peer wants none. */
  heartbeat_s(): number;
  /**
   * Releases the reserved memory and reports that the machine no longer consumes its request queue. The session must
   * not be used afterwards.
   */
  ended(): void;
};

type Stage = "header" | "login" | "tune" | "open" | "running" | "closing";

/** @param heartbeat_s_max the interval of heartbeats that the broker offers to the peer */
export function newSession(port: SessionPort, heartbeat_s_max = AMQP_HEARTBEAT_S): Session {
  const cutter = newFrameCutter();
  const state: SessionState = {
    port,
    channels: new Map(),
    queues: new Map(),
    server_uuid: null,
    frame_bytes_max: AMQP_FRAME_BYTES_MAX,
  };
  let stage: Stage = "header";
  let greeting = Buffer.alloc(0);
  let mac: string | null = null;
  let heartbeat_s = heartbeat_s_max;
  const store = newStore(state);

  const send = (channel: number, payload: Buffer) => port.write(frame(METHOD, channel, payload));

  function take({ type, channel: number, payload }: Frame): void {
    if (type === HEARTBEAT) return;
    if (number === 0) {
      if (type !== METHOD) throw new AmqpFault(COMMAND_INVALID, "channel 0 accepts no message content");
      return connectionMethod(readMethod(payload));
    }
    if (stage === "closing") return;
    if (stage !== "running") throw new AmqpFault(CHANNEL_ERROR, "the connection is not open yet");
    const channel = state.channels.get(number);
    if (type === METHOD) {
      const asked = readMethod(payload);
      if (asked.name === "channel.open") return openChannel(number, channel);
      if (channel === undefined) throw new AmqpFault(CHANNEL_ERROR, "the channel is not open");
      if (channel.closing) return void (asked.name === "channel.close-ok" && state.channels.delete(number));
      if (channel.sending !== null) {
        throw new AmqpFault(COMMAND_INVALID, "a method arrived before the body of the message was complete");
      }
      return inChannel(channel, () => channelMethod(state, channel, asked));
    }
    if (channel === undefined) throw new AmqpFault(CHANNEL_ERROR, "the channel is not open");
    if (channel.closing) return;
    inChannel(channel, () => content(channel, type, payload));
  }

  function openChannel(number: number, channel: Channel | undefined): void {
    if (channel !== undefined) throw new AmqpFault(CHANNEL_ERROR, "the channel is open already");
    if (number > AMQP_CHANNELS_MAX) throw new AmqpFault(RESOURCE_ERROR, "too many channels");
    state.channels.set(number, newChannel(number));
    send(number, method(20, 11, u32(0)));
  }

  /** Runs code for one channel. A fault of scope "channel" closes only this channel. */
  function inChannel(channel: Channel, body: () => void): void {
    try {
      body();
    } catch (error) {
      if (!(error instanceof AmqpFault) || error.scope !== "channel") throw error;
      port.fault(error);
      store.drop(channel.sending);
      channel.closing = true;
      channel.sending = null;
      emptyChannel(state, channel);
      send(channel.number, method(20, 40, u16(error.code), shortText(error.message), u16(0), u16(0)));
    }
  }

  function content(channel: Channel, type: number, payload: Buffer): void {
    const { sending } = channel;
    if (sending === null) throw new AmqpFault(COMMAND_INVALID, "message content arrived without basic.publish");
    if (type === HEADER) {
      if (sending.properties !== null) throw new AmqpFault(COMMAND_INVALID, "a message has a second content header");
      takeHeader(sending, payload);
      store.reserve(sending, sending.properties!.length);
    } else if (type === BODY) {
      if (sending.properties === null) {
        throw new AmqpFault(COMMAND_INVALID, "a message body arrived before its content header");
      }
      if (sending.received + payload.length > sending.size) {
        throw new AmqpFault(COMMAND_INVALID, "the message body is longer than the size in its header");
      }
      store.reserve(sending, payload.length);
      sending.received += payload.length;
      // Copies the payload, because it is a view into a larger buffer that would otherwise stay in memory.
      sending.parts.push(Buffer.from(payload));
    }
    if (sending.properties === null || sending.received < sending.size) return;
    const body = Buffer.concat(sending.parts);
    store.complete(sending, body);
    channel.sending = null;
    const { exchange, key, properties, mandatory } = sending;
    whole(channel, { exchange, key, properties, body, redelivered: false }, mandatory);
  }

  function whole(channel: Channel, message: Message, mandatory: boolean): void {
    const count = route(message);
    if (message.exchange === TOPIC) port.published(message.key, message.body);
    else if (count === 0 && mandatory) {
      const text = [shortText("NO_ROUTE"), shortText(message.exchange), shortText(message.key)];
      send(channel.number, method(60, 50, u16(312), ...text));
      port.write(contentFrames(channel.number, message.properties, message.body, state.frame_bytes_max));
    }
    if (channel.confirms) send(channel.number, method(60, 80, Buffer.alloc(4), u32(++channel.published), u8(0)));
  }

  function route(message: Message): number {
    const queues = [...state.queues.values()].filter((queue) =>
      message.exchange === ""
        ? queue.name === message.key
        : [...queue.keys].some((key) => topicMatches(key, message.key))
    );
    for (const queue of queues) {
      enqueue(queue, message);
      for (const bytes of deliverWaiting(queue, state.frame_bytes_max)) port.write(bytes);
    }
    return queues.length;
  }

  function connectionMethod(asked: Method): void {
    if (asked.name === "connection.close") {
      send(0, method(10, 51));
      return port.end();
    }
    if (asked.name === "connection.close-ok") return port.end();
    if (stage === "login" && asked.name === "connection.start-ok") {
      const login = readLogin(asked.mechanism, asked.response);
      mac = login === null ? null : port.login(login.user, login.password);
      // The AMQP standard requires that a refused login ends the connection.
      if (mac === null) return port.end();
      stage = "tune";
      return send(0, method(10, 30, u16(AMQP_CHANNELS_MAX), u32(AMQP_FRAME_BYTES_MAX), u16(heartbeat_s_max)));
    }
    if (stage === "tune" && asked.name === "connection.tune-ok") {
      // The client's limit for a frame; 0 means that the client has no limit. The machine's agent sends the value that
      // the booter offered. The standard forbids the values from 1 to 4,095.
      const limit = asked.frame_max === 0 ? AMQP_FRAME_BYTES_MAX : asked.frame_max;
      if (limit < 4_096 || limit > AMQP_FRAME_BYTES_MAX) throw new AmqpFault(NOT_ALLOWED, "frame-max is out of range");
      state.frame_bytes_max = limit;
      heartbeat_s = Math.min(asked.heartbeat_s, heartbeat_s_max);
      stage = "open";
      return;
    }
    if (stage === "open" && asked.name === "connection.open") {
      if (asked.vhost !== "/") throw new AmqpFault(NOT_ALLOWED, "the virtual host does not exist");
      stage = "running";
      port.opened();
      return send(0, method(10, 41, shortText("")));
    }
    throw new AmqpFault(COMMAND_INVALID, "the method is not allowed at this stage of the connection");
  }

  function readGreeting(bytes: Buffer): Buffer | null {
    greeting = Buffer.concat([greeting, bytes]);
    if (greeting.length < PROTOCOL_HEADER.length) return null;
    if (!greeting.subarray(0, PROTOCOL_HEADER.length).equals(PROTOCOL_HEADER)) {
      port.write(PROTOCOL_HEADER);
      port.end();
      stage = "closing";
      return null;
    }
    stage = "login";
    const capabilities = { publisher_confirms: true, "basic.nack": true, consumer_cancel_notify: false };
    const properties = table({ product: "booter", capabilities });
    send(0, method(10, 10, u8(0), u8(9), properties, longText("PLAIN AMQPLAIN"), longText("en_US")));
    return greeting.subarray(PROTOCOL_HEADER.length);
  }

  function fail(error: unknown): void {
    if (!(error instanceof AmqpFault)) throw error;
    port.fault(error);
    stage = "closing";
    send(0, method(10, 50, u16(error.code), shortText(error.message), u16(0), u16(0)));
    port.end();
  }

  return {
    receive(bytes) {
      try {
        const rest = stage === "header" ? readGreeting(bytes) : bytes;
        if (rest === null) return;
        for (const each of cutter.push(rest)) {
          if (stage !== "closing") take(each);
          store.sweep();
        }
      } catch (error) {
        fail(error);
      }
    },
    deliver(key, body, acknowledged) {
      if (stage !== "running") return 0;
      // The flag 0x8000 means that the header contains a content type. The machine's agent parses a message only if its
      // content type is JSON.
      const properties = Buffer.concat([u16(0x8000), shortText("application/json")]);
      return route({ exchange: TOPIC, key, properties, body: Buffer.from(body), redelivered: false, acknowledged });
    },
    mac: () => mac,
    heartbeat_s: () => heartbeat_s,
    ended() {
      store.clear();
      stage = "closing";
      if (state.server_uuid !== null) port.consuming(state.server_uuid, false);
    },
  };
}
