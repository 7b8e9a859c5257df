// Implements a client of the QEMU guest agent, a program in the guest that answers on a socket of QEMU. A guest may
// lack this program, and a guest that was taken over may give any answer or none. So each call has a time limit, and
// answers are limited in size and checked. A valid answer may still be false.
import { randomInt } from "node:crypto";
import { connect, isIP, type Socket } from "node:net";
import type { GuestInterface } from "../../src/contract/instance.ts";
import { GUEST_ADDRESSES_MAX, GUEST_INTERFACES_MAX } from "../../src/contract/limits.ts";

/** A call to the guest agent failed: no answer in time, a refusal, or an invalid answer. */
export class GuestAgentError extends Error {}

export type GuestAgent = {
  /** Returns the addresses that the guest has configured, by NIC, without loopback and link-local addresses. */
  interfaces(): Promise<readonly GuestInterface[]>;
  /** Flushes and freezes the guest's file systems, and returns their number. Writers in the guest wait until thaw(). */
  freeze(): Promise<number>;
  /** Thaws the guest's file systems, and returns their number. */
  thaw(): Promise<number>;
  /** Asks the guest to turn itself off. Does not wait for its end. */
  shutdown(): Promise<void>;
};

/** Time limits of a call, and of a freeze or thaw. A freeze takes longer, because it waits for the guest's disk. */
const CALL_LIMIT_MS = 3_000;
const FREEZE_LIMIT_MS = 20_000;
/** The longest answer. The interfaces of a large guest take some tens of kilobytes. */
const ANSWER_CHARS_MAX = 2 ** 20;
/** The byte before a synchronization. The guest agent discards unfinished input when it reads this byte. */
const DELIMITER = "\xff";
const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;
const ID_MAX = 2 ** 31;

/**
 * Returns a client of the guest agent behind a socket. Each call has its own connection; QEMU serves one connection at
 * a time.
 */
export function guestAgentAt(
  path: string,
  limits = { call_ms: CALL_LIMIT_MS, freeze_ms: FREEZE_LIMIT_MS },
): GuestAgent {
  let last: Promise<unknown> = Promise.resolve();
  /** Runs one conversation after the other. */
  function ask(command: string, limit_ms: number, answers = true): Promise<unknown> {
    const answer = last.then(() => converse(path, { command, limit_ms, answers }));
    last = answer.catch(() => {});
    return answer;
  }
  return {
    interfaces: async () => interfacesOf(await ask("guest-network-get-interfaces", limits.call_ms)),
    freeze: async () => countOf(await ask("guest-fsfreeze-freeze", limits.freeze_ms)),
    thaw: async () => countOf(await ask("guest-fsfreeze-thaw", limits.freeze_ms)),
    // A guest that shuts down does not answer.
    shutdown: async () => void await ask("guest-shutdown", limits.call_ms, false),
  };
}

type Conversation = { readonly command: string; readonly limit_ms: number; readonly answers: boolean };

/** Synchronizes with the guest agent, sends one command and returns its answer. */
async function converse(path: string, { command, limit_ms, answers }: Conversation): Promise<unknown> {
  const socket = connect({ path });
  // An open conversation does not keep the agent running.
  socket.unref();
  const timer = setTimeout(() => socket.destroy(new GuestAgentError("the guest agent does not answer")), limit_ms);
  try {
    const lines = linesOf(socket);
    const id = randomInt(ID_MAX);
    socket.write(`${DELIMITER}${JSON.stringify({ execute: "guest-sync-delimited", arguments: { id } })}\n`, "latin1");
    // Answers to earlier conversations may come first.
    while ((await next(lines)).return !== id);
    socket.write(`${JSON.stringify({ execute: command })}\n`);
    if (!answers) return await new Promise<void>((resolve) => socket.end(() => resolve()));
    const answer = await next(lines);
    if (answer.error !== undefined) throw new GuestAgentError(`the guest agent refused ${command}`);
    return answer.return;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

async function* linesOf(socket: Socket): AsyncGenerator<string> {
  let text = "";
  socket.setEncoding("latin1");
  for await (const chunk of socket) {
    const lines = `${text}${chunk}`.split("\n");
    text = lines.pop()!;
    if (text.length > ANSWER_CHARS_MAX) throw new GuestAgentError("the guest agent's answer is too long");
    yield* lines;
  }
}

async function next(lines: AsyncGenerator<string>): Promise<Readonly<Record<string, unknown>>> {
  const { value, done } = await lines.next();
  if (done === true) throw new GuestAgentError("the guest agent closed the connection");
  try {
    const message: unknown = JSON.parse(value.replaceAll(DELIMITER, ""));
    if (typeof message === "object" && message !== null) return message as Readonly<Record<string, unknown>>;
  } catch {
    // The error below reports it.
  }
  throw new GuestAgentError("the guest agent sent no JSON");
}

/** Reads the answer of guest-network-get-interfaces. Entries that are not interfaces are left out. */
export function interfacesOf(answer: unknown): readonly GuestInterface[] {
  if (!Array.isArray(answer)) throw new GuestAgentError("the guest agent sent no list of interfaces");
  const found = answer.flatMap((each) => {
    const mac = textOf(each, "hardware-address").toLowerCase();
    const addresses = member(each, "ip-addresses");
    if (!MAC.test(mac) || mac === "00:00:00:00:00:00" || !Array.isArray(addresses)) return [];
    const texts = addresses.map((address) => textOf(address, "ip-address").toLowerCase());
    return [{ mac, addresses: texts.filter(isShown).slice(0, GUEST_ADDRESSES_MAX) }];
  });
  return found.slice(0, GUEST_INTERFACES_MAX);
}

/** Returns whether other machines can reach an address: it is neither loopback nor link-local. */
function isShown(address: string): boolean {
  return isIP(address) !== 0 && !/^(?:127\.|169\.254\.|::1$|fe[89ab])/.test(address);
}

function countOf(answer: unknown): number {
  if (typeof answer === "number" && Number.isSafeInteger(answer) && answer >= 0) return answer;
  throw new GuestAgentError("the guest agent sent no number of file systems");
}

function textOf(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === "string" ? found : "";
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
