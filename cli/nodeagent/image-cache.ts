// Images on this node, one file each under its SHA-256. The name appears only after the bytes on the disk were read again
// and found right; an interrupted download goes on where it was.
import { mkdir, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Image } from "../../src/contract/image.ts";
import { isLoopback } from "../image/address.ts";
import { hashFile } from "../image/digest.ts";
import { openPart, type Part, sizeOfFile } from "../image/part.ts";
import { transfer } from "../image/transfer.ts";
import { EXIT } from "../kit/exit-code.ts";
import { Failure } from "../kit/failure.ts";
import type { Agent } from "./agent.ts";

export type ImageCache = {
  /** The path of the image's file. `tell` hears how much of it is there, in percent. */
  fetch(agent: Agent, image: Image, tell: (percent: number) => void): Promise<string>;
};

export function createImageCache(state_dir: string): ImageCache {
  /** The last fetch of each image: two of one image come one after the other, and the second finds the file. */
  const last = new Map<string, Promise<unknown>>();
  return {
    fetch: (agent, image, tell) => {
      const path = join(state_dir, "images", image.sha256);
      const fetched = (last.get(path) ?? Promise.resolve()).catch(() => {}).then(() =>
        ensure(agent, image, { path, tell })
      );
      last.set(path, fetched);
      return fetched;
    },
  };
}

type Place = { readonly path: string; readonly tell: (percent: number) => void };

async function ensure(agent: Agent, image: Image, { path, tell }: Place): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  if (await sizeOfFile(path) !== null) return path;
  const url = addressOf(agent, image);
  const part = await openPart(path, { identity: `sha256 ${image.sha256}`, vetted: true });
  try {
    await requireSpace(path, image.size_bytes - part.bytes());
    await fill(agent, image, { part, url, tell });
    await part.finish();
    return path;
  } catch (error) {
    await part.leave();
    throw error;
  }
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

async function requireSpace(path: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path));
  if (bytes > bavail * bsize) {
    throw new Failure(`${dirname(path)} has room for ${bavail * bsize} bytes, ${bytes} are needed`, EXIT.failure);
  }
}
