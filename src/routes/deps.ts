// The dependencies of routes. Each route file names those that it uses.
import type { Context } from "hono";
import type { Kysely } from "kysely";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Find } from "../../actors/record/reads.ts";
import type { Messages } from "../../actors/registry.ts";
import type { Replies } from "../../actors/replies.ts";
import type { Outcome } from "../../actors/engine/types.ts";
import type { SagaDefinition } from "../../actors/engine/saga.ts";
import type { Registered } from "../../actors/cn/reads.ts";
import type { NodeWork } from "../../actors/job/reads.ts";
import type { AuditEvent, AuditPage, AuditVerification } from "../contract/audit.ts";
import type { Authorize } from "../auth/authorize.ts";
import type { FindReferenced } from "../auth/credential-reference.ts";
import type { Mint } from "../auth/mint.ts";
import type { Passwords } from "../auth/password.ts";
import type { SessionTokens } from "../auth/token.ts";
import type { Fault } from "../contract/fault.ts";
import type { HttpEnv } from "../http/env.ts";
import type { Shares } from "../http/shares.ts";
import type { Database } from "../db/tables.ts";
import type { ImageStore } from "../image-store/store.ts";
import type { NodesToPlace } from "../services/placement-snapshot.ts";
import type { ConsoleRelay } from "../services/console-relay.ts";
import type { Settings } from "../services/settings.ts";

export type App = OpenAPIHono<HttpEnv>;
export type Ctx = Context<HttpEnv>;

/** The claim of a poll token ended without an approval. */
export type ClaimEnded = { readonly ended: true };

/** The message id of a request, and whether a request with the same Idempotency-Key came before. */
export type IdempotencyClaim = { readonly id: string; readonly repeated: boolean };

/** The reply to messages of type `T` of one kind. */
export type ReplyOf<K extends keyof Messages, T extends Messages[K]["type"]> = K extends keyof Replies
  ? T extends keyof Replies[K] ? Replies[K][T] : unknown
  : unknown;

/** The message of type `T` of one kind. */
export type MessageOf<K extends keyof Messages, T extends Messages[K]["type"]> = Messages[K] & { readonly type: T };

