// Takes a screenshot of an instance, for tenantctl and opsctl.
import { CONSOLE_DIAL_S, SCREENSHOT_S_MAX } from "../../src/contract/limits.ts";
import type { Io } from "./io.ts";
import { needDirectoryOf } from "./output-file.ts";
import { plainText } from "./plain-text.ts";
import { writeFileDurably } from "./private-file.ts";

/** Time limit of the request: the server's own limit, and time for the answer to arrive. */
const LIMIT_MS = (CONSOLE_DIAL_S + SCREENSHOT_S_MAX + 5) * 1_000;
const STDOUT = "-";

export const SCREENSHOT_SUMMARY = "Save the screen of a running instance as a PNG file";
export const TO_OPTION = ["--to <file>", "file to write; - for standard output", "screenshot.png"] as const;

/** Saves the screen of the instance at `path` in the file `to`. */
export async function saveScreenshot(
  io: Pick<Io, "environment" | "send" | "print">,
  { path, to }: { readonly path: string; readonly to: string },
): Promise<void> {
  if (to !== STDOUT) await needDirectoryOf(to, "--to");
  const bytes = await io.send<Uint8Array>({
    method: "GET",
    path: `${path}/screenshot`,
    is_bytes: true,
    limit_ms: LIMIT_MS,
  });
  if (to === STDOUT) return io.environment.stdout.writeBytes(bytes);
  await writeFileDurably(to, bytes);
  io.print({ file: to, bytes: bytes.length }, plainText(`${to}: ${bytes.length} bytes`));
}
