// Downloads one image file from the first source that has it. Unless the user skips the verification, reads the bytes
// back from the disk and computes their digests: the file gets its final name only if the digests match the index.
import { createReadStream } from "node:fs";
import { mkdir, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { EXIT } from "../internal/exit-code.ts";
import { Failure } from "../internal/failure.ts";
import type { Io } from "../internal/io.ts";
import { statusLine } from "../internal/status-line.ts";
import { hashFile, knownDigests, mismatch } from "./digest.ts";
import type { Artifact, Image } from "./model.ts";
import { openPart, type Part, sizeOfFile } from "./part.ts";
import { imageName } from "./pick.ts";
import { sizeText } from "../internal/byte-size.ts";
import type { Origin, Source } from "./source.ts";
import { transfer } from "./transfer.ts";
import { type Proof, proveListing, type TrustPolicy } from "./trust.ts";
import { checkImageSignatures } from "./vendor-check.ts";

export type Fetch = {
  readonly source: Source;
  readonly image: Image;
  readonly artifact: Artifact;
  readonly target: string;
  /** How to verify the file; null skips the verification. */
  readonly check: TrustPolicy | null;
  /** The action if the target file exists with other content. */
  readonly other: "refuse" | "replace";
};
export type Fetched = {
  readonly from: string | null;
  readonly bytes: number;
  readonly already_there: boolean;
  readonly proof: Proof;
};

/** Interval of updates of the status line. */
const SHOW_INTERVAL_MS = 100;
const NO_PROOF: Proof = { traced: "none", signed_by: [] };

/** Downloads an image and verifies it as the job demands. A Failure leaves the target file as it was. */
export async function fetchImage(io: Io, job: Fetch): Promise<Fetched> {
  const { source, artifact, check, target } = job;
  const has_digest = knownDigests(artifact).length > 0;
  if (check !== null && !has_digest) {
    throw new Failure(
      "the index lists no hash of this file, so it cannot be verified; image download and mirror accept --no-verify",
      EXIT.failure,
    );
  }
  await mkdir(dirname(target), { recursive: true });
  const proof = check === null ? NO_PROOF : await proveListing(source, artifact, check);
  const there = await sizeOfFile(target);
  if (there !== null) {
    const same = has_digest && await isWanted(io, target, job);
    if (same) return { from: null, bytes: there, already_there: true, proof: await whole(job, target, proof) };
    if (job.other === "refuse") {
      throw new Failure(`${target} exists and is a different file; remove it first`, EXIT.failure);
    }
  }
  return await download(io, job, proof);
}

async function download(io: Io, job: Fetch, listed: Proof): Promise<Fetched> {
  const { artifact, target, source, image } = job;
  const digests = knownDigests(artifact);
  const origins = await source.origins(image, artifact);
  const identity = digests.length > 0
    ? digests.map(({ algorithm, value }) => `${algorithm} ${value}`).join(", ")
    : artifact.locations.map(({ url }) => url).join(" ");
  const part = await openPart(target, { identity, has_digest: digests.length > 0 });
  try {
    await requireSpace(target, (artifact.size ?? 0) - part.bytes());
    const from = await bring(io, job, { part, origins });
    const proof = await whole(job, part.path, listed);
    const bytes = part.bytes();
    await part.finish();
    return { from, bytes, already_there: false, proof };
  } catch (error) {
    // Keep the bytes even if the image's signature is bad: their hash is right, so another download would not change
    // them.
    await part.leave();
    throw error;
  }
}

/** Downloads the file from the first origin that has the right bytes. Returns the path or URL of that origin. */
async function bring(
  io: Io,
  job: Fetch,
  { part, origins }: { part: Part; origins: readonly Origin[] },
): Promise<string> {
  const failures: Failure[] = [];
  for (const origin of origins) {
    const name = origin.kind === "file" ? origin.path : origin.url;
    try {
      await bringFrom(io, job, { part, origin });
      return name;
    } catch (error) {
      if (!(error instanceof Failure) || error.exit_code === EXIT.interrupted) throw error;
      failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0]!;
  throw new Failure(failures.map(({ message }) => message).join("\n"), EXIT.failure);
}

async function bringFrom(io: Io, job: Fetch, { part, origin }: { part: Part; origin: Origin }): Promise<void> {
  for (;;) {
    await fill(io, job, { part, origin });
    if (job.check === null || await isWanted(io, part.path, job)) return;
    const was_pieced = part.isPieced();
    await part.restart(null);
    // Bytes from several responses may mix two versions of the file. So after a mismatch, a download in several pieces
    // starts again from the first byte.
    if (!was_pieced) {
      throw new Failure(
        `the bytes from ${nameOf(origin)} do not match the hash in the index; nothing was saved`,
        EXIT.failure,
      );
    }
  }
}

async function fill(
  io: Io,
  { artifact, image, source: { reach } }: Fetch,
  { part, origin }: { part: Part; origin: Origin },
): Promise<void> {
  const size = artifact.size ?? null;
  if (origin.kind === "file") return await copy(origin.path, part, size);
  const line = statusLine(io);
  const started_ms = io.environment.monotonicMs();
  const started_bytes = part.bytes();
  let shown_ms = -Infinity;
  const onProgress = (bytes: number, of: number | null) => {
    const now_ms = io.environment.monotonicMs();
    if (now_ms - shown_ms < SHOW_INTERVAL_MS && bytes !== of) return;
    shown_ms = now_ms;
    const rate = (bytes - started_bytes) / Math.max(0.001, (now_ms - started_ms) / 1_000);
    const share = of === null || of === 0 ? sizeText(bytes) : `${Math.floor(bytes * 100 / of)} % of ${sizeText(of)}`;
    line.show(`downloading ${imageName(image)}`, `${share}, ${sizeText(Math.max(0, Math.round(rate)))}/s  `);
  };
  try {
    await transfer(io.environment, { url: origin.url, reach, part, size, onProgress });
  } finally {
    line.clear();
  }
}

async function copy(path: string, part: Part, size: number | null): Promise<void> {
  await part.restart(null);
  for await (const chunk of createReadStream(path)) await part.write(chunk);
  if (size !== null && part.bytes() !== size) {
    throw new Failure(`${path} has ${part.bytes()} bytes, but the index lists ${size}`, EXIT.failure);
  }
}

/** Checks the signatures over the image itself, and adds them to the proof. The check needs the complete file. */
async function whole({ source, artifact, check }: Fetch, path: string, proof: Proof): Promise<Proof> {
  const signature = check?.signature ?? null;
  if (signature === null) return proof;
  const more = await checkImageSignatures(source, artifact, { request: signature, path });
  return { ...proof, signed_by: [...proof.signed_by, ...more] };
}

async function isWanted(io: Io, path: string, { image, artifact }: Fetch): Promise<boolean> {
  const digests = knownDigests(artifact);
  const line = statusLine(io);
  const size = artifact.size ?? null;
  try {
    const hashes = await hashFile(io.environment, path, {
      algorithms: digests.map(({ algorithm }) => algorithm),
      onProgress: (bytes) =>
        line.show(
          `checking ${imageName(image)}`,
          size === null ? "" : `${Math.floor(bytes * 100 / Math.max(1, size))} %  `,
        ),
    });
    return mismatch(hashes, digests) === null;
  } finally {
    line.clear();
  }
}

/** Checks the free space first, because a full disk would also break other programs. */
async function requireSpace(target: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(target));
  const free = bavail * bsize;
  if (bytes > free) {
    throw new Failure(
      `${dirname(target)} has ${sizeText(free)} free, but the file needs ${sizeText(bytes)}`,
      EXIT.failure,
    );
  }
}

function nameOf(origin: Origin): string {
  return origin.kind === "file" ? origin.path : origin.url;
}
