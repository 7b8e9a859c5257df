// Takes a picture of a VM's screen. QEMU writes the picture into a folder of its own user, so a QEMU that a guest took
// over may put anything there: a link, a device or an endless file. The agent reads only a regular file of that user.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { SCREENSHOT_BYTES_MAX } from "../../src/contract/limits.ts";
import { isPng } from "../../src/lib/console/png.ts";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import { DetailedFailure } from "../detailed-failure.ts";
import type { Qmp } from "./qmp.ts";

/** Time that QEMU has to write the picture. */
const DUMP_LIMIT_MS = 10_000;

export type ScreenOptions = { readonly output_folder: string; readonly uid: number };

/** Takes a screenshot. Returns the PNG file. Throws a Failure with a sentence for the tenant. */
export async function takeScreenshot(qmp: Pick<Qmp, "execute">, { output_folder, uid }: ScreenOptions) {
  const path = join(output_folder, `screen-${randomUUID()}.png`);
  try {
    await qmp.execute("screendump", { filename: path, format: "png" }, DUMP_LIMIT_MS);
    return await readPicture(path, uid);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new DetailedFailure("the screen could not be read", (error as Error).message);
  } finally {
    await rm(path, { force: true });
  }
}

/** Reads a file that QEMU wrote. Throws an Error unless it is a regular PNG file of this user and not too large. */
export async function readPicture(path: string, uid: number): Promise<Uint8Array> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile() || found.uid !== uid || found.size > SCREENSHOT_BYTES_MAX) throw notAPicture();
    const bytes = new Uint8Array(found.size);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    if (bytesRead < found.size || !isPng(bytes)) throw notAPicture();
    return bytes;
  } finally {
    await file.close();
  }
}

function notAPicture(): Failure {
  return new Failure("the machine's screen gave no picture, or one that is too large", EXIT.failure);
}
