// Defines the dependencies of routes. Each route file names the dependencies that it uses.
import type { Context } from "hono";
import type { Kysely } from "kysely";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Find } from "../../actors/record/reads.ts";
import type { Messages } from "../../actors/registry.ts";
import type { Replies } from "../../actors/replies.ts";
import type { ActorRef, Outcome } from "../../actors/engine/types.ts";
import type { SagaDefinition } from "../../actors/engine/saga.ts";
import type { Registered } from "../../actors/cn/reads.ts";
import type { NodeWork } from "../../actors/job/reads.ts";
import type { RealizationStatus } from "../contract/enums.ts";
import type { ReportedNicTag } from "../contract/external-network.ts";
import type { NetworkPollView, RuleCount } from "../contract/network-document.ts";
import type { TraceAnswer, TraceQuestion } from "../contract/network-trace.ts";
import type { BootClientFacts } from "../lib/net/boot-client.ts";
import type { HostlessGateway } from "../lib/placement/nat-gateway-host.ts";
import type { NetworkContent } from "../lib/net/network-content.ts";
import type { Realized } from "../contract/network.ts";
import type { AuditEvent, AuditPage, AuditVerification } from "../contract/audit.ts";
import type { Authorize } from "../auth/authorize.ts";
import type { Credentials } from "../auth/credential.ts";
import type { FindReferenced } from "../auth/credential-reference.ts";
import type { Mint } from "../auth/mint.ts";
import type { Passwords } from "../auth/password.ts";
import type { SessionTokens } from "../auth/token.ts";
import type { SearchHit, SearchQuery } from "../contract/search.ts";
import type { Fault } from "../contract/fault.ts";
import type { Hardware } from "../contract/hardware.ts";
import type { ReportedMetrics } from "../contract/instance-metrics.ts";
import type { HttpEnv } from "../http/env.ts";
import type { Shares } from "../http/shares.ts";
import type { Database } from "../db/tables.ts";
import type { ImageStore } from "../image-store/store.ts";
import type { NodesToPlace } from "../services/placement-snapshot.ts";
import type { ConsoleRelay } from "../services/console-relay.ts";
import type { OidcSignIn } from "../services/oidc-sign-in.ts";
import type { Settings } from "../services/settings.ts";

export type App = OpenAPIHono<HttpEnv>;
export type Ctx = Context<HttpEnv>;

/** The answer to a long poll of `approvals`: the claim of the agent's poll token ended without an approval. */
export type ClaimEnded = { readonly ended: true };

/** The message id of a request, and whether a request with the same Idempotency-Key came before. */
export type IdempotencyClaim = { readonly id: string; readonly repeated: boolean };

/** The reply of an actor of kind `K` to a message of type `T`. */
export type ReplyOf<K extends keyof Messages, T extends Messages[K]["type"]> = K extends keyof Replies
  ? T extends keyof Replies[K] ? Replies[K][T] : unknown
  : unknown;

/** A message of type `T` to an actor of kind `K`. */
export type MessageOf<K extends keyof Messages, T extends Messages[K]["type"]> = Messages[K] & { readonly type: T };

