// Reads an uploaded image from the control plane, part by part, with the node's key. A download that was interrupted
// continues with the next part.
import type { Image } from "../src/contract/image.ts";
import { IMAGE_PART_BYTES } from "../src/contract/limits.ts";
import { hashFile } from "../cli/image/digest.ts";
import type { Part } from "../cli/image/part.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import { type Agent, REQUEST_LIMIT_MS, rest } from "./agent.ts";

type Reading = {
  /** The id of the stored bytes. */
  readonly id: string;
  readonly part: Part;
  readonly api_key: string | null;
  readonly onProgress: (percent: number) => void;
};

const TRIES_MAX = 5;

/** Fills the part with the image's bytes. Throws a Failure if they cannot be read or have another digest. */
export async function readUploaded(agent: Agent, image: Image, { id, part, api_key, onProgress }: Reading) {
  // Only whole parts can be continued.
  if (part.bytes() % IMAGE_PART_BYTES !== 0) await part.restart(null);
  while (part.bytes() < image.size_bytes) {
    const bytes = await readPart(agent, { id, api_key, number: part.bytes() / IMAGE_PART_BYTES });
    if (bytes.length !== Math.min(IMAGE_PART_BYTES, image.size_bytes - part.bytes())) {
      throw new Failure(`the control plane sent ${bytes.length} bytes of a part of image ${image.id}`, EXIT.failure);
    }
    await part.write(bytes);
    onProgress(Math.min(100, Math.floor(part.bytes() * 100 / image.size_bytes)));
  }
  const { sha256 } = await hashFile(agent.environment, part.path, { algorithms: ["sha256"] });
  if (sha256 === image.sha256) return;
  await part.restart(null);
  throw new Failure(`the uploaded image has the SHA-256 ${sha256}, not ${image.sha256}`, EXIT.failure);
}

type Wanted = { readonly id: string; readonly api_key: string | null; readonly number: number };

async function readPart(agent: Agent, { id, api_key, number }: Wanted): Promise<Uint8Array> {
  const { environment, link } = agent;
  for (let tries = 1;; tries += 1) {
    const answer = await environment.fetch(`${link.endpoint}/v1/agent/images/${id}?part=${number}`, {
      headers: { authorization: `Bearer ${api_key}`, "user-agent": link.user_agent },
      // A credential must not follow a redirect to another server.
      redirect: "manual",
      signal: AbortSignal.any([environment.signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]),
    }).catch((error) => {
      environment.signal.throwIfAborted();
      return error as Error;
    });
    if (answer instanceof Response && answer.status === 200) return new Uint8Array(await answer.arrayBuffer());
    const isLasting = answer instanceof Response && answer.status < 500 && answer.status !== 429;
    if (isLasting || tries >= TRIES_MAX) {
      const why = answer instanceof Response ? `status ${answer.status}` : answer.message;
      throw new Failure(`the control plane did not send part ${number} of the image: ${why}`, EXIT.failure);
    }
    await rest(agent, agent.timers.error_retry_ms);
  }
}
