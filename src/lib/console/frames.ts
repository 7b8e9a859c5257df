// Defines the frames of a serial console on its WebSocket. The browser, tenantctl, the server and the node use the same
// frames. Binary frames contain bytes of the console. Text frames are control messages in JSON.
import { CONSOLE_CONTROL_BYTES_MAX } from "../../contract/limits.ts";

/** The WebSocket subprotocol. The answer of the server names this subprotocol. */
export const CONSOLE_PROTOCOL = "berth.console.v1";
/**
 * A client offers a second subprotocol, which contains the ticket, because a browser cannot set any other header of a
 * WebSocket request.
 */
const TICKET_PREFIX = "berth.ticket.";
const TICKET = /^[\w-]{16,128}$/;

/**
 * A control message. Clients and nodes ignore unknown types, so that later versions may add types. The server ends a
 * console if the client sends another type than `ack`.
 */
export type ConsoleControl =
  /** The sender of this message has used this many further bytes, so the other end may send as many more. */
  | { readonly type: "ack"; readonly bytes: number }
  /** The node is connected. `writer` says whether this console may type. */
  | { readonly type: "ready"; readonly writer: boolean }
  /** The user `by` took over typing. From now on the receiver of this message can only watch. */
  | { readonly type: "demoted"; readonly by: string }
  /** The receiver of this message read too slowly, so the node dropped this many bytes. */
  | { readonly type: "skipped"; readonly bytes: number }
  /** The whole log or screen was sent. */
  | { readonly type: "done" }
  /** The console ends; `message` says why, for the user. */
  | { readonly type: "end"; readonly message: string };

/** Returns the subprotocols that a client offers. */
export function consoleProtocols(ticket: string): string[] {
  return [CONSOLE_PROTOCOL, `${TICKET_PREFIX}${ticket}`];
}

/**
 * Returns the ticket in a Sec-WebSocket-Protocol header; null if the header has no CONSOLE_PROTOCOL or no valid ticket.
 */
export function consoleTicketOf(header: string | undefined): string | null {
  const offered = (header ?? "").split(",").map((each) => each.trim());
  if (!offered.includes(CONSOLE_PROTOCOL)) return null;
  const text = offered.find((each) => each.startsWith(TICKET_PREFIX))?.slice(TICKET_PREFIX.length) ?? "";
  return TICKET.test(text) ? text : null;
}

/** Returns the text frame of a control message. */
export function controlText(control: ConsoleControl): string {
  return JSON.stringify(control);
}

/**
 * Parses a text frame. Returns null if the text is too long, is not a control message, or is a message of an unknown
 * type.
 */
export function parseControl(text: string): ConsoleControl | null {
  if (text.length > CONSOLE_CONTROL_BYTES_MAX) return null;
  const value = parsed(text);
  if (value === null) return null;
  const { type, bytes, writer, by, message } = value;
  switch (type) {
    case "ack":
    case "skipped":
      return isCount(bytes) ? { type, bytes } : null;
    case "ready":
      return typeof writer === "boolean" ? { type, writer } : null;
    case "demoted":
      return typeof by === "string" ? { type, by } : null;
    case "done":
      return { type };
    case "end":
      return typeof message === "string" ? { type, message } : null;
    default:
      return null;
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value as Record<string, unknown> : null;
  } catch {
    return null;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
