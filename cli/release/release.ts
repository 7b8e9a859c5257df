// A release in a folder: packages, bill of materials, install.sh, and the checksums of all of them with a signature.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ControlPlane } from "./control-plane.ts";
import { type Architecture, debArchive, debFileName } from "./deb.ts";
import { closureOf, type Lock } from "./lock.ts";
import { copyrightText } from "./notices.ts";
import { describePackage, type PackageName } from "./packages.ts";
import { billOfMaterials } from "./sbom.ts";
import { keyring, type ReleaseKey, signDetached } from "./signature.ts";
import type { Entry } from "./tar.ts";

export const SUMS = "SHA256SUMS";
export const SIGNATURE = "SHA256SUMS.asc";
const INSTALLER = "install.sh";

export type Item = { readonly name: PackageName; readonly architecture: Architecture };

export type Release = {
  /** The project's folder. */
  readonly root: string;
  /** The folder to make; what is there is removed first. */
  readonly out: string;
  readonly version: string;
  /** Of every file in the packages: seconds since 1970. */
  readonly time_s: number;
  readonly items: readonly Item[];
  /** The executable of a package, or the Deno of the control plane. */
  readonly program: (item: Item) => Promise<Uint8Array>;
  readonly lock: Lock;
  readonly control_plane: ControlPlane;
  readonly manual: readonly Entry[];
  /** Packages that the executables import, and the versions of Deno and Bun inside. */
  readonly imported: readonly string[];
  readonly runtimes: Readonly<Record<string, string>>;
  readonly key: ReleaseKey;
  readonly note?: (line: string) => void;
};

/** Answers the names of the files it wrote. */
export async function writeRelease(release: Release): Promise<readonly string[]> {
  const { root, out, version, time_s, lock, note = () => {} } = release;
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const { files: control_plane, imported } = release.control_plane;
  // One after the other: each is above 100 MB in memory.
  for (const item of release.items) {
    const copyright = await copyrightOf(item.name, release);
    const program = await release.program(item);
    const material = { root, control_plane, manual: release.manual, copyright, program };
    const described = await describePackage(item.name, material);
    const build = { version, time_s, architecture: item.architecture };
    const name = debFileName(described, build);
    await writeFile(join(out, name), await debArchive(described, build));
    note(name);
  }
  const shipped = [...new Set([...imported, ...release.imported])];
  const bill = billOfMaterials({ lock, version, shipped, runtimes: release.runtimes, time_s });
  await writeFile(join(out, `berth_${version}.cdx.json`), bill);
  const template = await readFile(new URL("install.sh", import.meta.url), "utf8");
  await writeFile(join(out, INSTALLER), installer(template, keyring(release.key)), { mode: 0o755 });
  await writeSums(out, release.key);
  return (await readdir(out)).sort();
}

function copyrightOf(name: PackageName, { root, lock, control_plane, imported, runtimes }: Release): Promise<string> {
  const [names, runtime] = name === "berth-control-plane" ? [control_plane.imported, "deno"] : [imported, "bun"];
  const version = runtimes[runtime];
  if (version === undefined) throw new Error(`the version of ${runtime} is not given`);
  return copyrightText({ root, packages: closureOf(lock, names), runtime: { name: runtime, version } });
}

/** Checksums of all that is there, as `sha256sum -c` reads them, and their signature. */
export async function writeSums(folder: string, key: ReleaseKey): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name !== SUMS && name !== SIGNATURE).sort();
  const lines = await Promise.all(names.map(async (name) => {
    const digest = createHash("sha256").update(await readFile(join(folder, name))).digest("hex");
    return `${digest}  ${name}\n`;
  }));
  const sums = Buffer.from(lines.join(""));
  await writeFile(join(folder, SUMS), sums);
  await writeFile(join(folder, SIGNATURE), await signDetached(key, sums));
}

const KEYRING_LINE = "@KEYRING@";
const BASE64_COLUMNS = 76;

/** install.sh with the release's public key in it, so that one file is all that must be trusted. */
function installer(template: string, public_key: Uint8Array): string {
  const lines = Buffer.from(public_key).toString("base64").match(new RegExp(`.{1,${BASE64_COLUMNS}}`, "g"))!;
  if (!template.includes(KEYRING_LINE)) throw new Error(`install.sh has no line ${KEYRING_LINE}`);
  return template.replace(KEYRING_LINE, lines.join("\n"));
}
