// Defines the interface between the agent and the machine for moving VMs between nodes. docs/reliability.md, "Migration
// of instances", has the rules. Each call is idempotent, and its result is durable when the call returns.
import type { Socket } from "node:net";
import type { VmPlan } from "../driver.ts";

/** A migration of a VM, as its jobs describe it. */
export type Moving = {
  readonly instance_id: string;
  readonly migration_id: string;
  /** Whether the guest runs while it moves. */
  readonly live: boolean;
};

/** The part of a VM's record that exists while the VM moves. */
export type MoveRecord =
  /** The VM belongs to another node. This node's copy may be incomplete, and its guest does not run. */
  | { readonly role: "arriving"; readonly migration_id: string; readonly ticket_sha256: string }
  /** The whole copy is on the target. This node's copy does not run until a job resumes it. */
  | { readonly role: "departed"; readonly migration_id: string };

/**
 * A request of the source to the target. The source waits for the answer before it sends anything else on the
 * connection.
 */
export type MoveRequest = Readonly<Record<string, unknown>> & { readonly request: string };

/** The source's connection to the target. */
export type MoveLink = {
  /** Sends a request on a new connection. Throws a Failure if the target refuses the request or does not answer. */
  ask(request: MoveRequest, limit_ms?: number): Promise<Readonly<Record<string, unknown>>>;
  /** Sends a request and returns the connection for further bytes. Throws a Failure if the target refuses. */
  open(request: MoveRequest): Promise<OpenStream>;
  /** Returns whether the target's agent answers in time. Any answer counts. */
  answers(limit_ms: number): Promise<boolean>;
};

/** An open connection, and the bytes that arrived with the answer. */
export type OpenStream = { readonly socket: Socket; readonly first: Uint8Array };

export type SendOptions = {
  readonly bandwidth_bytes_per_s: number;
  readonly signal: AbortSignal;
  readonly onProgress: (step: string, percent: number | null) => void;
  /**
   * Throws unless the control plane still wants the migration. The source asks before it completes the migration, and
   * for a running guest also before it sends the memory.
   */
  readonly isWanted: () => Promise<void>;
};

export type Migrations = {
  /** Creates the copy of a VM that is about to arrive. */
  receive(plan: VmPlan, moving: Moving, ticket_sha256: string): Promise<void>;
  /** Returns the hash of the ticket of a VM that arrives; null if this migration brings no VM to this node. */
  ticketOf(instance_id: string, migration_id: string): string | null;
  /** Whether this node is receiving a VM. If so, the VM's source may connect. */
  awaits(): boolean;
  /**
   * Carries out a request of the source. Returns the answer, or a function that uses the connection after an empty
   * answer.
   */
  serve(moving: Moving, request: MoveRequest): Promise<Served>;
  /** Sends a VM to the target. At the end, the target has the whole VM, and this node does not run the VM. */
  send(moving: Moving, link: MoveLink, options: SendOptions): Promise<unknown>;
  /** Lets a VM run on this node again, after the VM was sent or its sending failed. */
  resume(moving: Moving): Promise<void>;
  /** Makes the received copy a VM of this node. If the guest ran on the source, it continues here. */
  activate(moving: Moving): Promise<unknown>;
  /** Removes the copy of a VM that does not arrive. Does not remove a VM that belongs to this node. */
  discard(moving: Moving): Promise<void>;
  /** Removes a VM that was sent. */
  clean(moving: Moving): Promise<void>;
};

export type Served =
  | { readonly answer: Readonly<Record<string, unknown>> }
  /** Called with the connection after the answer was sent. */
  | { readonly stream: (open: OpenStream) => Promise<void> };
