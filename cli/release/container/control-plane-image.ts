// Builds the container image of the control plane: the files of its Debian package on a base of four Debian packages.
// Also writes the manifests that start the image with Compose or on Kubernetes.
import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Entry, tarArchive } from "../../internal/tar.ts";
import { HOME } from "../control-plane.ts";
import type { Build, Package } from "../deb.ts";
import { type ContainerConfig, type Layer, ociArchive } from "./oci.ts";

const NAME = "berth-control-plane";
/** Id of the user in the container. Usually, no user of a machine has this id. */
const USER_ID = 65_532;
const PORT = 8080;
/** Templates beside this file, for Compose and for Kubernetes. */
const MANIFESTS = ["compose.yaml", "kubernetes.yaml"] as const;

export type ContainerFile = { readonly name: string; readonly bytes: Uint8Array };

/** Returns the archive of the image and the manifests that use it, with their file names. */
export async function controlPlaneImage(
  described: Package,
  build: Build,
  base: readonly Layer[],
): Promise<readonly ContainerFile[]> {
  const { version, architecture, time_s } = build;
  const own = { tar: tarArchive(filesOf(described), time_s), comment: `Debian package ${NAME} ${version}` };
  const image = await ociArchive({
    name: NAME,
    version,
    architecture,
    time_s,
    layers: [...base, own],
    config: configOf(described, build),
  });
  const manifests = await Promise.all(MANIFESTS.map(async (name) => {
    const text = await readFile(new URL(name, import.meta.url), "utf8");
    const filled = text.replaceAll("@VERSION@", version).replaceAll("@DIGEST@", image.digest);
    return { name, bytes: Buffer.from(filled) };
  }));
  return [{ name: `${NAME}_${version}_${architecture}.oci.tar`, bytes: image.bytes }, ...manifests];
}

/** Returns the files of the package that a container needs: no units, no sysusers file, no settings. */
function filesOf({ files }: Package): Entry[] {
  const user = `berth:x:${USER_ID}:${USER_ID}:Berth control plane:/nonexistent:/bin/false\n`;
  return [
    ...files.filter(({ path }) => path.startsWith(`${HOME}/`) || path.startsWith("usr/share/doc/")),
    { path: "etc/passwd", bytes: Buffer.from(user), mode: 0o644 },
    { path: "etc/group", bytes: Buffer.from(`berth:x:${USER_ID}:\n`), mode: 0o644 },
  ];
}

function configOf({ summary }: Package, { version, time_s }: Build): ContainerConfig {
  return {
    User: `${USER_ID}:${USER_ID}`,
    Env: [
      "PATH=/usr/bin:/bin",
      // Deno keeps compiled modules here, so /tmp must be writable.
      "DENO_DIR=/tmp/deno",
      "DENO_NO_UPDATE_CHECK=1",
      "NO_COLOR=1",
      "HOST=0.0.0.0",
      `PORT=${PORT}`,
    ],
    Entrypoint: [join("/", HOME, "bin/start")],
    WorkingDir: join("/", HOME),
    ExposedPorts: { [`${PORT}/tcp`]: {} },
    StopSignal: "SIGTERM",
    Labels: {
      "org.opencontainers.image.title": NAME,
      "org.opencontainers.image.description": summary,
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.created": new Date(time_s * 1_000).toISOString(),
    },
  };
}
