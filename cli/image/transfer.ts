// Downloads the bytes of one address into a part. An interrupted transfer resumes (Range, If-Range) as long as attempts
// make progress. The caller verifies the bytes.
import { pause } from "../internal/api.ts";
import { jitteredMs } from "../internal/backoff.ts";
import { Unreachable } from "../internal/exchange.ts";
import { EXIT, exitCodeOfStatus } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import type { Environment } from "../internal/environment.ts";
import { FIRST_RETRY_MS, IMAGE_BYTES_MAX, PATIENCE, type Patience, RETRY_MS_MAX, TRIES_MAX } from "./limits.ts";
import type { Part } from "./part.ts";
import type { Reach } from "../../src/outbound/connector.ts";
import { get, isTransientStatus, type Reply } from "./web.ts";

export type Transfer = {
  readonly url: string;
  readonly reach: Reach;
  readonly part: Part;
  /** Bytes of the complete file, or null when unknown. */
  readonly size: number | null;
  readonly patience?: Patience;
  readonly bytes_max?: number;
  readonly plain_http?: boolean;
  readonly uniform?: boolean;
  /** Called as bytes arrive, with the bytes so far and the size of the complete file (null: unknown). */
  readonly onProgress: (bytes: number, of: number | null) => void;
};

/**
 * Downloads the file. Throws a Failure if the server does not have the file, if the size differs from the index, or if
 * several tries bring no new bytes.
 */
export async function transfer(environment: Environment, job: Transfer): Promise<void> {
  // A server without ranges starts at 0 each time, so an attempt makes progress only if it gets more bytes than all
  // earlier ones.
  let furthest = job.part.bytes();
  for (let fruitless = 0;;) {
    try {
      if (await transferOnce(environment, job)) return;
      fruitless += 1;
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      fruitless = job.part.bytes() > furthest ? 1 : fruitless + 1;
      furthest = Math.max(furthest, job.part.bytes());
      if (fruitless >= TRIES_MAX) throw error;
    }
    if (fruitless >= TRIES_MAX) {
      throw new Failure(`${job.url}: the server handles range requests incorrectly`, EXIT.failure);
    }
    await pause(environment, jitteredMs(Math.min(RETRY_MS_MAX, FIRST_RETRY_MS * 2 ** fruitless), environment.random()));
  }
}

/** Runs one attempt. Returns true when the file is complete, false when the download must restart. */
async function transferOnce(environment: Environment, job: Transfer): Promise<boolean> {
  const { url, reach, part, size, patience = PATIENCE, plain_http, uniform } = job;
  const from = part.bytes();
  if (size !== null && from === size) return true;
  if (size !== null && from > size) await part.restart(null);
  const reply = await get(environment, url, { reach, headers: rangeHeaders(part), patience, plain_http, uniform });
  const end = await beginning(reply, job);
  if (end === "restart") {
    await reply.drop();
    await part.restart(null);
    return false;
  }
  if (end === "complete") return true;
  const bytes_max = Math.min(end ?? Infinity, job.bytes_max ?? IMAGE_BYTES_MAX);
  for await (const chunk of reply.chunks()) {
    if (part.bytes() + chunk.length > bytes_max) {
      await part.restart(null);
      throw new Failure(`${url} sends more than ${bytes_max} bytes`, EXIT.failure);
    }
    await part.write(chunk);
    job.onProgress(part.bytes(), end);
  }
  if (end !== null && part.bytes() < end) {
    throw new Unreachable(`the download from ${url} broke off after ${part.bytes()} of ${end} bytes`, EXIT.failure);
  }
  return true;
}

function rangeHeaders(part: Part): Record<string, string> {
  if (part.bytes() === 0) return {};
  const validator = part.validator();
  return { range: `bytes=${part.bytes()}-`, ...(validator === null ? {} : { "if-range": validator }) };
}

/**
 * Prepares the part for the body. Returns the size of the complete file (null: unknown), or the next step if the body
 * cannot be used.
 */
async function beginning(reply: Reply, { url, part, size }: Transfer): Promise<number | null | "restart" | "complete"> {
  const { status, headers } = reply;
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    await reply.drop();
    throw new Failure(
      `${url} sends the file with content-encoding ${encoding}, so its size and ranges are unknown`,
      EXIT.failure,
    );
  }
  switch (status) {
    case 200: {
      const length = numberOf(headers.get("content-length"));
      await agree(reply, length, size);
      await part.restart(validatorOf(headers));
      return size ?? length;
    }
    case 206: {
      const range = /^bytes ([0-9]{1,15})-[0-9]{1,15}\/([0-9]{1,15}|\*)$/.exec(headers.get("content-range") ?? "");
      if (range === null || part.bytes() === 0 || Number(range[1]) !== part.bytes()) return "restart";
      const total = numberOf(range[2]!);
      await agree(reply, total, size);
      part.resume();
      return size ?? total;
    }
    case 416: {
      await reply.drop();
      const total = numberOf(/^bytes \*\/([0-9]{1,15})$/.exec(headers.get("content-range") ?? "")?.[1] ?? null);
      // The part already has all bytes. If the index lists no size, only this response shows that the part is complete.
      return total !== null && total === part.bytes() && size === null ? "complete" : "restart";
    }
    default: {
      await reply.drop();
      const problem = `${url}: status ${status}`;
      if (isTransientStatus(status)) throw new Unreachable(problem, EXIT.failure);
      throw new Failure(problem, exitCodeOfStatus(status), { status });
    }
  }
}

async function agree(reply: Reply, reported: number | null, size: number | null): Promise<void> {
  if (reported === null || size === null || reported === size) return;
  await reply.drop();
  throw new Failure(`${reply.url} has ${reported} bytes, but the index lists ${size}`, EXIT.failure);
}

/** Returns the validator for If-Range. Ignores a weak ETag, which does not guarantee equal bytes (RFC 9110, 13.1.5). */
function validatorOf(headers: Headers): string | null {
  const etag = headers.get("etag");
  if (etag !== null && /^"[^"]*"$/.test(etag)) return etag;
  return etag === null ? headers.get("last-modified") : null;
}

function numberOf(text: string | null): number | null {
  return text !== null && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}
