// Images on this node, one file each under its SHA-256. The name appears only after the bytes on the disk were read again
// and found right; an interrupted download goes on where it was. What a job or a VM uses stays; of the rest only so many
// bytes are kept, those that were used last.
import { mkdir, readdir, rm, stat, statfs, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Image } from "../../src/contract/image.ts";
import { isLoopback } from "../image/address.ts";
import { hashFile } from "../image/digest.ts";
import { openPart, type Part, sizeOfFile } from "../image/part.ts";
import { transfer } from "../image/transfer.ts";
import { EXIT } from "../kit/exit-code.ts";
import { Failure } from "../kit/failure.ts";
import { type Agent, log } from "./agent.ts";

export type ImageCache = {
  /** The path of the image's file, which stays until the job is over. `tell` hears how much of it is there, in percent. */
  fetch(agent: Agent, image: Image, use: Use): Promise<string>;
  /** The job is over: of what nobody uses now, what is too much goes. */
  release(agent: Agent, job_id: string): Promise<void>;
};

export type Use = { readonly job_id: string; readonly tell: (percent: number) => void };

/** Something of an image that takes room: its file, or an interrupted download of it. */
type Kept = {
  readonly sha256: string;
  readonly path: string;
  readonly bytes: number;
  readonly used_at: number;
};

export function createImageCache(
  { state_dir, image_bytes_max }: Pick<Agent, "state_dir" | "image_bytes_max">,
): ImageCache {
  const folder = join(state_dir, "images");
  /** What was last begun with each image: one thing comes after another, so that a fetch finds the file or finds it gone. */
  const last = new Map<string, Promise<unknown>>();
  /** The images of the jobs that go on. */
  const used = new Map<string, Set<string>>();

  function inTurn<T>(sha256: string, work: () => Promise<T>): Promise<T> {
    const done = (last.get(sha256) ?? Promise.resolve()).catch(() => {}).then(work);
    last.set(sha256, done);
    return done;
  }

  async function ensure(agent: Agent, image: Image, tell: Use["tell"]): Promise<string> {
    const path = join(folder, image.sha256);
    await mkdir(folder, { recursive: true });
    if (await sizeOfFile(path) === null) await download(agent, image, { path, tell });
    const now = new Date();
    await utimes(path, now, now);
    return path;
  }

  async function download(agent: Agent, image: Image, { path, tell }: Place): Promise<void> {
    const url = addressOf(agent, image);
    const part = await openPart(path, { identity: `sha256 ${image.sha256}`, vetted: true });
    try {
      await makeSpace(agent, image.size_bytes - part.bytes());
      await fill(agent, image, { part, url, tell });
      await part.finish();
    } catch (error) {
      await part.leave();
      throw error;
    }
  }

  async function makeSpace(agent: Agent, bytes: number): Promise<void> {
    for (const each of await unused(agent)) {
      if (await freeBytes(folder) >= bytes) return;
      await evict(agent, each);
    }
    const free = await freeBytes(folder);
    if (free < bytes) throw new Failure(`${folder} has room for ${free} bytes, ${bytes} are needed`, EXIT.failure);
  }

  function isUsed({ driver }: Agent, sha256: string): boolean {
    return [...used.values()].some((images) => images.has(sha256)) || driver.vms.usesImage(sha256);
  }

  /** The one that was used longest ago first. */
  async function unused(agent: Agent): Promise<Kept[]> {
    const all = await Promise.all((await readdir(folder)).map((name) => look(join(folder, name), name)));
    return all.filter((each) => each !== null).filter(({ sha256 }) => !isUsed(agent, sha256))
      .sort((a, b) => a.used_at - b.used_at);
  }

  /** Unless a job has begun to use it meanwhile. */
  async function evict(agent: Agent, { sha256, path }: Kept): Promise<void> {
    await inTurn(sha256, async () => {
      if (!isUsed(agent, sha256)) await rm(path, { recursive: true, force: true });
    });
  }

  return {
    fetch: (agent, image, { job_id, tell }) => {
      used.set(job_id, (used.get(job_id) ?? new Set()).add(image.sha256));
      return inTurn(image.sha256, () => ensure(agent, image, tell));
    },
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

type Place = { readonly path: string; readonly tell: (percent: number) => void };

/** Null for what is of no image, or is gone again. */
async function look(path: string, name: string): Promise<Kept | null> {
  const sha256 = /^(?:([0-9a-f]{64})|\.([0-9a-f]{64})\.[0-9]+\.part)$/.exec(name)?.slice(1).find((each) => each);
  const found = await stat(path).catch(() => null);
  if (sha256 === undefined || found === null) return null;
  const content = found.isDirectory() ? await stat(join(path, "content")).catch(() => null) : found;
  return { sha256, path, bytes: content?.size ?? 0, used_at: found.mtimeMs };
}

async function fill(
  { world }: Agent,
  image: Image,
  { part, url, tell }: { readonly part: Part; readonly url: string; readonly tell: (percent: number) => void },
): Promise<void> {
  for (;;) {
    const share = (bytes: number) => tell(Math.min(100, Math.floor(bytes * 100 / image.size_bytes)));
    await transfer(world, { url, part, size: image.size_bytes, tell: share, plain_http: true });
    const { sha256 } = await hashFile(world, part.path, { algorithms: ["sha256"] });
    if (sha256 === image.sha256) return;
    const was_pieced = part.isPieced();
    await part.restart(null);
    // Halves of two versions may have met: the file in one piece will tell.
    if (!was_pieced) throw new Failure(`${url} has the SHA-256 ${sha256}, not ${image.sha256}`, EXIT.failure);
  }
}

/** A tenant may name any address, so the services of this machine are out of reach, except beside a laboratory's server. */
function addressOf({ link }: Agent, { source_url }: Image): string {
  if (source_url === null) throw new Failure("the image has no source_url to fetch it from", EXIT.failure);
  if (isLoopback(new URL(source_url)) && !isLoopback(new URL(link.endpoint))) {
    throw new Failure(`${source_url}: images are not fetched from this machine`, EXIT.failure);
  }
  return source_url;
}
