// Builds the lower layers of a container image from the contents of a few Debian packages. The packages are of the
// Debian release that the building machine runs. apt checks the signatures of the archive. No package script runs, and
// no package manager is in the image.
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Architecture } from "../deb.ts";
import type { Layer } from "./oci.ts";

/** base-files creates the root folders; Deno needs libc6 and libgcc-s1; the start script needs dash. */
const PACKAGES = ["base-files", "libc6", "libgcc-s1", "dash"] as const;
/** Maximum size of the contents of a package, in bytes: libc6 has 13 MB. */
const BYTES_MAX = 256 * 1024 * 1024;

const execute = promisify(execFile);

/**
 * Downloads the packages and returns a layer for each. If the download fails, for example without apt or without the
 * archive, calls `note` with the reason and returns null.
 */
export async function debianLayers(
  architecture: Architecture,
  note: (reason: string) => void,
): Promise<readonly Layer[] | null> {
  const folder = await mkdtemp(join(tmpdir(), "berth-base-"));
  try {
    await execute("apt-get", ["download", "-q", ...PACKAGES.map((name) => `${name}:${architecture}`)], { cwd: folder });
    return await Promise.all((await readdir(folder)).sort().map((name) => layerOf(join(folder, name))));
  } catch (error) {
    note(reasonOf(error));
    return null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function layerOf(path: string): Promise<Layer> {
  const options = { encoding: "buffer", maxBuffer: BYTES_MAX } as const;
  const { stdout: tar } = await execute("dpkg-deb", ["--fsys-tarfile", path], options);
  const { stdout: about } = await execute("dpkg-deb", ["--show", "--showformat=${Package} ${Version}", path]);
  return { tar, comment: `Debian package ${about}` };
}

function reasonOf(error: unknown): string {
  const { code, path, stderr } = error as { code?: string; path?: string; stderr?: string };
  if (code === "ENOENT") return `${path ?? "apt-get"} is missing; the base of the image comes from Debian packages`;
  const last = stderr?.trim().split("\n").at(-1);
  return last === undefined || last === "" ? String(error) : last;
}
