// Defines opsctl support-bundle, which writes the facts for remote support into one archive. Its file manifest.json
// lists each missing section with the reason, for example that the server did not answer, or that the credential has no
// permission to read the section.
import { type AnyCommand, command } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { needDirectoryOf } from "../../internal/output-file.ts";
import { plainText } from "../../internal/plain-text.ts";
import { writeFileDurably } from "../../internal/private-file.ts";
import { withIo } from "../../internal/run.ts";
import { gzipped } from "../../internal/gzip.ts";
import { type Entry, tarArchive } from "../../internal/tar.ts";
import { VERSION } from "../../version.ts";
import { redacted, redactedText } from "./redact.ts";
import { type Section, SECTIONS } from "./sections.ts";

type Read = { readonly file: string; readonly text: string } | { readonly file: string; readonly missing: string };

const OWNER_ONLY = 0o600;

export function supportBundle(summary: string): AnyCommand {
  return command("support-bundle", summary, "--file bundle.tar.gz")
    .option("--file <file>", "file to write; by default berth-support-TIME.tar.gz in the current directory")
    .action(withIo(async (io, { file }) => {
      if (file !== undefined) await needDirectoryOf(file, "--file");
      const made_at = new Date(io.environment.wallMs());
      const reads: Read[] = [];
      // The sections are read one at a time, because the server may already be overloaded.
      for (const section of SECTIONS) {
        reads.push(await read(io, section, reads.length === 0));
      }
      const missing = reads.flatMap((each) => "missing" in each ? [each] : []);
      const { endpoint } = await io.connection();
      const manifest = { made_at: made_at.toISOString(), opsctl: VERSION, endpoint, missing };
      const files = [{ file: "manifest.json", text: jsonText(manifest) }, ...reads.filter((each) => "text" in each)];
      const made_at_s = Math.floor(made_at.getTime() / 1_000);
      const stamp = manifest.made_at.replace(/[-:]|\..*/g, "");
      const path = file ?? `berth-support-${stamp}Z.tar.gz`;
      const entries = files.map(({ file, text }) => entry(`berth-support-${stamp}Z/${file}`, text));
      await writeFileDurably(path, await gzipped(tarArchive(entries, made_at_s)), OWNER_ONLY);
      for (const { file, missing: why } of missing) io.note(`note: ${file} is missing: ${why}`);
      io.print(
        { path, files: files.map(({ file }) => file), missing },
        `Wrote ${plainText(path)} (${files.length} files). Review it before you share it.`,
      );
    })) as AnyCommand;
}

/** Reads one section. A failure of the first section (the server's health) ends the command. */
async function read(io: Io, { file, read }: Section, is_first: boolean): Promise<Read> {
  try {
    const value = await read(io);
    return { file, text: typeof value === "string" ? redactedText(value) : jsonText(value) };
  } catch (error) {
    if (!(error instanceof Failure) || is_first || endsBundle(error)) throw error;
    return { file, missing: redactedText(error.message) };
  }
}

/**
 * Returns whether every other section would fail too: after Ctrl-C, without an endpoint, or with an invalid credential.
 */
function endsBundle({ exit_code, status }: Failure): boolean {
  return exit_code === EXIT.interrupted || exit_code === EXIT.usage || (exit_code === EXIT.auth && status !== 403);
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(redacted(value), null, 2)}\n`;
}

function entry(path: string, text: string): Entry {
  return { path, bytes: new TextEncoder().encode(text), mode: OWNER_ONLY };
}
