// Packs a Linux node image into one file of a release. `tar -xf FILE -C /srv/booter/os` unpacks the image into the
// folder from which a booter serves images.
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { tarArchive } from "../internal/tar.ts";

const MANIFEST = "manifest.json";
/** The files that the folder of an image must have. */
const NEEDED = [MANIFEST, `${MANIFEST}.asc`] as const;
const FILE_MODE = 0o644;

/** Returns the archive of a folder of `task node-image`. Throws an Error for a folder without a signed manifest. */
export async function nodeImageTar(folder: string, time_s: number) {
  const names: readonly string[] = await readdir(folder).catch(() => []);
  const lacks = NEEDED.find((name) => !names.includes(name));
  if (lacks !== undefined) throw new Error(`--node-image ${folder}: is not a node image: ${lacks} is missing`);
  const { kind, stamp } = JSON.parse(await readFile(join(folder, MANIFEST), "utf8")) as Record<string, unknown>;
  if (kind !== "linux" || stamp !== basename(folder)) {
    throw new Error(`--node-image ${folder}: its manifest describes image ${String(stamp)} of kind ${String(kind)}`);
  }
  const entries = await Promise.all(
    names.toSorted().map(async (name) => ({
      path: `${stamp}/${name}`,
      bytes: await readFile(join(folder, name)),
      mode: FILE_MODE,
    })),
  );
  return { name: `berth-node-image_${stamp}_amd64.tar`, bytes: tarArchive(entries, time_s) };
}
