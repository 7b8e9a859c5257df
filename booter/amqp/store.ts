// Accounts for the memory of a machine's messages, from their first byte until they are in no queue and in no channel.
// All connections of the broker share the memory, and each has a limit of its own (SessionPort.hold). The booter's own
// messages to a machine do not count: their number and size do not depend on the machine.
import type { Buffer } from "node:buffer";
import { AmqpFault, RESOURCE_ERROR } from "../../cli/internal/amqp/wire.ts";
import type { Sending } from "./channel.ts";
import type { SessionState } from "./session-state.ts";

export type Store = {
  /**
   * Reserves memory for a part of the message that is being sent.
   * @throws AmqpFault of scope "channel" if the broker has no memory left for this connection
   */
  reserve(sending: Sending, bytes: number): void;
  /** Releases the memory of a message that is never completed. */
  drop(sending: Sending | null): void;
  /** Keeps the memory of a complete message reserved until `sweep` releases it. */
  complete(sending: Sending, body: Buffer): void;
  /** Releases the memory of complete messages that are in no queue and in no channel. */
  sweep(): void;
  /** Releases everything. */
  clear(): void;
};

export function newStore({ port, queues, channels }: Pick<SessionState, "port" | "queues" | "channels">): Store {
  const incomplete = new Map<Sending, number>();
  /**
   * The bytes that are reserved for each complete message, by its body. A message that is delivered again has the same
   * body.
   */
  const complete = new Map<Buffer, number>();
  return {
    reserve(sending, bytes) {
      if (!port.hold(bytes)) {
        throw new AmqpFault(RESOURCE_ERROR, "the broker has no memory left for messages", "channel");
      }
      incomplete.set(sending, (incomplete.get(sending) ?? 0) + bytes);
    },
    drop(sending) {
      if (sending === null) return;
      port.hold(-(incomplete.get(sending) ?? 0));
      incomplete.delete(sending);
    },
    complete(sending, body) {
      complete.set(body, incomplete.get(sending) ?? 0);
      incomplete.delete(sending);
    },
    sweep() {
      if (complete.size === 0) return;
      const waiting = [...queues.values()].flatMap((queue) => queue.waiting.map(({ body }) => body));
      const unacked = [...channels.values()].flatMap((each) =>
        [...each.unacked.values()].map((one) => one.message.body)
      );
      const kept = new Set([...waiting, ...unacked]);
      for (const [body, bytes] of complete) {
        if (kept.has(body)) continue;
        port.hold(-bytes);
        complete.delete(body);
      }
    },
    clear() {
      for (const bytes of [...incomplete.values(), ...complete.values()]) port.hold(-bytes);
      incomplete.clear();
      complete.clear();
    },
  };
}
