// Writes a container image as one archive, without a container engine. The archive has the OCI image layout
// (https://github.com/opencontainers/image-spec, version 1.1), which Podman, Skopeo and containerd read. The archive
// also has the file manifest.json, which `docker load` of every version reads.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { gzipped } from "../../internal/gzip.ts";
import { type Entry, tarArchive } from "../../internal/tar.ts";
import type { Architecture } from "../deb.ts";

export type Layer = {
  readonly tar: Uint8Array;
  /** Contents of the layer, for the history of the image. */
  readonly comment: string;
};

/** The part `config` of an image's configuration. */
export type ContainerConfig = {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly WorkingDir: string;
  readonly ExposedPorts: Readonly<Record<string, Record<string, never>>>;
  readonly StopSignal: string;
  readonly Labels: Readonly<Record<string, string>>;
};

export type ContainerImage = {
  readonly name: string;
  readonly version: string;
  readonly architecture: Architecture;
  /** Time of the image and of all files of the archive: seconds since 1970. */
  readonly time_s: number;
  /** The layers, from the lowest to the uppermost. */
  readonly layers: readonly Layer[];
  readonly config: ContainerConfig;
};

const MEDIA = "application/vnd.oci.image";
const FILE_MODE = 0o644;

type Blob = { readonly digest: string; readonly bytes: Uint8Array };

/** Returns the archive, and the digest of the image's manifest, which identifies the image in a registry. */
export async function ociArchive(
  image: ContainerImage,
): Promise<{ readonly bytes: Uint8Array; readonly digest: string }> {
  const { name, version, architecture, time_s, config } = image;
  const created = new Date(time_s * 1_000).toISOString();
  const layers = await Promise.all(image.layers.map(async ({ tar }) => blob(await gzipped(tar))));
  const configuration = jsonBlob({
    created,
    architecture,
    os: "linux",
    config,
    rootfs: { type: "layers", diff_ids: image.layers.map(({ tar }) => blob(tar).digest) },
    history: image.layers.map(({ comment }) => ({ created, created_by: comment })),
  });
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: `${MEDIA}.manifest.v1+json`,
    config: descriptor("config.v1+json", configuration),
    layers: layers.map((layer) => descriptor("layer.v1.tar+gzip", layer)),
  });
  const annotations = {
    "org.opencontainers.image.ref.name": version,
    "io.containerd.image.name": `docker.io/library/${name}:${version}`,
  };
  const files = [
    json("oci-layout", { imageLayoutVersion: "1.0.0" }),
    json("index.json", {
      schemaVersion: 2,
      mediaType: `${MEDIA}.index.v1+json`,
      manifests: [{ ...descriptor("manifest.v1+json", manifest), annotations }],
    }),
    json("manifest.json", [{
      Config: pathOf(configuration),
      RepoTags: [`${name}:${version}`],
      Layers: layers.map(pathOf),
    }]),
    ...[configuration, manifest, ...layers].map((each) => file(pathOf(each), each.bytes)),
  ];
  return { bytes: tarArchive(files, time_s), digest: manifest.digest };
}

function blob(bytes: Uint8Array): Blob {
  return { digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, bytes };
}

function jsonBlob(value: unknown): Blob {
  return blob(Buffer.from(JSON.stringify(value)));
}

function descriptor(media: string, { digest, bytes }: Blob) {
  return { mediaType: `${MEDIA}.${media}`, digest, size: bytes.length };
}

function pathOf({ digest }: Blob): string {
  return `blobs/${digest.replace(":", "/")}`;
}

function json(path: string, value: unknown): Entry {
  return file(path, Buffer.from(JSON.stringify(value)));
}

function file(path: string, bytes: Uint8Array): Entry {
  return { path, bytes, mode: FILE_MODE };
}
