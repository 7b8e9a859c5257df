// FreeBSD: a release of the index is a major version. Each of its point releases has a folder of images with one list
// of hashes for each architecture. The supported point releases are the current builds. Ended point releases are in a
// vault with the same layout.
import { osinfoArch } from "../arch.ts";
import { isFault, unreadable, VendorFault } from "../fault.ts";
import { compareNatural, newestFirst } from "../natural-order.ts";
import type {
  ArchiveCandidate,
  ArtifactDraft,
  BuildDraft,
  Candidate,
  ChecksumDocument,
  Resolved,
  Vendor,
  Visit,
} from "../vendor.ts";

const ROOT = "https://download.freebsd.org/releases/VM-IMAGES/";
/** The vault: the files of http://ftp-archive.freebsd.org, but with https. It also has supported point releases. */
const VAULT = "https://archive.freebsd.org/old-releases/VM-IMAGES/";
/** Architectures as in the names of folders. */
const ARCHES = ["amd64", "aarch64"] as const;
const FILE_SYSTEMS = ["zfs", "ufs"] as const;
const FORMATS = ["raw", "qcow2"] as const;
/** Names of images. Up to 14.2 a dot precedes the file system. "BASIC-CI" is another image, without cloud-init. */
const NAME = /^FreeBSD-(\d+\.\d+)-RELEASE-[a-z0-9-]+-BASIC-CLOUDINIT[-.](zfs|ufs)\.(raw|qcow2)\.xz$/;

export const freebsd: Vendor = {
  id: "freebsd",
  name: "FreeBSD",
  homepage: "https://www.freebsd.org/",
  os_family: "bsd",
  hosts: ["download.freebsd.org", "archive.freebsd.org"],
  end_of_life_product: "freebsd",
  list,
};

async function list(visit: Visit): Promise<Candidate[]> {
  const points = pointsIn(await visit.listing(ROOT));
  if (points.length === 0) throw unreadable(ROOT, "it lists no point release");
  const ended = new Set(
    await Promise.all(points.map(async (point) => await visit.ended(point) === true ? point : null)),
  );
  const majors = [...new Set(points.map(majorOf))];
  return majors.map((major) => {
    const current = points.filter((point) => majorOf(point) === major && !ended.has(point));
    return {
      token: major,
      version: major,
      title: `FreeBSD ${major}`,
      supported: current.length > 0,
      eol_date: null,
      lts: false,
      dev: null,
      channel: false,
      resolve: () => resolve(visit, major, current),
    };
  });
}

/** Lists the point releases among folder names, newest first, without betas and release candidates. */
function pointsIn(names: readonly string[]): string[] {
  const points = names.flatMap((name) => /^(\d+\.\d+)-RELEASE\/$/.exec(name)?.[1] ?? []);
  return newestFirst(points, (point) => point);
}

function majorOf(point: string): string {
  return point.split(".")[0]!;
}

async function resolve(visit: Visit, major: string, points: readonly string[]): Promise<Resolved> {
  const builds = (await Promise.all(points.map((point) => currentBuild(visit, point)))).flatMap((build) => build ?? []);
  if (builds.length === 0) throw new VendorFault("gone", `${ROOT}: no image of FreeBSD ${major}`);
  return { builds, archive: (vault) => archiveOf(vault, major, points) };
}

/** Returns the current build of a point release, or null if its folder has no images yet. */
async function currentBuild(visit: Visit, point: string): Promise<BuildDraft | null> {
  try {
    const found = await imagesOf(visit, ROOT, point);
    if (!hasDefault(found)) throw unreadable(`${ROOT}${point}-RELEASE/`, "no cloud-init image on ZFS");
    return draftOf(point, found);
  } catch (error) {
    if (!isFault(error, "gone", "not_recorded")) throw error;
    visit.warn(`FreeBSD ${point}: left out: no list of images yet`);
    return null;
  }
}

async function archiveOf(visit: Visit, major: string, current: readonly string[]): Promise<ArchiveCandidate[]> {
  const names = await visit.listing(VAULT);
  return pointsIn(names)
    .filter((point) => majorOf(point) === major && !current.includes(point) && compareNatural(point, current[0]!) < 0)
    .map((point_release) => ({
      point_release,
      resolve: async () => {
        const found = await imagesOf(visit, VAULT, point_release);
        // The first point releases of FreeBSD 14 have no images with cloud-init.
        return hasDefault(found) ? draftOf(point_release, found) : null;
      },
    }));
}

/** Lists images in the order of publication: the default image first. */
async function imagesOf(visit: Visit, root: string, point: string): Promise<ArtifactDraft[]> {
  const lists = await Promise.all(ARCHES.map(async (folder) => {
    const document: ChecksumDocument = {
      url: `${root}${point}-RELEASE/${folder}/Latest/CHECKSUM.SHA256`,
      format: "bsd",
      algorithm: "sha256",
      signature: null,
    };
    const listed = folder === ARCHES[0]
      ? await visit.checksums(document)
      : await visit.optional(`FreeBSD ${point} ${folder}`, () => visit.checksums(document));
    return [...(listed?.keys() ?? [])].flatMap((filename) => imageOf({ folder, point, document, filename }) ?? []);
  }));
  const found = lists.flat();
  return FILE_SYSTEMS.flatMap((system) =>
    FORMATS.flatMap((format) => found.filter((image) => image.variant === variantOf(system) && image.format === format))
  );
}

type Listed = { folder: string; point: string; document: ChecksumDocument; filename: string };

function imageOf({ folder, point, document, filename }: Listed): ArtifactDraft | null {
  const [, of_point, system, format] = NAME.exec(filename) ?? [];
  if (of_point !== point || system === undefined) return null;
  return {
    url: document.url.replace("CHECKSUM.SHA256", filename),
    variant: variantOf(system),
    default_variant: system === FILE_SYSTEMS[0],
    arch: osinfoArch(folder)!,
    format: format === "qcow2" ? "qcow2" : "raw",
    compression: "xz",
    datasources: ["nocloud"],
    ssh_key_injection: true,
    checksum: { document, filename },
  };
}

function variantOf(file_system: string): string {
  return `basic-cloudinit-${file_system}`;
}

function hasDefault([first]: readonly ArtifactDraft[]): boolean {
  return first?.default_variant === true && first.arch === "x86_64" && first.format === FORMATS[0];
}

function draftOf(point: string, artifacts: readonly ArtifactDraft[]): BuildDraft {
  return { build: point, point_release: point, artifacts };
}
