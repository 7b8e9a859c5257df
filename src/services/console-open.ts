// Opens the caller's end of a console. The caller is a WebSocket, or one request that reads the whole log or screen.
import { type ConsoleInstance, findConsoleInstances } from "../../actors/console-session/reads.ts";
import { callerOf } from "../auth/authorize.ts";
import { shareOf } from "../auth/caller.ts";
import { referenceOf } from "../auth/credential-reference.ts";
import type { KnownPrincipal } from "../auth/principal.ts";
import type { ConsoleMode, ConsoleRead } from "../contract/enums.ts";
import { type Fault, fault, NOT_FOUND } from "../contract/fault.ts";
import { goneSignal } from "../http/env.ts";
import type { ServerSocket } from "../http/websocket.ts";
import { toRfc3339 } from "../lib/text/instant.ts";
import type { Ctx, RouteDeps } from "../routes/deps.ts";
import { createWholeReader } from "./console-whole.ts";

type Deps = Pick<RouteDeps, "consoles" | "consoleShares" | "kysely" | "newId" | "relay_url" | "send">;

/** The fault if the caller or the server has too many consoles. */
export const TOO_MANY = fault("unavailable", "too many consoles are open; close one and try again", {
  retry_after_s: 5,
});
const FAILED = { error_code: "OperationFailed" } as const;
/** The value for an instance without a node. No node has the nil UUID. */
const NOWHERE = "00000000-0000-0000-0000-000000000000";

/** Finds the instance of a console. */
export async function consoleInstance(deps: Pick<Deps, "kysely">, id: string): Promise<ConsoleInstance | Fault> {
  return (await findConsoleInstances(deps.kysely, [id])).get(id) ?? NOT_FOUND;
}

/** Returns the node that must connect; NOWHERE for an instance without a node. */
export function nodeToDial({ host_cn_uuid }: ConsoleInstance): string {
  return host_cn_uuid ?? NOWHERE;
}

/** Returns the fields of a new session. */
export function sessionOf(caller: KnownPrincipal, instance: ConsoleInstance, id: string) {
  const { credential_expires_at: expires_at, ...reference } = referenceOf(caller);
  return {
    id,
    instance_id: instance.id,
    cn: nodeToDial(instance),
    ...reference,
    username: caller.username,
    credential_expires_at: expires_at === null ? null : toRfc3339(expires_at),
  };
}

type Opening = {
  readonly id: string;
  readonly mode: ConsoleMode;
  readonly instance: ConsoleInstance;
  readonly caller: KnownPrincipal;
  /** The number of consoles that this console counts as in the caller's share. */
  readonly weight: number;
};

/**
 * Reserves a console in the caller's share. Returns null if the caller or the server has too many consoles. The caller
 * of this function must call either `open` or `cancel`.
 */
export function takeConsole(c: Ctx, deps: Deps, { id, mode, instance, caller, weight }: Opening) {
  let evicted = () => {};
  const slot = deps.consoleShares.take(shareOf(caller).id, weight, () => evicted());
  if (slot === null) return null;
  const open = (socket: ServerSocket) => {
    c.env?.known?.(shareOf(caller).id);
    const live = deps.consoles.open({
      id,
      mode,
      instance_id: instance.id,
      cn: nodeToDial(instance),
      reference: referenceOf(caller),
      caller: socket,
      // A failed report is not repeated. Without a renewal, the session ends when its lease expires.
      report: (message) =>
        deps.send(c, { kind: "console-session", id }, message)
          .then((outcome) => outcome.ok || outcome.fault.kind !== "not_found", () => true),
      ended: slot.release,
    });
    evicted = () => live.end(TOO_MANY.message);
    return live;
  };
  return { open, cancel: slot.release };
}

type Read = {
  readonly instance: ConsoleInstance;
  readonly mode: ConsoleRead;
  readonly bytes_max: number;
  readonly weight: number;
  /** The longest time for reading, including the wait for the node. */
  readonly limit_ms: number;
};

/**
 * Reads the log or the screen of an instance from its node. Returns a fault if too many consoles are open, or if the
 * node does not send the log or the screen.
 */
export async function readWhole(c: Ctx, deps: Deps, read: Read): Promise<Uint8Array<ArrayBuffer> | Fault> {
  const { instance, mode, bytes_max, weight, limit_ms } = read;
  const id = deps.newId();
  const caller = callerOf(c);
  const opening = takeConsole(c, deps, { id, mode, instance, caller, weight });
  if (opening === null) return TOO_MANY;
  const reader = createWholeReader(bytes_max);
  const live = opening.open(reader.socket);
  c.set("held", true);
  const gone = goneSignal(c);
  gone.addEventListener("abort", reader.leave);
  const late = setTimeout(() => live.end("the node of the instance sends too slowly. Try again"), limit_ms);
  try {
    const message = { type: "read", mode, ...sessionOf(caller, instance, id), relay_url: deps.relay_url } as const;
    const outcome = await deps.send(c, { kind: "console-session", id }, message);
    if (!outcome.ok) return outcome.fault;
    const found = await reader.read;
    return "bytes" in found ? found.bytes : fault("node_failed", found.message, FAILED);
  } finally {
    clearTimeout(late);
    gone.removeEventListener("abort", reader.leave);
    reader.leave();
  }
}
