// Builds a release with the real code, but with one-line shell scripts as programs, to save time.
import { Buffer } from "node:buffer";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Item, writeRelease } from "../../cli/release/release.ts";
import { type PackageName, PACKAGES } from "../../cli/release/packages.ts";
import { readReleaseKey } from "../../cli/release/signature.ts";
import { type ControlPlane, controlPlaneFiles, HOME } from "../../cli/release/control-plane.ts";
import { readLock } from "../../cli/release/lock.ts";
import type { Layer } from "../../cli/release/container/oci.ts";
import type { ChannelItem } from "../../cli/release/channel.ts";
import type { Architecture } from "../../cli/release/deb.ts";
import { writeReleaseKey } from "./release-key.ts";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** 2026-01-02: later than the creation of the key. */
export const TIME_S = 1_767_312_000;

export type SmallRelease = {
  readonly folder: string;
  readonly version: string;
  readonly architecture?: Architecture;
  readonly packages?: readonly PackageName[];
  /** Whether to include all files of the control plane; by default only a few. */
  readonly tree?: "whole" | "few";
  /** File of the signing key. */
  readonly key_path: string;
  /** Time of all files and signatures: seconds since 1970. */
  readonly time_s?: number;
  readonly tarballs?: readonly ChannelItem[];
  /** Text of the script that replaces every program, or the program itself. */
  readonly program?: string | Uint8Array;
  /** Layers below the files of the control plane. Without them, the release has no container image. */
  readonly container_base?: readonly Layer[];
};

export async function smallRelease(given: SmallRelease): Promise<readonly string[]> {
  const architecture = given.architecture ?? "amd64";
  const lock = await readLock(join(ROOT, "deno.lock"));
  return await writeRelease({
    root: ROOT,
    out: given.folder,
    version: given.version,
    time_s: given.time_s ?? TIME_S,
    tarballs: given.tarballs ?? [],
    items: (given.packages ?? PACKAGES).map((name) => ({ name, architecture })),
    containerBase: () => Promise.resolve(given.container_base ?? null),
    program: (item) =>
      Promise.resolve(given.program === undefined ? programOf(item, given.version) : Buffer.from(given.program)),
    manual: [{ path: "usr/share/man/man1/opsctl-cn.1.gz", bytes: Buffer.from("page"), mode: 0o644 }],
    lock,
    control_plane: given.tree === "whole" ? await controlPlaneFiles(ROOT, lock) : await fewFiles(),
    imported: ["commander", "openpgp"],
    runtimes: { bun: "1.0.0", deno: "2.0.0" },
    key: await readReleaseKey(given.key_path, null),
  });
}

const FEW = ["package.json", "src/serve.ts", "src/permissions.ts", "src/start.ts", "src/outbound/process.ts"];

async function fewFiles(): Promise<ControlPlane> {
  const files = await Promise.all(FEW.map(async (name) => ({
    path: `${HOME}/${name}`,
    bytes: await readFile(join(ROOT, name)),
    mode: 0o644,
  })));
  return { files, imported: ["pg", "zod"] };
}

export async function releaseKeyIn(folder: string): Promise<string> {
  const path = join(folder, "release.key");
  await writeReleaseKey(path);
  return path;
}

function programOf({ name }: Item, version: string): Uint8Array {
  return Buffer.from(`#!/bin/sh\necho ${name} ${version}\n`);
}

export async function flipBit(path: string, bytes: Uint8Array, at: number): Promise<void> {
  const changed = Uint8Array.from(bytes);
  changed[at]! ^= 1;
  await writeFile(path, changed);
}
