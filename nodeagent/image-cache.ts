// Implements the image cache of a node. A file is named by its SHA-256 and, unless the image is public, by its tenant's
// id. So if a tenant names the digest of another tenant's image, the node downloads the bytes again, and the tenant
// cannot detect the cached copy. A file gets its name only after the bytes on disk were verified; an interrupted
// download resumes. Images that a job or a VM uses stay. If the other images exceed a limit, or if a download needs
// their space, the least recently used ones are removed.
import { mkdir, readdir, rm, stat, statfs, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Image } from "../src/contract/image.ts";
import { readRanges } from "../src/lib/net/public-address.ts";
import { hashFile } from "../cli/image/digest.ts";
import { openPart, type Part, sizeOfFile } from "../cli/image/part.ts";
import { transfer } from "../cli/image/transfer.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { uploadedId } from "../src/lib/ids/uploaded-image.ts";
import { type Agent, log } from "./agent.ts";
import { RefusedImage } from "./refused-image.ts";
import { DetailedFailure } from "./detailed-failure.ts";
import { readUploaded } from "./uploaded-image.ts";
import { type Sending, sendUpload, type Sent } from "./sent-image.ts";

export type ImageCache = {
  /**
   * Downloads the image if needed, and returns the path of its file. The file stays until `release` is called for the
   * job.
   */
  fetch(agent: Agent, image: Image, use: Use): Promise<string>;
  /** Sends a file to the control plane, which stores it as an image. Returns its size and digest. */
  send(agent: Agent, file: Omit<Sending, "api_key">): Promise<Sent>;
  /** Ends the job's use of its images, and removes unused images above the limit. */
  release(agent: Agent, job_id: string): Promise<void>;
};

export type Use = {
  readonly job_id: string;
  /** The tenant of the instance. Private copies of other tenants are not used. */
  readonly tenant_id: string;
  /** The setting `fetch.allowed_private`: private addresses from which images may be fetched. */
  readonly allowed_private: readonly unknown[];
  readonly onProgress: (percent: number) => void;
};

/** The error text for most failed fetches (see isTold). Details could help tenants to probe the nodes' network. */
export const NOT_FETCHED =
  "the image could not be fetched: its source_url must be public and serve size_bytes bytes that have its sha256";

/** Returns whether tenants may see the reason of a failed fetch. */
const isTold = (error: unknown) => error instanceof RefusedImage || error instanceof NoRoom;

/** An image that could not be fetched. Tenants see the message; only operators see the detail. */
export class NotFetched extends DetailedFailure {
  constructor(detail: string) {
    super(NOT_FETCHED, detail);
  }
}

/** The error text if the node's disk has no room for an image. */
export const NO_ROOM = "the node has no free space for the image now; try again later";

class NoRoom extends DetailedFailure {
  constructor(detail: string) {
    super(NO_ROOM, detail);
  }
}

/** The free bytes that one running fetch claims: the bytes that it may still write. */
type Claim = { bytes: () => number };

/** A cached image file, or an interrupted download. */
type Kept = {
  readonly name: string;
  readonly sha256: string;
  readonly path: string;
  readonly bytes: number;
  readonly used_at: number;
};

