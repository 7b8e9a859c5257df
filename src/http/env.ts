// Defines the context of a request.
import type { Context } from "hono";
import type { RecordScope, ResourceScope } from "../auth/resource-scope.ts";
import type { Principal } from "../auth/principal.ts";
import type { Fault } from "../contract/fault.ts";
import type { KeyUse } from "../db/idempotency.ts";
import type { Checked } from "./body-admission.ts";
import type { SocketAcceptance } from "./websocket.ts";

/** The client of a request, as the server that received the request knows it. */
export type Peer = {
  /** The address of the socket. */
  readonly remoteAddress: string;
  /** The complete body, within the size limit. The Request itself then has no body. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
  /** The result of checking the credential before the body was read; undefined if it was not checked. */
  readonly checked: Checked | undefined;
  /** Reports to the server that the connection belongs to this authenticated caller. */
  readonly known: (caller: string) => void;
  /**
   * Accepts the request as a WebSocket. The route's answer is then sent only if it is an error. Undefined if the
   * request does not ask for a WebSocket.
   */
  readonly upgrade: ((accepted: SocketAcceptance) => void) | undefined;
};

/** The Idempotency-Key of a request and the id of its message. */
export type Keyed = {
  readonly use: KeyUse;
  readonly msg_id: string;
  /**
   * Whether the message was refused as unavailable and this refusal is stored. Such a message had no effect and will
   * never have one.
   */
  unavailable: boolean;
};

export type HttpEnv = {
  /** The values that the HTTP server passes to the app with each request. */
  Bindings: Partial<Peer>;
  Variables: {
    /**
     * The caller's x-request-id if it is a UUID, or else a new UUID. It is returned in the answer's header, logged, and
     * part of every error body.
     */
    requestId: string;
    /** The caller's address behind trusted proxies in canonical form, or "unknown". */
    clientAddress: string;
    /** The caller; anonymous until the credential is checked. */
    principal: Principal;
    /** The Idempotency-Key of this request, once its message has an id. */
    keyed: Keyed | undefined;
    /** The result of checking the credential before the body was read; undefined if it was not checked. */
    checked: Checked | undefined;
    /** True for a request that waits, such as a long poll. Its credential is checked again before the answer. */
    held: boolean | undefined;
    /** Checks the credential and its permissions again and updates `principal`; returns null, or the refusal. */
    checkAgain: (() => Promise<Fault | null>) | undefined;
    /** The scope of the object, on routes whose `locate` finds a ResourceScope. */
    resourceScope: ResourceScope | undefined;
    /**
     * The scope of the object. Equal to resourceScope, but also set for an image, an SSH key or an operation, whose
     * scope is a RecordScope.
     */
    recordScope: ResourceScope | RecordScope | undefined;
  };
};

/** Returns a signal that is aborted when the client disconnects. */
export function goneSignal(c: Context<HttpEnv>): AbortSignal {
  return c.env?.gone ?? c.req.raw.signal;
}
