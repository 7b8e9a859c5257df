// The messages of a console session. They contain the hash of a ticket, but never the ticket itself, and never the
// current time.
import type { ConsoleMode, ConsoleRead } from "../../src/contract/enums.ts";
import type { Of } from "../engine/table.ts";

/** The user and the credential of the caller. */
export type ConsoleCaller = {
  readonly user_id: string;
  readonly username: string;
  /** The API key that the caller sent, or that opened the caller's session of the web console; otherwise null. */
  readonly key_id: string | null;
  /** The login session. Null for keys and for tokens of other issuers. */
  readonly login_id: string | null;
  readonly credential_expires_at: string | null;
  readonly is_root: boolean;
};

type Wanted = ConsoleCaller & {
  readonly id: string;
  readonly instance_id: string;
  /** The node of the instance. */
  readonly cn: string;
};

export type ConsoleSessionMessage =
  | Wanted & {
    readonly type: "issue";
    readonly mode: Exclude<ConsoleMode, ConsoleRead>;
    readonly take_over: boolean;
    readonly history_bytes: number;
    readonly ticket_sha256: string;
  }
  /** Reads the log or the screen once. It needs no ticket, because the caller's own request waits for the node. */
  | Wanted & { readonly type: "read"; readonly mode: ConsoleRead; readonly relay_url: string | null }
  /**
   * The caller connected with the ticket. The node must connect to `relay_url` or, if it is null, to the endpoint that
   * the agent uses.
   */
  | { readonly type: "call"; readonly cn: string; readonly relay_url: string | null }
  /** The call was sent to the node. */
  | { readonly type: "tell" }
  /** The node connected. */
  | { readonly type: "meet" }
  | { readonly type: "renew" }
  | { readonly type: "end"; readonly reason: string; readonly bytes_in: number; readonly bytes_out: number }
  | { readonly type: "tick" };

export type Msg<T extends ConsoleSessionMessage["type"]> = Of<ConsoleSessionMessage, T>;