export function createImageCache(
  { state_dir, image_bytes_max, driver }: Pick<Agent, "state_dir" | "image_bytes_max" | "driver">,
  api_key: string | null = null,
): ImageCache {
  const folder = driver.images?.folder ?? join(state_dir, "images");
  /** The last task of each image, by file name. Tasks of one image run one after another. */
  const last = new Map<string, Promise<unknown>>();
  /** Images of running jobs, by job id. */
  const used = new Map<string, Set<string>>();
  const claims = new Set<Claim>();

  function serialized<T>(sha256: string, work: () => Promise<T>): Promise<T> {
    const done = (last.get(sha256) ?? Promise.resolve()).catch(() => {}).then(work);
    last.set(sha256, done);
    return done;
  }

  async function ensure(agent: Agent, image: Image, use: Use): Promise<string> {
    const path = join(folder, nameOf(image, use));
    await mkdir(folder, { recursive: true });
    if (await sizeOfFile(path) === null) await download(agent, image, { path, use });
    const now = new Date();
    await utimes(path, now, now);
    return path;
  }

  async function download(agent: Agent, image: Image, { path, use }: Target): Promise<void> {
    const url = addressOf(image);
    const part = await openPart(path, { identity: `sha256 ${image.sha256}`, has_digest: true });
    const claim: Claim = { bytes: () => 0 };
    claims.add(claim);
    try {
      await makeRoom(agent, claim, () => image.size_bytes - part.bytes());
      const uploaded = uploadedId(url);
      if (uploaded === null) await fill(agent, image, { part, url, use });
      else await readUploaded(agent, image, { id: uploaded, part, api_key, onProgress: use.onProgress });
      const { images } = agent.driver;
      if (images === null) return await part.finish();
      await images.prepare(part.path, path, {
        bytes_max: image.content_bytes,
        // The claim keeps its size until the end, because the cache does not know how many of the bytes are already
        // written.
        makeRoom: (bytes) => makeRoom(agent, claim, () => bytes),
        signal: agent.environment.signal,
      }).catch((error: Error) => {
        throw NO_SPACE.test(error.message) ? new NoRoom(error.message) : error;
      });
      await part.discard();
    } catch (error) {
      const missing = image.size_bytes - part.bytes();
      // The bytes of a refused image are deleted, because the next attempt would refuse them, too.
      await (error instanceof RefusedImage ? part.discard() : part.leave());
      if (isTold(error) || agent.environment.signal.aborted) throw error;
      // A tenant sees NO_ROOM whenever the free space is too small, even if another error ended the download. So
      // NO_ROOM does not reveal to the tenant whether bytes arrived from the address.
      const free = await freeBytes(folder).catch(() => Infinity);
      throw free < missing ? new NoRoom((error as Error).message) : error;
    } finally {
      claims.delete(claim);
    }
  }

  /**
   * Claims `bytes` free bytes that no other fetch claims. Removes unused images until enough bytes are free. Throws a
   * NoRoom if too few bytes are free even after all unused images were removed.
   */
  async function makeRoom(agent: Agent, claim: Claim, bytes: () => number): Promise<void> {
    claim.bytes = () => 0;
    for (const each of await unused(agent)) {
      if (await tryClaim(claim, bytes) >= bytes()) return;
      await evict(agent, each);
    }
    const left = await tryClaim(claim, bytes);
    if (left < bytes()) throw new NoRoom(`${folder} has ${left} bytes free, and the image needs ${bytes()}`);
  }

  /** Returns the free bytes that no other fetch claims. Claims `bytes` of them, if there are enough. */
  async function tryClaim(claim: Claim, bytes: () => number): Promise<number> {
    const free = await freeBytes(folder);
    // There is no `await` between this sum and the claim, so two fetches never claim the same bytes.
    const left = [...claims].reduce((sum, each) => sum - (each === claim ? 0 : each.bytes()), free);
    if (left >= bytes()) claim.bytes = bytes;
    return left;
  }

  function isUsed({ driver }: Agent, { name, sha256 }: Kept): boolean {
    return [...used.values()].some((images) => images.has(name)) || driver.vms.usesImage(sha256);
  }

  /** Lists unused images, least recently used first. */
  async function unused(agent: Agent): Promise<Kept[]> {
    const all = await Promise.all((await readdir(folder)).map((name) => look(join(folder, name), name)));
    return all.filter((each) => each !== null).filter((each) => !isUsed(agent, each))
      .sort((a, b) => a.used_at - b.used_at);
  }

  /** Removes an image unless a job or a VM uses it now. */
  async function evict(agent: Agent, kept: Kept): Promise<void> {
    await serialized(kept.name, async () => {
      if (!isUsed(agent, kept)) await rm(kept.path, { recursive: true, force: true });
    });
  }

  return {
    fetch: async (agent, image, use) => {
      const name = nameOf(image, use);
      used.set(use.job_id, (used.get(use.job_id) ?? new Set()).add(name));
      try {
        return await serialized(name, () => ensure(agent, image, use));
      } catch (error) {
        if (isTold(error) || agent.environment.signal.aborted) throw error;
        throw new NotFetched((error as Error).message);
      }
    },
    send: (agent, file) => sendUpload(agent, { ...file, api_key }),
    release: async (agent, job_id) => {
      if (!used.delete(job_id)) return;
      try {
        const rest = await unused(agent);
        let bytes = rest.reduce((sum, each) => sum + each.bytes, 0);
        for (const each of rest) {
          if (bytes <= image_bytes_max) return;
          await evict(agent, each);
          bytes -= each.bytes;
        }
      } catch (error) {
        log(agent, `images: ${(error as Error).message}`);
      }
    },
  };
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

type Target = { readonly path: string; readonly use: Use };

function nameOf({ sha256, scope }: Image, { tenant_id }: Use): string {
  return scope.kind === "public" ? sha256 : `${sha256}.${tenant_id.toLowerCase()}`;
}

/** Matches the error text of a program or a system call that found the disk full. */
const NO_SPACE = /No space left|ENOSPC/;
const SHA256_CHARS = 64;
const IMAGE_NAME = /^([0-9a-f]{64}(?:\.[0-9a-f-]{36})?)$/;
const PART_NAME = /^\.([0-9a-f]{64}(?:\.[0-9a-f-]{36})?)\.[0-9]+\.part$/;

/**
 * Returns a file of the cache. Returns null if the file no longer exists, or is neither an image nor an interrupted
 * download.
 */
async function look(path: string, name: string): Promise<Kept | null> {
  const of = (IMAGE_NAME.exec(name) ?? PART_NAME.exec(name))?.[1];
  const found = await stat(path).catch(() => null);
  if (of === undefined || found === null) return null;
  const content = found.isDirectory() ? await stat(join(path, "content")).catch(() => null) : found;
  return { name: of, sha256: of.slice(0, SHA256_CHARS), path, bytes: content?.size ?? 0, used_at: found.mtimeMs };
}

async function fill(
  { environment }: Agent,
  image: Image,
  { part, url, use }: { readonly part: Part; readonly url: string; readonly use: Use },
): Promise<void> {
  for (;;) {
    const onProgress = (bytes: number) => use.onProgress(Math.min(100, Math.floor(bytes * 100 / image.size_bytes)));
    const reach = { allowed: readRanges(use.allowed_private) };
    await transfer(environment, {
      url,
      reach,
      part,
      size: image.size_bytes,
      onProgress,
      plain_http: true,
      uniform: true,
    });
    const { sha256 } = await hashFile(environment, part.path, { algorithms: ["sha256"] });
    if (sha256 === image.sha256) return;
    const was_pieced = part.isPieced();
    await part.restart(null);
    // A file that was joined from several responses may mix two versions, so it is downloaded again in one piece.
    if (!was_pieced) throw new Failure(`${url} has the SHA-256 ${sha256}, not ${image.sha256}`, EXIT.failure);
  }
}

function addressOf({ source_url }: Image): string {
  if (source_url === null) throw new Failure("the image has no source_url to fetch it from", EXIT.failure);
  return source_url;
}
