// Defines the schemas of instances' serial consoles, and of the calls that open consoles and screenshots
// (docs/instances.md, "Serial console").
import { z } from "zod";
import { Timestamp, withDefault } from "./common.ts";
import { CONSOLE_MODES } from "./enums.ts";
import { CONSOLE_HISTORY_BYTES_DEFAULT, CONSOLE_LOG_BYTES_MAX } from "./limits.ts";

/** The body that requests a console ticket. Without a body, the ticket is for typing. */
export const ConsoleTicketBody = z.strictObject({
  mode: withDefault(z.enum(["write", "watch"]), "write").describe(
    "write: type and read. watch: only read. Only one console of an instance can type; the others watch",
  ),
  take_over: withDefault(z.boolean(), false).describe(
    "Applies if the mode is write and another console already types. true: that console becomes a watcher. false: " +
      "this request is refused",
  ),
  history_bytes: withDefault(z.number().int().min(0).max(CONSOLE_LOG_BYTES_MAX), CONSOLE_HISTORY_BYTES_DEFAULT)
    .describe("Bytes of earlier output that are sent first"),
});
export type ConsoleTicketBody = z.input<typeof ConsoleTicketBody>;

/** A console ticket: it opens one WebSocket, once. */
export const ConsoleTicket = z.object({
  session_id: z.string().describe("The id of the console session in the audit chain"),
  ticket: z.string().describe("Sent as the second WebSocket subprotocol, `berth.ticket.TICKET`"),
  expires_at: Timestamp,
});
export type ConsoleTicket = z.infer<typeof ConsoleTicket>;

/** A serial console that is open now. */
export const OpenConsole = z.object({
  session_id: z.string().describe("The id of the console session in the audit chain"),
  user_id: z.string(),
  username: z.string(),
  mode: z.enum(["write", "watch"]).describe(
    "The requested mode. It remains write after another console has taken over",
  ),
  since: Timestamp.describe("When the ticket of this console was issued"),
});
export type OpenConsole = z.infer<typeof OpenConsole>;

/** A console call: the node must open a WebSocket for the console of an instance. */
export const ConsoleCall = z.object({
  session_id: z.string(),
  instance_id: z.string(),
  mode: z.enum(CONSOLE_MODES),
  take_over: z.boolean(),
  history_bytes: z.number().int(),
  username: z.string().describe("Shown to the user whose console is taken over"),
  relay_url: z.string().nullable().describe(
    "The address of the server process that waits for the node. Null: the node connects to its usual endpoint",
  ),
});
export type ConsoleCall = z.infer<typeof ConsoleCall>;