export type RouteDeps = {
  readonly allow: Authorize;
  /** Checks a credential that is not in the headers of the request, such as an API key in the body. */
  readonly credentials: Credentials;
  /** The database client for the functions in the actors' reads.ts. Routes contain no queries. */
  readonly kysely: Kysely<Database>;
  /**
   * Runs the statements of functions that find one record by its id, at less cost than `kysely` (src/db/key-reads.ts).
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
  /**
   * Returns the message id of the request, from which routes derive ids. Returns a fault if the Idempotency-Key is
   * malformed, or was used with another body.
   */
  readonly idempotency: (c: Ctx) => Promise<IdempotencyClaim | Fault>;
  /** Sends a message on behalf of the caller. With `idempotency`, a repeated request gets the same reply. */
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
  /** Signs in users of issuers to the web console. */
  readonly oidc: OidcSignIn;
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
    metrics(server_uuid: string, samples: readonly ReportedMetrics[], made_at?: string | null): Promise<Fault | null>;
    bootRequest(mac: string, request: BootClientFacts & { readonly seen_by: string }): Promise<Fault | null>;
    hardware(server_uuid: string, read: { hardware: Hardware; read_by: string }): Promise<Fault | null>;
    running(server_uuid: string, jobs: readonly string[]): Promise<Fault | null>;
    progress(
      server_uuid: string,
      report: { readonly job_id: string; readonly step: string; readonly percent: number | null },
    ): Promise<Fault | null>;
  };
  /** Long polls of agents that wait for approval, by the hash of the agent's poll token. */
  readonly approvals: Polls<Registered | ClaimEnded>;
  /**
   * Reads the nodes for placement. Callers that arrive together share a query; the commit checks the capacity again.
   */
  readonly nodesToPlace: () => Promise<NodesToPlace>;
  /** Returns the node's state, its claimed jobs, and whether it has work; null for an unknown node. */
  readonly workOf: (server_uuid: string) => Promise<NodeWork | null>;
  /** Long polls of nodes that wait for work, by UUID. */
  readonly claims: Polls<{ readonly work: true }>;
  /** Returns how many seconds a node may wait between two polls. */
  readonly pollIntervalS: () => Promise<number>;
  readonly networks: NetworkPorts;
  /** Long polls of nodes that wait for network documents, by UUID. */
  readonly networkPolls: Polls<{ readonly changed: true }>;
  /**
   * Long polls that wait until all nodes of a VPC have applied a generation. `findApplied` in
   * actors/realization/reads.ts defines the form of the keys.
   */
  readonly realizations: Polls<{ readonly applied: true }>;
  /** Long polls that wait for a node's answer to a trace, by the id of the trace. */
  readonly traceAnswers: Polls<TraceAnswer>;
  /** Long polls that wait for the end of an operation, by the operation's id. */
  readonly endings: Polls<{ readonly ended: true }>;
  /** Long polls of requests that wait for the outcome of the operation that they started, by the operation's id. */
  readonly outcomes: Polls<{ readonly ended: true }>;
  /**
   * The shares of long polls. Each authenticated caller has a share, and so has each address of other callers
   * (strangers).
   */
  readonly holdShares: { readonly known: Shares; readonly strangers: Shares };
  /** Finds objects by a text, such as a part of a name. */
  readonly search: (query: SearchQuery) => Promise<SearchHit[]>;
  /** The feed of changed objects. */
  readonly changes: { wait(after: string | undefined, wait: ChangesWait): Promise<ChangesSince | "full"> };
  /**
   * Finds the audiences of objects: `public`, `silo:ID`, `tenant:ID` and `user:ID`. The result is in the order of the
   * objects.
   */
  readonly audiencesOf: (refs: readonly ActorRef[]) => Promise<readonly (readonly string[])[]>;
  /** The consoles of this process. */
  readonly consoles: ConsoleRelay;
  /** Where uploaded images are stored; null if this site stores none. */
  readonly imageStore: ImageStore | null;
  /** Limits how many consoles each caller may have open. */
  readonly consoleShares: Shares;
  /** Finds the principal of a credential that was checked earlier. */
  readonly referenced: FindReferenced;
  /** The address at which nodes reach this process; null: nodes connect to their usual endpoint. */
  readonly relay_url: string | null;
  readonly sagas: readonly SagaDefinition<never>[];
  readonly audit: {
    list(query: { after_seq?: number; limit?: number }): Promise<AuditPage>;
    /** Lists the events that match, newest first. */
    search(query: AuditSearch): Promise<AuditPage>;
    get(seq: number): Promise<AuditEvent | null>;
    verify(range: { from?: number; to?: number }): Promise<AuditVerification>;
    /** Records an approval attempt with a wrong claim code, and at most the first three characters of the code. */
    refusedCode(c: Ctx, prefix: string): Promise<void>;
    /** Records a denial that the route itself decided, after the caller was authorized. */
    denied(c: Ctx, action: string, resource: string): Promise<void>;
    /** Records a failed login. `user_id` is null for an unknown user name. */
    refusedLogin(c: Ctx, user_id: string | null): Promise<void>;
  };
  readonly limits: {
    /** Counts a request against the rate limit of the caller's address. Returns null, or the 429 above the limit. */
    approve(address: string): Promise<Fault | null>;
    register(address: string): Promise<Fault | null>;
    login(address: string): Promise<Fault | null>;
    /**
     * Counts a failed login of the account before the password is checked. If the password is right, `passwordRight`
     * undoes the count.
     */
    password(username: string): Promise<Fault | null>;
    passwordRight(username: string): Promise<void>;
    /** Returns the 429 if there were too many failed approvals on the whole site, otherwise null. */
    approveFailures(): Promise<Fault | null>;
    noteApproveFailure(): Promise<void>;
  };
  readonly hold_ms: number;
  /** The version of the server. */
  readonly version: string;
};

