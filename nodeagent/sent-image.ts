// Sends the file of an image to the control plane, part by part, with the node's key. The control plane reports how
// many bytes it has, so an interrupted transfer continues.
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";
import type { ImageUpload } from "../src/contract/image-upload.ts";
import type { Agent } from "./agent.ts";
import { askForBytes } from "./byte-request.ts";

/**
 * Time limit of the request that finishes an upload. It is long, because a server process that did not receive the
 * parts must read them from its store to compute the digest.
 */
const FINISH_LIMIT_MS = 10 * 60_000;

export type Sending = {
  /** The id of the upload. */
  readonly id: string;
  readonly path: string;
  readonly api_key: string | null;
  readonly onProgress: (percent: number) => void;
};

export type Sent = { readonly size_bytes: number; readonly sha256: string };

/** Sends the file to the control plane, which stores it. Throws a Failure if the control plane refuses the file. */
export async function sendUpload(agent: Agent, { id, path, api_key, onProgress }: Sending): Promise<Sent> {
  const at = `/v1/agent/images/${id}`;
  const asked = { what: "the control plane did not store the image", api_key };
  const file = await open(path, "r");
  try {
    const { size: size_bytes } = await file.stat();
    const begin = { ...asked, method: "POST", path: at, body: JSON.stringify({ size_bytes }) } as const;
    const { received_bytes, part_bytes } = await (await askForBytes(agent, begin)).json() as ImageUpload;
    const digest = createHash("sha256");
    const buffer = new Uint8Array(part_bytes);
    for (let from = 0; from < size_bytes;) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(part_bytes, size_bytes - from), from);
      // The server expects whole parts. A read from a file on disk is shorter only if the file became shorter.
      if (bytesRead < Math.min(part_bytes, size_bytes - from)) {
        throw new Failure(`${path} became shorter while it was sent`, EXIT.failure);
      }
      const body = buffer.subarray(0, bytesRead);
      digest.update(body);
      if (from >= received_bytes) {
        await askForBytes(agent, { ...asked, method: "PUT", path: `${at}/parts?from=${from}`, body });
      }
      from += bytesRead;
      onProgress(Math.floor(from * 100 / size_bytes));
    }
    const sha256 = digest.digest("hex");
    const finish = { ...asked, method: "POST", path: `${at}/finish`, body: JSON.stringify({ sha256 }) } as const;
    await askForBytes(agent, { ...finish, limit_ms: FINISH_LIMIT_MS });
    return { size_bytes, sha256 };
  } finally {
    await file.close();
  }
}
