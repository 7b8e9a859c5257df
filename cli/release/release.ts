// Writes a release into a folder: packages, a container image, node images, bill of materials, install.sh, the
// release's public key, and signed checksums of these files. The folder `channel` in it is for machines without Debian
// packages.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { controlPlaneImage } from "./container/control-plane-image.ts";
import type { Layer } from "./container/oci.ts";
import type { ControlPlane } from "./control-plane.ts";
import { CHANNEL_FOLDER, type ChannelItem, checkTarballs, tarballOf, writeChannel } from "./channel.ts";
import { type Architecture, debArchive, debFileName } from "./deb.ts";
import { closureOf, type Lock } from "./lock.ts";
import { copyrightText } from "./notices.ts";
import { describePackage, type PackageName } from "./packages.ts";
import { billOfMaterials } from "./sbom.ts";
import { armoredPublicKey, keyring, type ReleaseKey, signDetached, signingTime } from "./signature.ts";
import type { Entry } from "../internal/tar.ts";
import { base64Lines, withLines } from "./template.ts";

export const SUMS = "SHA256SUMS";
export const SIGNATURE = "SHA256SUMS.asc";
const INSTALLER = "install.sh";
const PUBLIC_KEY = "release-key.asc";

export type Item = { readonly name: PackageName; readonly architecture: Architecture };

export type Release = {
  /** The project's folder. */
  readonly root: string;
  /** The folder to write. An existing release is removed first; a folder with other files is an error. */
  readonly out: string;
  readonly version: string;
  /** Time of every file in the packages: seconds since 1970. */
  readonly time_s: number;
  readonly items: readonly Item[];
  /** Returns the executable of a package; for the control plane, the Deno executable. */
  readonly program: (item: Item) => Promise<Uint8Array>;
  readonly lock: Lock;
  readonly control_plane: ControlPlane;
  readonly manual: readonly Entry[];
  /** npm packages that the executables import. */
  readonly imported: readonly string[];
  /** Versions of the included Deno and Bun, by name. */
  readonly runtimes: Readonly<Record<string, string>>;
  readonly key: ReleaseKey;
  /** Tarballs built elsewhere, for the channel: NAME-VERSION-SYSTEM-MACHINE.tar.gz. */
  readonly tarballs?: readonly ChannelItem[];
  /**
   * Returns the base of the container image; null if this machine cannot build it. Without this function the release
   * has no container image.
   */
  readonly containerBase?: (architecture: Architecture) => Promise<readonly Layer[] | null>;
  /** Tars of Linux node images, by file name. */
  readonly node_images?: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  readonly note?: (line: string) => void;
};

/** Writes a release. Returns the files, as paths in the folder. */
export async function writeRelease(release: Release): Promise<readonly string[]> {
  const { root, out, version, time_s, lock, note = () => {} } = release;
  await checkTarballs(release.tarballs ?? [], version);
  await refuseForeignFolder(out);
  await rm(out, { recursive: true, force: true });
  await mkdir(join(out, CHANNEL_FOLDER), { recursive: true });
  const release_key = armoredPublicKey(release.key);
  const signed_at = await signingTime(release.key, time_s);
  const tarballs = [...release.tarballs ?? []];
  const { files: control_plane, imported } = release.control_plane;
  // The packages are built one at a time, because each takes more than 100 MB of memory.
  for (const item of release.items) {
    const copyright = await copyrightOf(item.name, release);
    const program = await release.program(item);
    const material = { root, control_plane, manual: release.manual, copyright, release_key, program };
    const described = await describePackage(item.name, material);
    const build = { version, time_s, architecture: item.architecture };
    const name = debFileName(described, build);
    await writeFile(join(out, name), await debArchive(described, build));
    note(name);
    const base = item.name === "berth-control-plane" ? await release.containerBase?.(item.architecture) : null;
    for (const file of base ? await controlPlaneImage(described, build, base) : []) {
      await writeFile(join(out, file.name), file.bytes);
      note(file.name);
    }
    const tarball = await tarballOf({ root, described, build });
    if (tarball !== null) {
      await writeFile(join(out, CHANNEL_FOLDER, tarball.name), tarball.bytes);
      tarballs.push({ name: tarball.name, path: join(out, CHANNEL_FOLDER, tarball.name) });
      note(join(CHANNEL_FOLDER, tarball.name));
    }
  }
  for (const { name, bytes } of release.node_images ?? []) {
    await writeFile(join(out, name), bytes);
    note(name);
  }
  const shipped = [...new Set([...imported, ...release.imported])];
  const bill = billOfMaterials({ lock, version, shipped, runtimes: release.runtimes, time_s });
  await writeFile(join(out, `berth_${version}.cdx.json`), bill);
  const template = await readFile(new URL("install.sh", import.meta.url), "utf8");
  await writeFile(join(out, INSTALLER), installer(template, keyring(release.key)), { mode: 0o755 });
  await writeFile(join(out, PUBLIC_KEY), release_key);
  await writeSums(out, release.key, signed_at);
  await writeChannel({ folder: join(out, CHANNEL_FOLDER), version, signed_at, key: release.key, tarballs });
  const entries = await readdir(out, { recursive: true, withFileTypes: true });
  return entries.filter((each) => each.isFile()).map((each) => relative(out, join(each.parentPath, each.name))).sort();
}

/** Refuses to replace a folder with other files, since --out may be mistyped. */
async function refuseForeignFolder(out: string): Promise<void> {
  const names = await readdir(out).catch((error) => {
    if ((error as { code?: string }).code === "ENOENT") return [];
    throw new Error(`${out}: is not a folder`);
  });
  const isPart = (name: string) =>
    [SUMS, SIGNATURE, INSTALLER, PUBLIC_KEY, CHANNEL_FOLDER].includes(name) ||
    /\.(?:deb|cdx\.json|oci\.tar)$|^(?:compose|kubernetes)\.yaml$|^berth-node-image_.*\.tar$/.test(name);
  const foreign = names.find((name) => !isPart(name));
  if (foreign !== undefined) {
    throw new Error(
      `${out}: contains ${foreign}, which is not part of a release; a release would replace the whole folder`,
    );
  }
}

function copyrightOf(name: PackageName, { root, lock, control_plane, imported, runtimes }: Release): Promise<string> {
  const [names, runtime] = name === "berth-control-plane" ? [control_plane.imported, "deno"] : [imported, "bun"];
  const version = runtimes[runtime];
  if (version === undefined) throw new Error(`runtimes has no version of ${runtime}`);
  return copyrightText({ root, packages: closureOf(lock, names), runtime: { name: runtime, version } });
}

/**
 * Writes the checksums of all files in the folder, in the format of `sha256sum -c`, and their signature. Files in
 * subfolders are not included.
 */
export async function writeSums(folder: string, key: ReleaseKey, signed_at: Date): Promise<void> {
  const names = (await readdir(folder, { withFileTypes: true })).filter((each) => each.isFile())
    .map(({ name }) => name).filter((name) => name !== SUMS && name !== SIGNATURE).sort();
  const lines = await Promise.all(names.map(async (name) => {
    const digest = createHash("sha256").update(await readFile(join(folder, name))).digest("hex");
    return `${digest}  ${name}\n`;
  }));
  const sums = Buffer.from(lines.join(""));
  await writeFile(join(folder, SUMS), sums);
  await writeFile(join(folder, SIGNATURE), await signDetached(key, sums, signed_at));
}

/** Adds the release's public key to install.sh, so that an operator needs to trust no other file. */
function installer(template: string, public_key: Uint8Array): string {
  return withLines(template, { KEYRING: base64Lines(public_key) });
}
