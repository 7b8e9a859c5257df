// The row of a console session.
import type { ConsoleMode } from "../../src/contract/enums.ts";
import type { At } from "../engine/table.ts";
import type { ConsoleCaller } from "./messages.ts";

type Columns = Omit<ConsoleCaller, "credential_expires_at"> & {
  readonly id: string;
  readonly instance_id: string;
  readonly cn: string;
  readonly mode: ConsoleMode;
  readonly take_over: boolean;
  /** The number of bytes of earlier output that the console shows first. */
  readonly history_bytes: number;
  readonly credential_expires_at: Date | null;
  readonly ticket_sha256: string | null;
  readonly relay_url: string | null;
  readonly created_at: Date;
  /** The time at which the ticket, the wait for the node, or the lease of the relaying process ends. */
  readonly expires_at: Date;
};

type Name = "ticket" | "calling" | "told" | "open";

export type ConsoleSessionState = { [State in Name]: Columns & { readonly state: State } }[Name];

export type On<State extends Name> = At<ConsoleSessionState, State>;

/** The answer to `issue`. The route derives the ticket, which is not stored. */
export type ConsoleSessionView = { readonly id: string; readonly expires_at: string };