/** The filters of GET /v1/audit/events. */
export type AuditSearch = {
  readonly before_seq?: number;
  readonly limit?: number;
  readonly actor?: string;
  readonly action?: string;
  readonly resource?: string;
  readonly request_id?: string;
  readonly decision?: string;
  readonly since?: string;
  readonly until?: string;
  /** Only events of this tenant. */
  readonly tenant_id?: string | undefined;
};

export type ChangesSince = {
  readonly cursor: string;
  readonly refs: readonly ActorRef[];
  /** If true, changes are missing in `refs`, and the caller must read everything again. */
  readonly reset: boolean;
};

export type ChangesWait = {
  readonly hold_ms: number;
  /** Ends the wait early. */
  readonly signal: AbortSignal;
  /** Returns the changes that the caller may see; null if the caller lost its rights, which ends the wait. */
  readonly visible: (refs: readonly ActorRef[]) => Promise<readonly ActorRef[] | null>;
};

/** A node, and the generation of each document that it stores, by VPC id. */
export type NetworkAsked = {
  readonly server_uuid: string;
  readonly have: Readonly<Record<string, number>>;
  /** Whether the agent answers traces. */
  readonly answers_traces: boolean;
};

/** A node's report about one VPC. */
export type NetworkReport = {
  readonly vpc_id: string;
  readonly server_uuid: string;
  readonly generation: number;
  readonly status: RealizationStatus;
  readonly message: string | null;
};

/** The network documents of nodes, and what the nodes have applied. */
export type NetworkPorts = {
  /** Returns the answer to a poll at its arrival; null if nothing changed. */
  begin(asked: NetworkAsked): Promise<NetworkPollView | null>;
  /** Returns the answer to a poll that has waited. */
  answer(asked: NetworkAsked): Promise<NetworkPollView>;
  /**
   * Stores a report. `unknown`: the node has no document of the VPC. `older`: the node has already reported a newer
   * generation, or the outcome of this generation. `ahead`: the report is newer than the VPC's newest generation. For
   * `older` and `ahead`, `generation` is the generation that the report was compared with.
   */
  report(report: NetworkReport): Promise<{
    readonly verdict: "stored" | "unknown" | "older" | "ahead";
    readonly generation: number;
  }>;
  /** Stores the counters that a node reports. */
  count(server_uuid: string, counts: readonly RuleCount[]): Promise<void>;
  /** Sends a node a trace, which asks where a packet stops. Returns false if too many traces are open for the node. */
  ask(server_uuid: string, question: TraceQuestion): Promise<boolean>;
  /** Ends a trace whose answer no request needs. */
  unask(trace_id: string): Promise<void>;
  /** Stores a node's answer to a trace. Returns false if the trace is not open or was sent to another node. */
  answerTrace(server_uuid: string, answer: TraceAnswer): Promise<boolean>;
  /**
   * Returns the nodes of a VPC with their underlay addresses, its NICs and its generation; null if the VPC does not
   * exist.
   */
  nodesOf(vpc_id: string): Promise<{ readonly generation: number } & Pick<NetworkContent, "hosts" | "nics"> | null>;
  /**
   * Lists the NAT gateways that have no node and that are targets of the subnet's routes for the address. The gateway
   * of the most specific route is first.
   */
  hostless(subnet_id: string, address: string): Promise<readonly HostlessGateway[]>;
  nicTags(server_uuid: string, tags: readonly ReportedNicTag[]): Promise<void>;
  /** Returns how far the nodes of a VPC have applied its network; null if the VPC does not exist. */
  realized(vpc_id: string): Promise<Realized | null>;
  /** Returns whether the nodes have applied the generation in `key`, which is a key of `realizations`. */
  isApplied(key: string): Promise<boolean>;
};

/** The dependencies of `rights`. */
export type Access = Pick<RouteDeps, "allow">;
/** The dependencies of routes that only read. */
export type Reads = Pick<RouteDeps, "allow" | "kysely" | "byKey" | "findOne">;
/** The dependencies of routes that read and send messages. */
export type Writes = Reads & Pick<RouteDeps, "idempotency" | "send" | "sendOnce">;
/** The dependencies of routes that start an operation and wait for its outcome. */
export type Operates = Writes & Pick<RouteDeps, "holdShares" | "outcomes" | "settings">;

export type To<K extends string> = { readonly kind: K; readonly id: string };

export type Polls<V> = {
  wait(key: string, hold_ms: number, signal: AbortSignal): Promise<V | null | "full">;
};
