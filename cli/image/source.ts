// Reads an index at an address or in a folder. A mirror made by `image mirror` also contains the image files and the
// vendors' documents, so that no other server is needed.
import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { EXIT } from "../internal/exit-code.ts";
import { fileReason } from "../internal/file-problem.ts";
import { Failure, usageFailure } from "../internal/failure.ts";
import type { Io } from "../internal/io.ts";
import type { Environment } from "../internal/environment.ts";
import type { Reach } from "../../src/outbound/connector.ts";
import { checkedUrl } from "./address.ts";
import type { Host } from "./host.ts";
import { reachOf } from "./reach.ts";
import { VENDOR_DOCUMENT_BYTES_MAX } from "../../src/lib/image-index/documents.ts";
import { IMAGES_PATH } from "../../src/lib/image-index/paths.ts";
import { INDEX_BYTES_MAX } from "./limits.ts";
import { type Artifact, type Image, imagesOf } from "./model.ts";
import { getDocument } from "./web.ts";

/** A location of an image file. */
export type Origin = { readonly kind: "file"; readonly path: string } | { readonly kind: "url"; readonly url: string };

export type Source = {
  /** Addresses from which the images and documents of the index may be fetched. */
  readonly reach: Reach;
  /** Name of the index in messages. */
  readonly name: string;
  /** Lists every current build. */
  images(): Promise<readonly Image[]>;
  /** Returns a document of the index, or null if it does not exist. */
  text(path: string): Promise<string | null>;
  json(path: string): Promise<unknown>;
  /**
   * Returns a vendor's document, or a mirror's copy. Without a signature check, a copy is only as trustworthy as the
   * mirror. Throws a Failure when the document is not available.
   */
  document(url: string, artifact: Artifact): Promise<Uint8Array>;
  /** Lists the locations of a file, best first. Throws a Failure if no location is known. */
  origins(image: Image, artifact: Artifact): Promise<readonly Origin[]>;
};

/**
 * Opens the index that an option or a variable names, or the control plane's index if neither names one. Throws a
 * Failure if no index is known.
 * @param allowed private networks that the control plane's operator allows
 */
export async function openSource(
  host: Host,
  io: Io,
  index: string | undefined,
  allowed: readonly unknown[] = [],
): Promise<Source> {
  const named = index ?? (io.environment.env[host.index_variable] || undefined);
  if (named === undefined) return urlSource(io.environment, await endpointOf(host, io), allowed);
  if (named.startsWith("file:")) return folderSource(io.environment, fileURLToPath(named), allowed);
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(named)
    ? urlSource(io.environment, named, allowed)
    : folderSource(io.environment, resolve(named), allowed);
}

async function endpointOf(host: Host, io: Io): Promise<string> {
  try {
    return await host.endpoint(io);
  } catch (error) {
    if (!(error instanceof Failure) || !error.message.startsWith("no endpoint")) throw error;
    throw usageFailure(
      `no image index: pass --index, set ${host.index_variable}, or pass the --endpoint of a control plane`,
    );
  }
}

/**
 * Returns the path of a vendor's document in a mirror. The file name is a hash, since the URL may be too long for a
 * file name.
 */
export function documentPath(url: string): string {
  return `documents/${createHash("sha256").update(url).digest("hex")}`;
}

/** Returns the path of an image file in a mirror. Variant, architecture and format identify one file of a build. */
export function imagePath({ distro, release, build }: Image, artifact: Artifact): string {
  const { variant, arch, format } = artifact;
  const key = [variant, arch, format].filter((part) => part !== null && part !== undefined).join("-");
  return ["images", distro.id, release.id, build.build, key, fileName(artifact)].join("/");
}

/** Returns the vendor's file name. If it is not a plain name, returns a name with the architecture and the format. */
export function fileName({ locations, arch, format }: Artifact): string {
  const url = locations[0]?.url ?? "";
  const last = URL.canParse(url) ? new URL(url).pathname.split("/").at(-1)! : "";
  return /^[A-Za-z0-9_][A-Za-z0-9._+~-]{0,199}$/.test(last) ? last : `image-${arch}.${format}`;
}

