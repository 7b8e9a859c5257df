// Fetches one image file. The file gets its final name only after the bytes on disk were read back and match the
// vendor's hash.
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
import { sizeText } from "./size-text.ts";
import type { Origin, Source } from "./source.ts";
import { transfer } from "./transfer.ts";
import { type Proof, proveListing, type TrustPolicy } from "./trust.ts";
import { checkImageSignatures } from "./vendor-check.ts";

export type Fetch = {
  readonly source: Source;
  readonly image: Image;
  readonly artifact: Artifact;
  readonly target: string;
  /** Null skips verification. */
  readonly policy: TrustPolicy | null;
  /** Whether to replace another file with the same name. */
  readonly other: "refuse" | "replace";
};
export type Fetched = {
  readonly from: string | null;
  readonly bytes: number;
  readonly already_there: boolean;
  readonly proof: Proof;
};

/** Period of progress updates. */
const PROGRESS_MS = 100;
const NO_PROOF: Proof = { traced: "none", signed_by: [] };

/** Fetches and verifies an image. On a Failure the final name is unchanged. */
export async function fetchImage(io: Io, job: Fetch): Promise<Fetched> {
  const { source, artifact, policy, target } = job;
  const has_digest = knownDigests(artifact).length > 0;
  if (policy !== null && !has_digest) {
    throw new Failure(
      "the vendor publishes no hash of the image, so it cannot be verified; pass --no-verify to skip the check",
      EXIT.failure,
    );
  }
  await mkdir(dirname(target), { recursive: true });
  const proof = policy === null ? NO_PROOF : await proveListing(source, artifact, policy);
  const existing_bytes = await sizeOfFile(target);
  if (existing_bytes !== null) {
    const same = has_digest && await isWanted(io, target, job);
    if (same) {
      return {
        from: null,
        bytes: existing_bytes,
        already_there: true,
        proof: await withImageSignatures(job, target, proof),
      };
    }
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
    const from = await fromFirstOrigin(io, job, { part, origins });
    const proof = await withImageSignatures(job, part.path, listed);
    const bytes = part.bytes();
    await part.finish();
    return { from, bytes, already_there: false, proof };
  } catch (error) {
    // Keeps the bytes: an image's signatures are checked after its hash, so another download would fetch the same
    // bytes.
    await part.leave();
    throw error;
  }
}

/** Fills the part from the first origin that has the right bytes. Returns the origin's name. */
async function fromFirstOrigin(
  io: Io,
  job: Fetch,
  { part, origins }: { part: Part; origins: readonly Origin[] },
): Promise<string> {
  const failures: Failure[] = [];
  for (const origin of origins) {
    const name = nameOf(origin);
    try {
      await fromOrigin(io, job, { part, origin });
      return name;
    } catch (error) {
      if (!(error instanceof Failure) || error.exit_code === EXIT.interrupted) throw error;
      failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0]!;
  throw new Failure(failures.map(({ message }) => message).join("\n"), EXIT.failure);
}

async function fromOrigin(io: Io, job: Fetch, { part, origin }: { part: Part; origin: Origin }): Promise<void> {
  for (;;) {
    await fill(io, job, { part, origin });
    if (job.policy === null || await isWanted(io, part.path, job)) return;
    const was_pieced = part.isPieced();
    await part.restart(null);
    // A file from several responses may mix two versions: retry in one piece.
    if (!was_pieced) throw new Failure(`${nameOf(origin)} does not match the hash that the vendor lists`, EXIT.failure);
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
    if (now_ms - shown_ms < PROGRESS_MS && bytes !== of) return;
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
    throw new Failure(`${path} has ${part.bytes()} bytes, the index lists ${size}`, EXIT.failure);
  }
}

/** Adds the signatures over the image itself, which need the complete file. */
async function withImageSignatures({ source, artifact, policy }: Fetch, path: string, proof: Proof): Promise<Proof> {
  const signature = policy?.signature ?? null;
  if (signature === null) return proof;
  const more = await checkImageSignatures(source, artifact, { requirement: signature, path });
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

/** Fails before the download if the disk has too little room: a full disk breaks other programs, too. */
async function requireSpace(target: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(target));
  const free = bavail * bsize;
  if (bytes > free) {
    throw new Failure(
      `${dirname(target)} has ${sizeText(free)} free, and the image needs ${sizeText(bytes)}`,
      EXIT.failure,
    );
  }
}

function nameOf(origin: Origin): string {
  return origin.kind === "file" ? origin.path : origin.url;
}
