// The commands and events of the QEMU Machine Protocol that the agent uses. QEMU's manual has the whole list.

/** The run states that the agent distinguishes; QEMU has more. */
export type RunState =
  | "prelaunch"
  | "running"
  | "paused"
  | "shutdown"
  | "guest-panicked"
  | "internal-error"
  | "io-error";

type NoArguments = Readonly<Record<string, never>>;

/** Each command with its arguments and its answer. */
export type QmpCommands = {
  readonly qmp_capabilities: { readonly arguments: NoArguments; readonly answer: unknown };
  readonly "query-status": { readonly arguments: NoArguments; readonly answer: { readonly status: RunState } };
  readonly "query-blockstats": { readonly arguments: NoArguments; readonly answer: readonly BlockStatistics[] };
  /** Starts or continues the guest. */
  readonly cont: { readonly arguments: NoArguments; readonly answer: unknown };
  /** Ends QEMU at once. */
  readonly quit: { readonly arguments: NoArguments; readonly answer: unknown };
  /** Presses the power button. */
  readonly system_powerdown: { readonly arguments: NoArguments; readonly answer: unknown };
  /** Presses the reset button. */
  readonly system_reset: { readonly arguments: NoArguments; readonly answer: unknown };
  readonly block_resize: {
    readonly arguments: { readonly "node-name": string; readonly size: number };
    readonly answer: unknown;
  };
  readonly screendump: {
    readonly arguments: { readonly filename: string; readonly format: "png" };
    readonly answer: unknown;
  };
};
export type CommandName = keyof QmpCommands;

/** Counters of one block node since QEMU started. Bytes. */
export type BlockStatistics = {
  readonly "node-name"?: string;
  readonly stats: { readonly rd_bytes: number; readonly wr_bytes: number };
};

export type QmpEvent =
  /** The guest is off. `guest` is true if the guest itself asked for it. */
  | { readonly event: "SHUTDOWN"; readonly guest: boolean; readonly reason: string }
  | { readonly event: "RESET"; readonly guest: boolean }
  | { readonly event: "GUEST_PANICKED" }
  /** A disk operation failed. `nospace` is true if the node's disk is full. */
  | { readonly event: "BLOCK_IO_ERROR"; readonly nospace: boolean; readonly action: string }
  | { readonly event: "STOP" }
  | { readonly event: "RESUME" };

/** Returns the event of a message; null if the agent does not use it. */
export function eventOf(name: unknown, data: Readonly<Record<string, unknown>>): QmpEvent | null {
  switch (name) {
    case "SHUTDOWN":
      return { event: "SHUTDOWN", guest: data.guest === true, reason: String(data.reason ?? "") };
    case "RESET":
      return { event: "RESET", guest: data.guest === true };
    case "BLOCK_IO_ERROR":
      return { event: "BLOCK_IO_ERROR", nospace: data.nospace === true, action: String(data.action ?? "") };
    case "GUEST_PANICKED":
    case "STOP":
    case "RESUME":
      return { event: name };
    default:
      return null;
  }
}