function urlSource(environment: Environment, address: string, allowed: readonly unknown[]): Source {
  const base = checkedUrl(address).href.replace(/(?<!\/)\/+$/, "");
  const reach = reachOf(environment, { named: [base], allowed });
  return withDocuments({
    environment,
    reach,
    name: base,
    read: (path) => getDocument(environment, `${base}/${path}`, { reach, bytes_max: INDEX_BYTES_MAX }),
    kept: async (url, { locations }) => {
      if (!locations.some((location) => location.url.startsWith(`${base}/images/`))) return null;
      return await getDocument(environment, `${base}/${documentPath(url)}`, {
        reach,
        bytes_max: VENDOR_DOCUMENT_BYTES_MAX,
      });
    },
    origins: (_image, { locations }) => Promise.resolve(locations.map(({ url }) => ({ kind: "url", url }))),
  });
}

function folderSource(environment: Environment, folder: string, allowed: readonly unknown[]): Source {
  return withDocuments({
    environment,
    reach: reachOf(environment, { named: [], allowed }),
    name: folder,
    read: (path) => readCapped(join(folder, path), INDEX_BYTES_MAX),
    kept: (url) => readCapped(join(folder, documentPath(url)), VENDOR_DOCUMENT_BYTES_MAX),
    origins: async (image, artifact) => {
      const path = join(folder, imagePath(image, artifact));
      const here = await stat(path).then((found) => found.isFile(), () => false);
      const elsewhere = artifact.locations.map(({ url }): Origin => ({ kind: "url", url }));
      return here ? [{ kind: "file", path }, ...elsewhere] : elsewhere;
    },
  });
}

type Access = {
  readonly environment: Environment;
  readonly reach: Reach;
  readonly name: string;
  read(path: string): Promise<Uint8Array | null>;
  /** Returns a mirror's copy of a vendor's document, or null. */
  kept(url: string, artifact: Artifact): Promise<Uint8Array | null>;
  origins: Source["origins"];
};

function withDocuments({ environment, reach, name, read, kept, origins }: Access): Source {
  const documents = new Map<string, Promise<Uint8Array>>();
  const text = async (path: string) => {
    const bytes = await read(path);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  };
  const json = async (path: string) => {
    const found = await text(path);
    return found === null ? null : parseJson(found, `${name}: ${path}`);
  };
  const fetched = async (url: string, artifact: Artifact) => {
    const bytes = await kept(url, artifact) ??
      await getDocument(environment, url, { reach, bytes_max: VENDOR_DOCUMENT_BYTES_MAX });
    if (bytes === null) throw new Failure(`${url}: the vendor no longer has this document`, EXIT.not_found);
    return bytes;
  };
  return {
    reach,
    name,
    text,
    json,
    images: async () => {
      const document = await json(IMAGES_PATH);
      if (document === null) {
        throw new Failure(
          `${name} has no ${IMAGES_PATH}, so it is not an image index; pass another one with --index`,
          EXIT.not_found,
        );
      }
      return imagesOf(document, `${name}: ${IMAGES_PATH}`);
    },
    document: (url, artifact) => {
      const asked = documents.get(url) ?? fetched(url, artifact);
      documents.set(url, asked);
      return asked;
    },
    origins: async (image, artifact) => {
      const found = await origins(image, artifact);
      if (found.length === 0) throw new Failure("the index lists no location for this file", EXIT.failure);
      return found;
    },
  };
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure(`${where} is not JSON; check that this is an image index`, EXIT.failure);
  }
}

async function readCapped(path: string, bytes_max: number): Promise<Uint8Array | null> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw new Failure(`cannot read ${path}: ${fileReason(error)}`, EXIT.failure);
  });
  if (file === null) return null;
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Failure(`${path} is not a file`, EXIT.failure);
    if (found.size > bytes_max) throw new Failure(`${path}: more than ${bytes_max} bytes`, EXIT.failure);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