export type RouteDeps = {
  readonly allow: Authorize;
  /** For the functions in the actors' reads.ts; routes contain no queries. */
  readonly kysely: Kysely<Database>;
  /**
   * Like `kysely`, for functions that find one record by its id: `byKey` runs such a statement at less cost
   * (src/db/key-reads.ts).
   */
  readonly byKey: Kysely<Database>;
  /** Finds one record by its id; requests that arrive together share a statement. */
  readonly findOne: <V>(find: Pick<Find<V>, "many">, id: string) => Promise<V | null>;
  /** Sends the only message of a request. With an Idempotency-Key, a repeated request gets the same reply. */
  readonly sendOnce: <K extends keyof Messages, T extends Messages[K]["type"]>(
    c: Ctx,
    to: To<K>,
    message: MessageOf<K, T>,
  ) => Promise<Outcome<ReplyOf<K, T>>>;
  /** Returns the message id of the request, for routes that derive ids from it, or the fault of its Idempotency-Key. */
  readonly idempotency: (c: Ctx) => Promise<IdempotencyClaim | Fault>;
  /** Sends one of several messages of a request, on behalf of its caller. */
  readonly send: <K extends keyof Messages, T extends Messages[K]["type"]>(
    c: Ctx,
    to: To<K>,
    message: MessageOf<K, T>,
    idempotency?: IdempotencyClaim,
  ) => Promise<Outcome<ReplyOf<K, T>>>;
  readonly newId: () => string;
  readonly mint: Mint;
  readonly passwords: Passwords;
  readonly tokens: SessionTokens;
  /** The issuer of the identity service, which no tenant can register. */
  readonly identity_issuer: string | null;
  readonly root_user_id: string;
  readonly settings: Settings;
  readonly signals: {
    heartbeat(server_uuid: string): Promise<Fault | null>;
    status(
      server_uuid: string,
      payload: unknown,
      told: { readonly id: string; readonly made_at: string | null },
    ): Promise<Fault | null>;
    capacity(server_uuid: string, report: unknown): Promise<Fault | null>;
    running(server_uuid: string, jobs: readonly string[]): Promise<Fault | null>;
    progress(
      server_uuid: string,
      report: { readonly job_id: string; readonly step: string; readonly percent: number | null },
    ): Promise<Fault | null>;
  };
  /** Long polls of agents that wait for approval, by the hash of the agent's poll token. */
  readonly approvals: Polls<Registered | ClaimEnded>;
  /** Reads the nodes for placement. Callers that arrive together share a query; the commit checks the room again. */
  readonly nodesToPlace: () => Promise<NodesToPlace>;
  /** Returns the node's state, its claimed jobs, and whether it has work; null for an unknown node. */
  readonly workOf: (server_uuid: string) => Promise<NodeWork | null>;
  /** Long polls of nodes that wait for work, by UUID. */
  readonly claims: Polls<{ readonly work: true }>;
  /** Long polls that wait for the end of an operation, by the operation's id. */
  readonly endings: Polls<{ readonly ended: true }>;
  /** Long polls of requests that wait for the outcome of the operation that they started, by the operation's id. */
  readonly outcomes: Polls<{ readonly ended: true }>;
  /** The shares of long polls: of each authenticated caller, and of each address of other callers (strangers). */
  readonly holdShares: { readonly known: Shares; readonly strangers: Shares };
  /** The consoles of this process. */
  readonly consoles: ConsoleRelay;
  /** Where uploaded images are stored; null if this site stores none. */
  readonly imageStore: ImageStore | null;
  /** The shares of consoles, of each caller. */
  readonly consoleShares: Shares;
  /** Finds the principal of a credential that was checked earlier. */
  readonly referenced: FindReferenced;
  /** The address at which nodes reach this process; null: nodes use their own endpoint. */
  readonly relay_url: string | null;
  readonly sagas: readonly SagaDefinition<never>[];
  readonly audit: {
    list(query: { after_seq?: number; limit?: number }): Promise<AuditPage>;
    get(seq: number): Promise<AuditEvent | null>;
    verify(range: { from?: number; to?: number }): Promise<AuditVerification>;
    /** Records an approval with a wrong claim code, with at most the first three characters of the code. */
    refusedCode(c: Ctx, prefix: string): Promise<void>;
    /** Records a denial that the route itself decided, after the authorization. */
    denied(c: Ctx, action: string, resource: string): Promise<void>;
    /** Records a failed login. `user_id` is null for an unknown user name. */
    refusedLogin(c: Ctx, user_id: string | null): Promise<void>;
  };
  readonly limits: {
    /** Takes a token from the bucket of the caller's address. Returns null, or the 429. */
    approve(address: string): Promise<Fault | null>;
    register(address: string): Promise<Fault | null>;
    login(address: string): Promise<Fault | null>;
    /** Counts a failed login of the account before the password is checked; `passwordRight` takes it back. */
    password(username: string): Promise<Fault | null>;
    passwordRight(username: string): Promise<void>;
    /** Returns the 429 if there were too many failed approvals on the whole site, otherwise null. */
    approveFailures(): Promise<Fault | null>;
    noteApproveFailure(): Promise<void>;
  };
  readonly hold_ms: number;
};

/** The dependencies of `rights`. */
export type Access = Pick<RouteDeps, "allow">;
/** The dependencies of routes that only read. */
export type Reads = Pick<RouteDeps, "allow" | "kysely" | "byKey" | "findOne">;
/** The dependencies of routes that read and send messages. */
export type Writes = Reads & Pick<RouteDeps, "idempotency" | "send" | "sendOnce">;
/** The dependencies of routes that start an operation and wait for its end. */
export type Operates = Writes & Pick<RouteDeps, "holdShares" | "outcomes" | "settings">;

export type To<K extends string> = { readonly kind: K; readonly id: string };

export type Polls<V> = {
  wait(key: string, hold_ms: number, signal: AbortSignal): Promise<V | null | "full">;
};
