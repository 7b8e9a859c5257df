// Rocky Linux: a directory listing has the major versions. Each major version has a folder of images for each
// architecture, and each image has its own CHECKSUM file. Ended point releases move to a vault with the same layout.
import { osinfoArch } from "../arch.ts";
import { unreadable } from "../fault.ts";
import { compareNatural, newest, newestFirst } from "../natural-order.ts";
import type {
  ArchiveCandidate,
  ArtifactDraft,
  BuildDraft,
  Candidate,
  ChecksumDocument,
  DetachedSignature,
  Resolved,
  SigningKey,
  Vendor,
  Visit,
} from "../vendor.ts";
import { type Found, groupByBuild } from "../build/group-builds.ts";

const ROOT = "https://download.rockylinux.org/pub/rocky/";
const VAULT = "https://dl.rockylinux.org/vault/rocky/";
const ARCHES = ["x86_64", "aarch64", "ppc64le", "s390x", "riscv64"] as const;
const VARIANTS = ["base", "lvm"] as const;
/** Names of dated images. Excludes the copies "Base.latest" and the images for EC2 and containers. */
const NAME = /^Rocky-(\d+)-GenericCloud-(Base|LVM)-((\1\.\d+)-\d{8}\.\d+)\.([a-z0-9_]+)\.qcow2$/;

const KEYS: Readonly<Record<string, SigningKey>> = {
  // Rocky Enterprise Software Foundation - Release key 2022 <releng@rockylinux.org>
  9: { key_url: `${ROOT}RPM-GPG-KEY-Rocky-9`, fingerprints: ["21CB256AE16FC54C6E652949702D426D350D275D"] },
  // Release Engineering (Rocky Linux 10) <releng@rockylinux.org>
  10: { key_url: `${ROOT}RPM-GPG-KEY-Rocky-10`, fingerprints: ["FC226859C0860BF0DDB95B085B106C736FEDFC85"] },
};
/** The last major version with unsigned checksums. */
const UNSIGNED_MAJOR = "8";

export const rocky: Vendor = {
  id: "rocky",
  name: "Rocky Linux",
  homepage: "https://rockylinux.org/",
  os_family: "linux",
  hosts: ["download.rockylinux.org", "dl.rockylinux.org"],
  end_of_life_product: "rocky-linux",
  list,
};

type Image = Found & { point_release: string; url: string; filename: string };

async function list(visit: Visit): Promise<Candidate[]> {
  const majors = (await visit.listing(ROOT)).flatMap((name) => /^(\d+)\/$/.exec(name)?.[1] ?? []);
  if (majors.length === 0) throw unreadable(ROOT, "it lists no major release");
  return newestFirst(majors, (major) => major).map((major) => ({
    token: major,
    version: major,
    title: `Rocky Linux ${major}`,
    supported: true,
    eol_date: null,
    lts: false,
    dev: null,
    channel: false,
    resolve: () => resolve(visit, major),
  }));
}

async function resolve(visit: Visit, major: string): Promise<Resolved> {
  const folder = `${ROOT}${major}/images/`;
  const found = await imagesIn(visit, folder, major);
  const lead = newest(found.filter(isDefault), ({ build }) => build);
  if (lead === null) throw unreadable(`${folder}x86_64/`, "no dated GenericCloud-Base image");
  // The folder may still have images of an ended point release, which are not current.
  const current = found.filter(({ point_release }) => point_release === lead.point_release);
  const builds = groupByBuild(visit, current, lead.build).map((images) =>
    draftOf(
      images,
      (image) => ({ series: `rocky ${major} ${image.variant} ${image.arch}`, ...documentOf(image, major) }),
      visit,
    )
  );
  return { builds: await Promise.all(builds), archive: (vault) => archiveOf(vault, major, lead.point_release) };
}

async function imagesIn(visit: Visit, folder: string, major: string): Promise<Image[]> {
  const listings = await Promise.all(ARCHES.map(async (arch) => {
    const url = `${folder}${arch}/`;
    const names = arch === "x86_64"
      ? await visit.listing(url)
      : await visit.optional(`Rocky Linux ${major} ${arch}`, () => visit.listing(url));
    return (names ?? []).flatMap((name) => imageOf(url, name) ?? []);
  }));
  const found = listings.flat();
  return VARIANTS.flatMap((variant) => found.filter((image) => image.variant === variant));
}

function imageOf(folder: string, filename: string): Image | null {
  const [, , variant, build, point_release, vendor_arch] = NAME.exec(filename) ?? [];
  const arch = osinfoArch(vendor_arch ?? "");
  if (arch === null) return null;
  return {
    build: build!,
    point_release: point_release!,
    variant: variant!.toLowerCase(),
    arch,
    url: `${folder}${filename}`,
    filename,
  };
}

function isDefault({ variant, arch }: Found): boolean {
  return variant === VARIANTS[0] && arch === "x86_64";
}

/**
 * Lists the major version's point releases in the vault, if they are older than `current`. Each point release resolves
 * to its final build.
 */
async function archiveOf(visit: Visit, major: string, current: string): Promise<ArchiveCandidate[]> {
  const names = await visit.listing(VAULT);
  const points = names.flatMap((name) => /^(\d+\.\d+)\/$/.exec(name)?.[1] ?? [])
    .filter((point) => point.startsWith(`${major}.`) && compareNatural(point, current) < 0);
  return newestFirst(points, (point) => point).map((point_release) => ({
    point_release,
    resolve: async () => {
      const found = await imagesIn(visit, `${VAULT}${point_release}/images/`, major);
      const final = newest(found.filter(isDefault), ({ build }) => build);
      if (final === null) return null;
      const images = found.filter(({ build }) => build === final.build);
      return draftOf(images, (image) => vaultDocument(visit, image, major), visit);
    },
  }));
}

function documentOf(image: Image, major: string): ChecksumDocument {
  const url = `${image.url}.CHECKSUM`;
  return { url, format: "bsd", algorithm: "sha256", signature: signatureOf(url, major) };
}

function signatureOf(document: string, major: string): DetachedSignature | null {
  if (major === UNSIGNED_MAJOR) return null;
  return { kind: "pgp_detached", url: `${document}.asc`, key: KEYS[major] ?? null };
}

/**
 * Returns the checksum document of an image in the vault. The document may be unsigned, because signing began within a
 * major version.
 */
async function vaultDocument(visit: Visit, image: Image, major: string): Promise<ChecksumDocument> {
  const document = documentOf(image, major);
  const signed = document.signature !== null && await visit.exists(`${document.url}.asc`);
  return signed ? document : { ...document, signature: null };
}

type DocumentOf = (image: Image) => ChecksumDocument | Promise<ChecksumDocument>;

async function draftOf(images: readonly Image[], documentFor: DocumentOf, visit: Visit): Promise<BuildDraft> {
  const { build, point_release } = images[0]!;
  const artifacts = images.map(async (image): Promise<ArtifactDraft> => {
    const { url, filename, variant, arch } = image;
    const document = await documentFor(image);
    const sizes = await visit.optional(`size of ${filename}`, () => visit.sizes(document));
    return {
      url,
      variant,
      default_variant: variant === VARIANTS[0],
      arch,
      format: "qcow2",
      compression: "none",
      datasources: ["nocloud"],
      ssh_key_injection: true,
      size: sizes?.get(filename) ?? null,
      checksum: { document, filename },
    };
  });
  return { build, point_release, artifacts: await Promise.all(artifacts) };
}
