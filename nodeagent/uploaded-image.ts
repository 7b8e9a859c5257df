// Reads an uploaded image from the control plane, part by part, with the node's key. A download that was interrupted
// continues with the next part.
import type { Image } from "../src/contract/image.ts";
import { IMAGE_PART_BYTES } from "../src/contract/limits.ts";
import { hashFile } from "../cli/image/digest.ts";
import type { Part } from "../cli/image/part.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import type { Agent } from "./agent.ts";
import { askForBytes } from "./byte-request.ts";

type Reading = {
  /** The id of the stored bytes. */
  readonly id: string;
  readonly part: Part;
  readonly api_key: string | null;
  readonly onProgress: (percent: number) => void;
};

/** Completes the unfinished download. Throws a Failure if the image's bytes cannot be read or have another digest. */
export async function readUploaded(agent: Agent, image: Image, { id, part, api_key, onProgress }: Reading) {
  // A download continues only after a whole part.
  if (part.bytes() % IMAGE_PART_BYTES !== 0) await part.restart(null);
  while (part.bytes() < image.size_bytes) {
    const bytes = await readPart(agent, { id, api_key, number: part.bytes() / IMAGE_PART_BYTES });
    if (bytes.length !== Math.min(IMAGE_PART_BYTES, image.size_bytes - part.bytes())) {
      throw new Failure(
        `the control plane sent a part of image ${image.id} with a wrong length: ${bytes.length} bytes`,
        EXIT.failure,
      );
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
  const what = `the control plane did not send part ${number} of the image`;
  const answer = await askForBytes(agent, { what, path: `/v1/agent/images/${id}?part=${number}`, api_key });
  return new Uint8Array(await answer.arrayBuffer());
}
