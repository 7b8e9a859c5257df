// Reads the bodies of requests that node:http received, each within the budget of body-admission.ts. A body that is too
// large, too late or incomplete never reaches a handler.
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { BODY_BYTES_MAX } from "../contract/limits.ts";
import { clientAddress } from "../lib/net/client-address.ts";
import type { Cidr } from "../lib/net/ip-address.ts";
import type { BodyAdmission, Checked } from "./body-admission.ts";
import { BODY_LIMITS } from "./body-limits.ts";

/** The state that all bodies of a server share. */
export type Bodies = {
  readonly admitBody: BodyAdmission | undefined;
  readonly trusted: readonly Cidr[];
  /** The maximum number of bytes of all unfinished bodies together. Above this, new bytes are refused. */
  readonly held_bytes_max: number;
  heldBytes: number;
};

/**
 * A request whose body is read. `isAsking` means that the client waits for 100 Continue. `left` returns whether the
 * client has disconnected.
 */
type Sending = {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly isAsking?: boolean;
  readonly left: () => boolean;
};

/** A body above the limit is read up to this size and dropped, so that the client can read the 413. */
const DROPPED_BYTES_MAX = 16 * BODY_BYTES_MAX;

/** A body that was dropped because it is larger than `bytes_max`. */
type TooLarge = { readonly bytes_max: number };
type Body = Uint8Array<ArrayBuffer> | TooLarge | "too many" | "late" | "gone";
type Admission = { readonly body: Body; readonly checked?: Checked | undefined };

/** Reads the body after the budget has admitted it. */
export async function admittedBody({ req, res, isAsking, left }: Sending, bodies: Bodies): Promise<Admission> {
  const { "content-length": length, "transfer-encoding": coding } = req.headers;
  if (length === undefined && coding === undefined) return { body: new Uint8Array(0) };
  const { admitBody, trusted } = bodies;
  // With Expect: 100-continue, the client waits and can be refused before it sends the body.
  const tooLong = ({ bytes_max }: TooLarge) => Number(length ?? 0) > bytes_max && req.headers.expect !== undefined;
  if (admitBody === undefined || length === "0") {
    const { bytes_max } = BODY_LIMITS;
    if (tooLong(BODY_LIMITS)) return { body: { bytes_max } };
    if (isAsking) res.writeContinue();
    return { body: await readBody(req, bodies, { bytes_max }) };
  }
  const end = new AbortController();
  const admitted = await admitBody({
    path: (req.url ?? "").split("?", 1)[0]!,
    address: clientAddress({
      peer: req.socket.remoteAddress,
      forwardedFor: lineOf(req, "x-forwarded-for"),
      trusted,
    }),
    authorization: lineOf(req, "authorization"),
    cookies: lineOf(req, "cookie"),
    length: length === undefined ? null : Number(length),
    evict: () => end.abort("too many"),
  });
  if (admitted === null) return { body: "too many" };
  const late = setTimeout(() => end.abort("late"), admitted.read_ms);
  try {
    if (left()) return { body: "gone" };
    const { bytes_max } = admitted.limits;
    if (tooLong({ bytes_max })) return { body: { bytes_max } };
    if (isAsking) res.writeContinue();
    return {
      body: await readBody(req, bodies, { bytes_max, end: end.signal, received: admitted.received }),
      checked: admitted.checked,
    };
  } finally {
    clearTimeout(late);
    admitted.release();
  }
}

/**
 * The options for reading a body. `bytes_max` is the limit of the body. The signal `end` aborts reading and has the
 * reason. `received` returns whether there is room for the bytes that have arrived so far.
 */
type Reading = {
  readonly bytes_max: number;
  readonly end?: AbortSignal;
  readonly received?: (bytes: number) => boolean;
};

/** Joins the lines of a header, as a Request does. Two Authorization lines therefore become one invalid credential. */
function lineOf({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  const lines = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
  return lines.length === 0 ? undefined : lines.join(", ");
}

/**
 * Reads the whole body. Never collects more than `bytes_max` bytes, and never more than held_bytes_max for all bodies
 * together.
 */
function readBody(req: IncomingMessage, bodies: Bodies, { bytes_max, end, received }: Reading): Promise<Body> {
  return new Promise((resolve) => {
    if (end?.aborted) return resolve(end.reason);
    const chunks: Buffer[] = [];
    let held = 0;
    let size = 0;
    const letGo = () => {
      chunks.length = 0;
      bodies.heldBytes -= held;
      held = 0;
    };
    const stop = () => settle(end?.reason);
    const settle = (body: Body) => {
      letGo();
      end?.removeEventListener("abort", stop);
      resolve(body);
    };
    end?.addEventListener("abort", stop);
    req.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytes_max) {
        letGo();
        if (size > DROPPED_BYTES_MAX) settle({ bytes_max });
      } else if (bodies.heldBytes + chunk.length > bodies.held_bytes_max || received?.(size) === false) {
        settle("too many");
      } else {
        held += chunk.length;
        bodies.heldBytes += chunk.length;
        chunks.push(chunk);
      }
    });
    req.once("end", () => settle(size > bytes_max ? { bytes_max } : new Uint8Array(Buffer.concat(chunks, size))));
    req.once("close", () => settle("gone"));
  });
}
