// Fedora: one list has every image with its hash, Bodhi (Fedora's update system) has the state of each release, and
// each folder of images has a clear-signed CHECKSUM.
import { z } from "zod";
import { osinfoArch } from "../arch.ts";
import { unreadable } from "../fault.ts";
import { newest, newestFirst } from "../natural-order.ts";
import type { ArtifactDraft, BuildDraft, Candidate, ChecksumDocument, SigningKey, Vendor, Visit } from "../vendor.ts";
import { type Found, groupByBuild } from "../build/group-builds.ts";

const LIST = "https://fedoraproject.org/releases.json";
const BODHI = "https://bodhi.fedoraproject.org/releases/";
const VARIANTS = ["cloud-base-generic", "cloud-base-uefi-uki"] as const;
/** Smaller sizes are ignored, because the list has the size "1" if the size is unknown. */
const SIZE_BYTES_MIN = 1024 * 1024;

const FOLDER = /^https:\/\/download\.fedoraproject\.org\/pub\/[A-Za-z0-9._/-]+\//;
/**
 * Names of images. From release 41 on, the architecture is at the end of the name. In names of earlier releases, it
 * precedes the version.
 */
const NAME = /^Fedora-Cloud-Base-(Generic|UEFI-UKI)-([0-9A-Za-z_]+-[0-9.]+)\.[a-z0-9_]+\.qcow2$/;
const OLD_NAME = /^Fedora-Cloud-Base-(Generic|UEFI-UKI)\.[a-z0-9_]+-([0-9A-Za-z_]+-[0-9.]+)\.qcow2$/;

/** The key of each release. One file contains all keys: https://fedoraproject.org/security/ */
const FINGERPRINTS: Readonly<Record<string, string>> = {
  43: "C6E7F081CF80E13146676E88829B606631645531",
  44: "36F612DCF27F7D1A48A835E4DBFCF71C6D9F90A6",
  45: "4F50A6114CD5C6976A7F1179655A4B02F577861E",
  46: "D924B10D3E810DABDD8B56B596E7E91491211FCE",
};

export const fedora: Vendor = {
  id: "fedora",
  name: "Fedora",
  homepage: "https://fedoraproject.org/",
  os_family: "linux",
  hosts: ["fedoraproject.org", "bodhi.fedoraproject.org", "download.fedoraproject.org"],
  end_of_life_product: "fedora",
  list,
};

const Entry = z.object({
  version: z.string(),
  arch: z.string(),
  link: z.string(),
  variant: z.string(),
  sha256: z.string().nullish(),
  size: z.string().nullish(),
});
type Entry = z.infer<typeof Entry>;
const Lifecycle = z.object({ state: z.string(), eol: z.iso.date().nullish() });

type Release = { version: string; number: string; label: string | null };
type Image = Found & { entry: Entry; folder: string; filename: string };

async function list(visit: Visit): Promise<Candidate[]> {
  const entries = (await visit.json(LIST, z.array(Entry))).filter(isCloudDisk);
  const releases = [...new Set(entries.map(({ version }) => version))].flatMap((version) => releaseOf(version) ?? []);
  if (releases.length === 0) throw unreadable(LIST, "it lists no release with a cloud image");
  return await Promise.all(
    newestFirst(releases, ({ version }) => version).map((release) =>
      candidateOf(visit, release, entries.filter(({ version }) => version === release.version))
    ),
  );
}

function isCloudDisk({ variant, arch, link }: Entry): boolean {
  return variant === "Cloud" && link.endsWith(".qcow2") && osinfoArch(arch) !== null;
}

/** Parses "44", or "45 Beta" for a pre-release. */
function releaseOf(version: string): Release | null {
  const [, number, label] = /^(\d+)(?: ([A-Za-z0-9._ -]+))?$/.exec(version) ?? [];
  return number === undefined ? null : { version, number, label: label ?? null };
}

async function candidateOf(visit: Visit, release: Release, entries: readonly Entry[]): Promise<Candidate> {
  const { version, number, label } = release;
  // The list also contains ended releases, so the state of each release comes from Bodhi.
  const lifecycle = label === null ? await visit.json(`${BODHI}F${number}`, Lifecycle) : null;
  return {
    token: version.replaceAll(" ", "_"),
    version,
    title: `Fedora ${version}`,
    supported: lifecycle !== null && lifecycle.state !== "archived",
    eol_date: lifecycle?.eol ?? null,
    lts: false,
    dev: label,
    channel: false,
    resolve: () => Promise.resolve({ builds: currentBuilds(visit, release, entries) }),
  };
}

function currentBuilds(visit: Visit, release: Release, entries: readonly Entry[]): BuildDraft[] {
  const images = entries.flatMap((entry) => imageOf(entry) ?? []);
  const ordered = VARIANTS.flatMap((variant) => images.filter((image) => image.variant === variant));
  const lead = newest(ordered.filter(isDefault), ({ build }) => build);
  if (lead === null) throw unreadable(LIST, `no Generic image of ${release.version} for x86_64`);
  return groupByBuild(visit, ordered, lead.build).map((group) => ({
    build: group[0]!.build,
    point_release: null,
    artifacts: [...group.filter(isDefault), ...group.filter((image) => !isDefault(image))]
      .map((image) => artifactOf(release, image)),
  }));
}

function isDefault({ variant, arch }: Found): boolean {
  return variant === VARIANTS[0] && arch === "x86_64";
}

function imageOf(entry: Entry): Image | null {
  const folder = FOLDER.exec(entry.link)?.[0];
  if (folder === undefined) return null;
  const filename = entry.link.slice(folder.length);
  const [, name, build] = NAME.exec(filename) ?? OLD_NAME.exec(filename) ?? [];
  if (name === undefined || build === undefined) return null;
  return { build, variant: `cloud-base-${name.toLowerCase()}`, arch: osinfoArch(entry.arch)!, entry, folder, filename };
}

function artifactOf(release: Release, image: Image): ArtifactDraft {
  const { variant, arch, folder, filename, entry } = image;
  const size = Number(entry.size ?? 0);
  return {
    url: `${folder}${filename}`,
    variant,
    default_variant: variant === VARIANTS[0],
    arch,
    format: "qcow2",
    compression: "none",
    firmware: variant === "cloud-base-uefi-uki" ? ["uefi"] : [],
    datasources: ["nocloud"],
    ssh_key_injection: true,
    size: size >= SIZE_BYTES_MIN ? size : null,
    checksum: { document: documentOf(release, image), filename, expect: entry.sha256 ?? null },
  };
}

function documentOf({ version, number, label }: Release, { folder, build, entry }: Image): ChecksumDocument {
  const compose = label === null ? "Fedora-Cloud" : "Fedora-Cloud-images";
  const fingerprint = FINGERPRINTS[number];
  const key: SigningKey | null = fingerprint === undefined
    ? null
    : { key_url: "https://fedoraproject.org/fedora.gpg", fingerprints: [fingerprint] };
  return {
    url: `${folder}${compose}-${build}-${entry.arch}-CHECKSUM`,
    format: "bsd",
    algorithm: "sha256",
    signature: { kind: "pgp_clearsigned", key },
    series: `fedora ${version} ${entry.arch}`,
  };
}
