// Writes a Debian package (deb(5), format 2.0) from its description, without Debian's tools.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { arArchive } from "./ar.ts";
import { gzipped } from "../internal/gzip.ts";
import { type Entry, tarArchive } from "../internal/tar.ts";

export const ARCHITECTURES = ["amd64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** Names of maintainer scripts; see deb-postinst(5). */
const SCRIPTS = ["postinst", "prerm", "postrm"] as const;

export type Package = {
  readonly name: string;
  /** The first line of the description; `description` has the further lines. */
  readonly summary: string;
  readonly description: readonly string[];
  readonly depends: readonly string[];
  readonly files: readonly Entry[];
  /** Texts of the maintainer scripts. */
  readonly scripts: Partial<Readonly<Record<(typeof SCRIPTS)[number], string>>>;
};

export type Build = {
  readonly version: string;
  readonly architecture: Architecture;
  /** Time of every file in the package: seconds since 1970. */
  readonly time_s: number;
};

const MAINTAINER = "The Berth authors <maintainers@berth.example>";
const ETC = "etc/";

export function debFileName({ name }: Package, { version, architecture }: Build): string {
  return `${name}_${version}_${architecture}.deb`;
}

export async function debArchive(given: Package, build: Build): Promise<Uint8Array> {
  const control = tarArchive(controlFiles(given, build), build.time_s);
  const data = tarArchive(given.files, build.time_s);
  return arArchive([
    { name: "debian-binary", bytes: Buffer.from("2.0\n") },
    { name: "control.tar.gz", bytes: await gzipped(control) },
    { name: "data.tar.gz", bytes: await gzipped(data) },
  ], build.time_s);
}

function controlFiles(given: Package, build: Build): Entry[] {
  // At an upgrade, dpkg keeps the operator's changes to these files.
  const settings = given.files.filter(({ path }) => path.startsWith(ETC)).map(({ path }) => `/${path}\n`).sort();
  const sums = given.files.filter(({ path }) => !path.startsWith(ETC))
    .map(({ path, bytes }) => `${createHash("md5").update(bytes).digest("hex")}  ${path}\n`).sort();
  const texts = [
    ["control", controlText(given, build), 0o644],
    ["md5sums", sums.join(""), 0o644],
    ["conffiles", settings.join(""), 0o644],
    ...SCRIPTS.map((script) => [script, given.scripts[script] ?? "", 0o755] as const),
  ] as const;
  return texts.filter(([, text]) => text !== "").map(([path, text, mode]) => ({
    path,
    mode,
    bytes: Buffer.from(text),
  }));
}

function controlText(given: Package, { version, architecture }: Build): string {
  const size_bytes = given.files.reduce((total, { bytes }) => total + bytes.length, 0);
  return [
    `Package: ${given.name}`,
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${MAINTAINER}`,
    `Installed-Size: ${Math.ceil(size_bytes / 1024)}`,
    `Depends: ${given.depends.join(", ")}`,
    "Section: admin",
    "Priority: optional",
    `Description: ${given.summary}`,
    ...given.description.map((line) => ` ${line}`),
    "",
  ].join("\n");
}
