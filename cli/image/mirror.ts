// Copies selected images of an index with their files into one folder, for a site without the internet. A file gets its
// final name only when complete, and a list is written after the files that it lists. So a reader finds every listed
// file, during a run and after a crash. Unlisted documents below v1/ are removed at the end. Unlisted image files and
// vendors' documents are removed only with --prune.
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { type AnyCommand, option } from "../framework.ts";
import { EXIT } from "../internal/exit-code.ts";
import { distroPath, OPENAPI_PATH } from "../../src/lib/image-index/paths.ts";
import { parseEndpoint } from "../internal/endpoint.ts";
import { Failure, usageFailure } from "../internal/failure.ts";
import type { Io } from "../internal/io.ts";
import { plainText } from "../internal/plain-text.ts";
import { type Fetched, fetchImage } from "./fetch-image.ts";
import { filterImages } from "./filter.ts";
import type { Host } from "./host.ts";
import { mirrorDocuments, withMirrorFirst } from "./mirror-tree.ts";
import { type Artifact, type Distro, distroOf, type Image } from "./model.ts";
import { filtering, FINGERPRINT, KEY, SIGNATURE, TRUST_INDEX } from "./options.ts";
import { imageName } from "./pick.ts";
import { sizeText } from "../internal/byte-size.ts";
import { documentPath, imagePath, openSource, type Source } from "./source.ts";
import { trustPolicyOf } from "./trust.ts";
import { documentsOf } from "./vendor-check.ts";

export function mirror(host: Host): AnyCommand {
  return filtering(
    "mirror",
    "Copy selected images of an index, with their files, into a folder that is an index itself",
    "--distro debian --to /srv/images",
  )
    .requiredOption("--to <folder>", "the folder to write; a second run updates it")
    .option(
      "--base-url <url>",
      "URL at which a web server will serve the folder; the mirror's index lists it before the vendor's URLs",
    )
    .option("--prune", "remove image files and documents that the mirror no longer lists")
    .addOption(TRUST_INDEX)
    .addOption(SIGNATURE)
    .addOption(KEY)
    .addOption(FINGERPRINT)
    .addOption(option("--no-verify", "also copy files without a hash, unverified").conflicts("signature"))
    .action(host.withIo(async (io, options) => {
      const folder = resolve(options.to);
      const base_url = options.baseUrl === undefined ? null : parseEndpoint(options.baseUrl, "--base-url");
      const check = await trustPolicyOf(options);
      const source = await openSource(host, io, options.index);
      if (source.name === folder) throw usageFailure("--to must not be the folder of the index itself");
      const images = filterImages(await source.images(), options);
      if (images.length === 0) {
        throw new Failure(
          "no image in the index matches the options; run image search without filters to see which images exist",
          EXIT.not_found,
        );
      }
      const distros = await distrosOf(source, images);
      const listed = new Set<string>();
      const files: Fetched[] = [];
      for (const image of images) {
        for (const artifact of image.build.artifacts) {
          const target = join(folder, imagePath(image, artifact));
          const unverifiable = !options.verify && (artifact.integrity?.digests ?? []).length === 0;
          const job = {
            source,
            image,
            artifact,
            target,
            other: "replace",
            check: unverifiable ? null : check,
          } as const;
          files.push(await named(image, () => fetchImage(io, job)));
          listed.add(imagePath(image, artifact));
          for (const path of await keepDocuments(io, folder, { source, artifact })) listed.add(path);
        }
      }
      const shown = base_url === null ? images : withMirrorFirst(images, base_url);
      const documents = new Map(mirrorDocuments(shown, distros));
      const openapi = await source.text(OPENAPI_PATH);
      if (openapi !== null) documents.set(OPENAPI_PATH, openapi);
      for (const [path, text] of documents) await writeWhole(join(folder, path), text);
      const removed = [
        ...await removeOthers(folder, "v1", documents),
        ...(options.prune === true
          ? [...await removeOthers(folder, "images", listed), ...await removeOthers(folder, "documents", listed)]
          : []),
      ];
      report(io, { folder, images, files, removed });
    }));
}

/** Adds the name of the image to a Failure. */
async function named<T>(image: Image, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(`${imageName(image)}: ${error.message}`, error.exit_code);
  }
}

async function distrosOf(source: Source, images: readonly Image[]): Promise<Map<string, Distro>> {
  const distros = new Map<string, Distro>();
  for (const id of new Set(images.map(({ distro }) => distro.id))) {
    const path = distroPath(id);
    const document = await source.json(path);
    if (document === null) throw new Failure(`${source.name} lists ${id} but has no ${path}`, EXIT.failure);
    distros.set(id, distroOf(document, `${source.name}: ${path}`));
  }
  return distros;
}

/**
 * Copies the vendor's checksums, signatures and keys, so that `verify` works without the vendor. Notes a document that
 * is not available and leaves it out. Returns the paths of the copies.
 */
async function keepDocuments(
  io: Io,
  folder: string,
  { source, artifact }: { source: Source; artifact: Artifact },
): Promise<string[]> {
  const kept: string[] = [];
  for (const url of documentsOf(artifact)) {
    try {
      const bytes = await source.document(url, artifact);
      await writeWhole(join(folder, documentPath(url)), bytes);
      kept.push(documentPath(url));
    } catch (error) {
      if (!(error instanceof Failure) || error.exit_code === EXIT.interrupted) throw error;
      io.note(`note: a vendor's document is left out: ${error.message}`);
    }
  }
  return kept;
}

async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // Two processes may mirror into one folder, so each process writes its own draft.
  const draft = `${path}.${process.pid}.draft`;
  await writeFile(draft, content, { flush: true });
  await rename(draft, path);
}

/** Removes unlisted files below `folder/top`, except unfinished downloads. Returns their paths. */
async function removeOthers(
  folder: string,
  top: string,
  listed: { has(path: string): boolean },
): Promise<string[]> {
  const entries = await readdir(join(folder, top), { recursive: true, withFileTypes: true }).catch(() => []);
  const others = entries.filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !listed.has(path) && !path.includes(".part/"));
  for (const path of others) await rm(join(folder, path), { force: true });
  return others;
}

type Done = {
  readonly folder: string;
  readonly images: readonly Image[];
  readonly files: readonly Fetched[];
  readonly removed: readonly string[];
};

function report(io: Io, { folder, images, files, removed }: Done): void {
  const fetched = files.filter(({ already_there }) => !already_there);
  const bytes = fetched.reduce((sum, file) => sum + file.bytes, 0);
  io.print(
    {
      folder,
      images: images.length,
      files: files.length,
      files_fetched: fetched.length,
      bytes_fetched: bytes,
      removed,
    },
    `${plainText(folder)}: ${images.length} images, ${files.length} files; ` +
      `fetched ${fetched.length} (${sizeText(bytes)}), removed ${removed.length}`,
  );
}
