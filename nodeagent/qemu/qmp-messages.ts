// Declares the commands and events of the QEMU Machine Protocol that the agent uses. QEMU's manual lists all of them.

/** The run states that the agent distinguishes; QEMU has more. */
export type RunState =
  | "prelaunch"
  | "running"
  | "paused"
  | "shutdown"
  | "guest-panicked"
  | "internal-error"
  | "io-error"
  | "inmigrate"
  | "finish-migrate"
  | "postmigrate";

/** The state of a migration: among others active, pre-switchover, completed, failed and cancelled. */
export type MigrationStatus = string;

/** QEMU's answer about its migration. Sizes are in bytes, times in milliseconds. */
export type MigrationInfo = {
  readonly status?: MigrationStatus;
  readonly ram?: { readonly transferred: number; readonly remaining: number; readonly total: number };
  readonly "error-desc"?: string;
};

/**
 * A background job of QEMU, such as the copy of a disk. Its progress is in bytes. A concluded job without an error
 * succeeded.
 */
export type Job = {
  readonly id: string;
  readonly status: string;
  readonly "current-progress": number;
  readonly "total-progress": number;
  readonly error?: string;
};

type NoArguments = Readonly<Record<string, never>>;

/** Each command with its arguments and its answer. */
export type QmpCommands = MigrationCommands & {
  readonly qmp_capabilities: { readonly arguments: NoArguments; readonly answer: unknown };
  readonly "query-status": { readonly arguments: NoArguments; readonly answer: { readonly status: RunState } };
  readonly "query-blockstats": { readonly arguments: NoArguments; readonly answer: readonly BlockStatistics[] };
  /** Starts or continues the guest. */
  readonly cont: { readonly arguments: NoArguments; readonly answer: unknown };
  /** Pauses the guest. */
  readonly stop: { readonly arguments: NoArguments; readonly answer: unknown };
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
  readonly "query-named-block-nodes": {
    /** `flat`: without the nodes below each node. */
    readonly arguments: { readonly flat: true };
    readonly answer: readonly { readonly "node-name"?: string; readonly file?: string }[];
  };
  readonly "blockdev-add": {
    readonly arguments: { readonly driver: string; readonly "node-name": string };
    readonly answer: unknown;
  };
  readonly "blockdev-del": { readonly arguments: { readonly "node-name": string }; readonly answer: unknown };
  readonly device_add: {
    readonly arguments: { readonly driver: string; readonly id: string };
    readonly answer: unknown;
  };
  readonly device_del: { readonly arguments: { readonly id: string }; readonly answer: unknown };
  /** Lists the children of an object, such as the devices. */
  readonly "qom-list": {
    readonly arguments: { readonly path: string };
    readonly answer: readonly { readonly name: string }[];
  };
  readonly "qom-get": {
    readonly arguments: { readonly path: string; readonly property: string };
    readonly answer: unknown;
  };
  readonly screendump: {
    readonly arguments: { readonly filename: string; readonly format: "png" };
    readonly answer: unknown;
  };
};
export type CommandName = keyof QmpCommands;

/** The commands that move a guest to another QEMU, or copy its disks. */
type MigrationCommands = {
  readonly migrate: { readonly arguments: { readonly uri: string }; readonly answer: unknown };
  readonly "migrate-incoming": { readonly arguments: { readonly uri: string }; readonly answer: unknown };
  readonly migrate_cancel: { readonly arguments: NoArguments; readonly answer: unknown };
  readonly "migrate-continue": { readonly arguments: { readonly state: "pre-switchover" }; readonly answer: unknown };
  readonly "query-migrate": { readonly arguments: NoArguments; readonly answer: MigrationInfo };
  readonly "migrate-set-capabilities": {
    readonly arguments: { readonly capabilities: readonly { readonly capability: string; readonly state: boolean }[] };
    readonly answer: unknown;
  };
  readonly "migrate-set-parameters": {
    readonly arguments: { readonly "max-bandwidth"?: number; readonly "downtime-limit"?: number };
    readonly answer: unknown;
  };
  readonly "nbd-server-start": {
    readonly arguments: { readonly addr: { readonly type: "unix"; readonly data: { readonly path: string } } };
    readonly answer: unknown;
  };
  readonly "nbd-server-stop": { readonly arguments: NoArguments; readonly answer: unknown };
  readonly "block-export-add": {
    readonly arguments: {
      readonly type: "nbd";
      readonly id: string;
      readonly "node-name": string;
      readonly name: string;
      readonly writable: true;
    };
    readonly answer: unknown;
  };
  readonly "blockdev-add": { readonly arguments: Readonly<Record<string, unknown>>; readonly answer: unknown };
  readonly "blockdev-del": { readonly arguments: { readonly "node-name": string }; readonly answer: unknown };
  readonly "blockdev-mirror": {
    readonly arguments: {
      readonly "job-id": string;
      readonly device: string;
      readonly target: string;
      readonly sync: "top";
      readonly "copy-mode": "write-blocking";
      readonly speed: number;
      readonly "auto-dismiss": false;
    };
    readonly answer: unknown;
  };
  readonly "block-job-set-speed": {
    readonly arguments: { readonly device: string; readonly speed: number };
    readonly answer: unknown;
  };
  readonly "block-job-cancel": {
    readonly arguments: { readonly device: string; readonly force?: boolean };
    readonly answer: unknown;
  };
  readonly "query-jobs": { readonly arguments: NoArguments; readonly answer: readonly Job[] };
  /** Removes a job that has ended. */
  readonly "job-dismiss": { readonly arguments: { readonly id: string }; readonly answer: unknown };
  /** Copies a disk as it is when the job starts. */
  readonly "blockdev-backup": {
    readonly arguments: {
      readonly "job-id": string;
      readonly device: string;
      readonly target: string;
      readonly sync: "full";
      /** False: the job stays after its end, until it is dismissed. */
      readonly "auto-dismiss": false;
    };
    readonly answer: unknown;
  };
  readonly "job-cancel": { readonly arguments: { readonly id: string }; readonly answer: unknown };
};

/** Counters of one block node since QEMU started, in bytes. */
export type BlockStatistics = {
  readonly "node-name"?: string;
  readonly stats: { readonly rd_bytes: number; readonly wr_bytes: number };
};

export type QmpEvent =
  /** The guest is off. `guest` is true if the guest itself asked to turn off. */
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
