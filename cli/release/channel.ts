// Writes the channel: tarballs of the programs, the install script, and channel.json (docs/guides/channel.md).
// channel.json lists the other files with their SHA-256, and has a detached signature by the release's key. A site
// publishes the folder unchanged. A booter with upstream_channel_url mirrors the channel.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { access, copyFile, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { Build, Package } from "./deb.ts";
import { gzipped } from "../internal/gzip.ts";
import { EXECUTABLES } from "./packages.ts";
import { keyring, publicKeyPem, type ReleaseKey, signDetached } from "./signature.ts";
import { type Entry, tarArchive } from "../internal/tar.ts";
import { base64Lines, withLines } from "./template.ts";

export const CHANNEL_FOLDER = "channel";
const DOCUMENT = "channel.json";
const INSTALLER = "install.sh";
const ETC = "etc/berth/";
const READABLE = 0o644;
const RUNNABLE = 0o755;
const TARBALL = new RegExp(`^(?:${EXECUTABLES.join("|")})-(.+)-(?:linux|sunos)-(?:amd64|arm64)\\.tar\\.gz$`);

export type ChannelItem = { readonly name: string; readonly path: string };

type Tarball = { readonly name: string; readonly bytes: Uint8Array };

/**
 * Packs a package's files for a prefix such as /usr/local. Returns null for the control plane, because a channel has
 * only the packages with one executable.
 */
export async function tarballOf(
  { root, described, build }: { readonly root: string; readonly described: Package; readonly build: Build },
): Promise<Tarball | null> {
  const { name, files } = described;
  if (!EXECUTABLES.some((each) => each === name)) return null;
  const more = name === "nodeagent" ? await agentService(root) : [];
  return {
    name: `${name}-${build.version}-linux-${build.architecture}.tar.gz`,
    bytes: await gzipped(tarArchive([...files.map((each) => belowPrefix(name, each)), ...more], build.time_s)),
  };
}

/** Debian's folder of zsh completions, and the folder that replaces it below another prefix. */
const ZSH = ["share/zsh/vendor-completions/", "share/zsh/site-functions/"] as const;

/**
 * Maps a package's file to its path below the prefix. Settings become examples, so that an installation never replaces
 * an operator's file.
 */
function belowPrefix(name: string, { path, bytes, mode }: Entry): Entry {
  if (path.startsWith(ETC)) {
    return { path: `share/doc/${name}/examples/${path.slice(ETC.length)}`, bytes, mode: READABLE };
  }
  if (!path.startsWith("usr/")) throw new Error(`${path} cannot be installed below a prefix: it is not in usr/`);
  const below = path.slice("usr/".length).replace(...ZSH);
  if (!path.endsWith(".service")) return { path: below, bytes, mode };
  const text = Buffer.from(bytes).toString("utf8").replaceAll("/usr/bin/", "@PREFIX@/bin/");
  return { path: below, bytes: Buffer.from(text), mode };
}

/** Returns the files of the agent's service on a node. */
async function agentService(root: string): Promise<Entry[]> {
  const source = (name: string) => readFile(join(root, "cli/release/files", name));
  return [
    { path: "lib/nodeagent/start", bytes: await source("nodeagent-start.sh"), mode: RUNNABLE },
    { path: "lib/nodeagent/nodeagent.xml", bytes: await source("nodeagent.xml"), mode: READABLE },
  ];
}

export type ChannelInput = {
  readonly folder: string;
  readonly version: string;
  readonly signed_at: Date;
  readonly key: ReleaseKey;
  readonly tarballs: readonly ChannelItem[];
};

/**
 * Checks the tarballs. Throws an Error for a missing tarball, or a name that does not belong to this version's channel.
 */
export async function checkTarballs(tarballs: readonly ChannelItem[], version: string): Promise<void> {
  for (const { name, path } of tarballs) {
    if (TARBALL.exec(name)?.[1] !== version) {
      throw new Error(`${name}: the name of a tarball must be PROGRAM-${version}-SYSTEM-MACHINE.tar.gz`);
    }
    await access(path).catch(() => {
      throw new Error(`${path}: cannot be read`);
    });
  }
}

export async function writeChannel({ folder, version, signed_at, key, tarballs }: ChannelInput): Promise<void> {
  for (const { name, path } of tarballs) {
    if (resolve(path) !== resolve(folder, name)) await copyFile(path, join(folder, name));
  }
  const template = await readFile(new URL("channel-install.sh", import.meta.url), "utf8");
  const script = withLines(template, {
    KEYRING: base64Lines(keyring(key)),
    PUBLIC_KEY: await publicKeyPem(key) ?? "",
  });
  await writeFile(join(folder, INSTALLER), script, { mode: RUNNABLE });
  const names = [INSTALLER, ...new Set(tarballs.map(({ name }) => name))].sort();
  const document = Buffer.from(channelText({
    version,
    released_at: `${signed_at.toISOString().slice(0, -".000Z".length)}Z`,
    files: await Promise.all(names.map(async (name) => fileOf(name, await readFile(join(folder, name))))),
  }));
  await writeFile(join(folder, DOCUMENT), document);
  await writeFile(join(folder, `${DOCUMENT}.asc`), await signDetached(key, document, signed_at));
}

type ChannelFile = { readonly name: string; readonly sha256: string; readonly bytes: number };

function fileOf(name: string, bytes: Uint8Array): ChannelFile {
  return { name: basename(name), sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
}

/** Returns channel.json with one field or file on each line, because the install script reads it with sed and awk. */
function channelText(
  { version, released_at, files }: { version: string; released_at: string; files: readonly ChannelFile[] },
): string {
  const lines = files.map((each) => `    ${JSON.stringify(each)}`).join(",\n");
  return `{\n  "version": ${JSON.stringify(version)},\n  "released_at": ${
    JSON.stringify(released_at)
  },\n  "files": [\n${lines}\n  ]\n}\n`;
}
