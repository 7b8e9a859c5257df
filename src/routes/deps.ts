// What routes are given. They parse, send or read, and show; whatever they touch is in this list.
import type { Context } from "hono";
import type { Kysely } from "kysely";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Messages } from "../../actors/registry.ts";
import type { Replies } from "../../actors/replies.ts";
import type { Outcome } from "../../actors/engine/types.ts";
import type { SagaDefinition } from "../../actors/engine/saga.ts";
import type { Registered } from "../../actors/cn/reads.ts";
import type { NodeWork } from "../../actors/job/reads.ts";
import type { AuditEvent, AuditPage, AuditVerification } from "../contract/audit.ts";
import type { Authorize } from "../auth/authorize.ts";
import type { Mint } from "../auth/mint.ts";
import type { Passwords } from "../auth/password.ts";
import type { SessionTokens } from "../auth/token.ts";
import type { Fault } from "../contract/fault.ts";
import type { HttpEnv } from "../http/env.ts";
import type { Shares } from "../http/shares.ts";
import type { Database } from "../db/tables.ts";
import type { Settings } from "../services/settings.ts";

export type App = OpenAPIHono<HttpEnv>;
export type Ctx = Context<HttpEnv>;

/** The claim of a poll token has ended without approval. */
export type ClaimEnded = { readonly ended: true };

/** An idempotency claim: the id of the message, and whether a request with the same Idempotency-Key came before. */
export type IdempotencyClaim = { readonly id: string; readonly repeated: boolean };

/** The reply to messages of type `T` of one kind. */
export type ReplyOf<K extends keyof Messages, T extends Messages[K]["type"]> = K extends keyof Replies
  ? T extends keyof Replies[K] ? Replies[K][T] : unknown
  : unknown;

/** The message of type `T` of one kind. */
export type MessageOf<K extends keyof Messages, T extends Messages[K]["type"]> = Messages[K] & { readonly type: T };

export type RouteDeps = {
  readonly allow: Authorize;
  /** For reads.ts of the actors; routes write no query of their own. */
  readonly kysely: Kysely<Database>;
  /** Sends the one message that this request is: with an Idempotency-Key, a repeated request hears the same answer. */
  readonly sendOnce: <K extends keyof Messages, T extends Messages[K]["type"]>(
    c: Ctx,
    to: To<K>,
    message: MessageOf<K, T>,
  ) => Promise<Outcome<ReplyOf<K, T>>>;
  /** The message id of this request, for routes that derive something from it; or the refusal of its Idempotency-Key. */
  readonly idempotency: (c: Ctx) => Promise<IdempotencyClaim | Fault>;
  /** Sends one of perhaps several messages on behalf of the request's caller. */
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
  /** The issuer of the identity service, which no tenant can claim. */
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
  /** Agents that wait for approval, by the hash of their poll token. */
  readonly approvals: Polls<Registered | ClaimEnded>;
  /** Whether a node may work and has anything to do; null for one that there is not. */
  readonly standingOf: (server_uuid: string) => Promise<NodeWork | null>;
  /** Nodes that wait for work, by their UUID. */
  readonly claims: Polls<{ readonly work: true }>;
  /** Callers that wait for an operation, by its id. */
  readonly endings: Polls<{ readonly ended: true }>;
  /** Callers that wait for the outcome of an operation that they began, by its id. */
  readonly outcomes: Polls<{ readonly ended: true }>;
  /** How many requests one caller, and one address of strangers, may have held. */
  readonly holdShares: { readonly known: Shares; readonly strangers: Shares };
  readonly sagas: readonly SagaDefinition<never>[];
  readonly audit: {
    list(query: { after_seq?: number; limit?: number }): Promise<AuditPage>;
    get(seq: number): Promise<AuditEvent | null>;
    verify(range: { from?: number; to?: number }): Promise<AuditVerification>;
    /** A claim code that was refused: at most its first three characters are kept. */
    refusedCode(c: Ctx, prefix: string): Promise<void>;
    /** What a route refuses by rights that its gate cannot see. */
    denied(c: Ctx, action: string, resource: string): Promise<void>;
    /** A login that was refused, by the id of the user whose name was given; null for a name that nobody has. */
    refusedLogin(c: Ctx, user_id: string | null): Promise<void>;
  };
  readonly limits: {
    /** Takes a token of the caller's address, or says how long to wait. */
    approve(address: string): Promise<Fault | null>;
    register(address: string): Promise<Fault | null>;
    login(address: string): Promise<Fault | null>;
    /** Counts an attempt at an account's password as failed, until `passwordRight` takes that back. */
    password(username: string): Promise<Fault | null>;
    passwordRight(username: string): Promise<void>;
    /** Failed approvals over the whole site. */
    approveFailures(): Promise<Fault | null>;
    noteApproveFailure(): Promise<void>;
  };
  readonly hold_ms: number;
};

/** What `rights` needs. */
export type Access = Pick<RouteDeps, "allow">;
/** What routes need that only read. */
export type Reads = Pick<RouteDeps, "allow" | "kysely">;
/** What routes need that read and send messages. */
export type Writes = Reads & Pick<RouteDeps, "idempotency" | "send" | "sendOnce">;
/** What routes need that start an operation and wait for its end. */
export type Operates = Writes & Pick<RouteDeps, "holdShares" | "outcomes" | "settings">;

export type To<K extends string> = { readonly kind: K; readonly id: string };

export type Polls<V> = {
  wait(key: string, hold_ms: number, signal: AbortSignal): Promise<V | null | "full">;
};
