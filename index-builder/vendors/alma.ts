// AlmaLinux: a directory listing has the major versions. Each major version has, for each architecture, one signed
// CHECKSUM that lists every image. The current image is the dated image that has the same hash as the file "latest".
import { osinfoArch } from "../arch.ts";
import { unreadable } from "../fault.ts";
import { compareNatural, newest, newestFirst } from "../natural-order.ts";
import type {
  ArchiveCandidate,
  BuildDraft,
  Candidate,
  ChecksumDocument,
  Resolved,
  SigningKey,
  Vendor,
  Visit,
} from "../vendor.ts";
import { type Found, groupByBuild } from "../build/group-builds.ts";

const ROOT = "https://repo.almalinux.org/almalinux/";
const VAULT = "https://vault.almalinux.org/";
const ARCHES = ["x86_64", "aarch64", "ppc64le", "s390x", "x86_64_v2"] as const;
/** Variants as in file names, after "AlmaLinux-9-". Images for OpenNebula are left out: they lack cloud-init. */
const VARIANTS = ["GenericCloud", "GenericCloud-ext4", "GenericCloud-UEFI"] as const;

const KEYS: Readonly<Record<string, SigningKey>> = {
  // AlmaLinux OS 8 <packager@almalinux.org>, in use since the key of 2021 expired
  8: keyOf("8", "BC5EDDCADF502C077F1582882AE81E8ACED7258B"),
  // AlmaLinux OS 9 <packager@almalinux.org>
  9: keyOf("9", "BF18AC2876178908D6E71267D36CB86CB86B3716"),
  // AlmaLinux OS 10 <packager@almalinux.org>
  10: keyOf("10", "EE6DB7B98F5BF5EDD9DA0DE5DEE5C11CC2A1E572"),
};
/** The older point releases of this major version are signed with an expired key, which no verifier accepts. */
const REKEYED_MAJOR = "8";

export const alma: Vendor = {
  id: "alma",
  name: "AlmaLinux",
  homepage: "https://almalinux.org/",
  os_family: "linux",
  hosts: ["repo.almalinux.org", "vault.almalinux.org"],
  end_of_life_product: "almalinux",
  list,
};

type Image = Found & { point_release: string; filename: string; document: ChecksumDocument };
/** A dated image in a CHECKSUM. `is_current`: the file "latest" of its variant has the same hash. */
type Listed = Image & { is_current: boolean };

function keyOf(major: string, fingerprint: string): SigningKey {
  return { key_url: `${ROOT}RPM-GPG-KEY-AlmaLinux-${major}`, fingerprints: [fingerprint] };
}

async function list(visit: Visit): Promise<Candidate[]> {
  const majors = (await visit.listing(ROOT)).flatMap((name) => /^(\d+)\/$/.exec(name)?.[1] ?? []);
  if (majors.length === 0) throw unreadable(ROOT, "it lists no major release");
  return newestFirst(majors, (major) => major).map((major) => ({
    token: major,
    version: major,
    title: `AlmaLinux ${major}`,
    supported: true,
    eol_date: null,
    lts: false,
    dev: null,
    channel: false,
    resolve: () => resolve(visit, major),
  }));
}

async function resolve(visit: Visit, major: string): Promise<Resolved> {
  const folder = `${ROOT}${major}/cloud/`;
  const found = (await imagesIn(visit, { folder, major, key: KEYS[major] ?? null })).filter((image) =>
    image.is_current
  );
  const lead = newest(found.filter(isDefault), ({ build }) => build);
  // The file "latest" itself changes, so it cannot be a build.
  if (lead === null) {
    throw unreadable(`${folder}x86_64/images/CHECKSUM`, "no dated image has the hash of the file latest");
  }
  const current = found.filter(({ point_release }) => point_release === lead.point_release);
  return {
    builds: groupByBuild(visit, current, lead.build).map(draftOf),
    archive: (vault) => archiveOf(vault, major, lead.point_release),
  };
}

type Folder = { folder: string; major: string; key: SigningKey | null };

async function imagesIn(visit: Visit, at: Folder): Promise<Listed[]> {
  const lists = await Promise.all(ARCHES.map((arch) =>
    // Every major version has x86_64, so a fault of its list must fail the release.
    arch === "x86_64"
      ? imagesOf(visit, at, arch)
      : visit.optional(`AlmaLinux ${at.major} ${arch}`, () => imagesOf(visit, at, arch))
  ));
  const found = lists.flatMap((images) => images ?? []);
  return VARIANTS.flatMap((name) => found.filter(({ variant }) => variant === name.toLowerCase()));
}

async function imagesOf(visit: Visit, { folder, major, key }: Folder, vendor_arch: string): Promise<Listed[]> {
  const url = `${folder}${vendor_arch}/images/CHECKSUM`;
  const document: ChecksumDocument = {
    url,
    format: "gnu",
    algorithm: "sha256",
    signature: { kind: "pgp_detached", url: `${url}.asc`, key },
  };
  const listed = await visit.checksums(document);
  return VARIANTS.flatMap((name) => {
    const prefix = `AlmaLinux-${major}-${name}`;
    const latest = listed.get(`${prefix}-latest.${vendor_arch}.qcow2`);
    const dated = new RegExp(`^${prefix}-((${major}\\.\\d+)-\\d{8}(?:\\.\\d+)?)\\.${vendor_arch}\\.qcow2$`);
    return [...listed].flatMap(([filename, hash]) => {
      const [, build, point_release] = dated.exec(filename) ?? [];
      if (build === undefined || point_release === undefined) return [];
      const arch = osinfoArch(vendor_arch)!;
      return [{
        build,
        point_release,
        variant: name.toLowerCase(),
        arch,
        filename,
        document,
        is_current: hash === latest,
      }];
    });
  });
}

function isDefault({ variant, arch }: Found): boolean {
  return variant === VARIANTS[0].toLowerCase() && arch === "x86_64";
}

/**
 * Lists the major version's point releases in the vault, if they are older than `current`. Each point release resolves
 * to its final build.
 */
async function archiveOf(visit: Visit, major: string, current: string): Promise<ArchiveCandidate[]> {
  const names = await visit.listing(VAULT);
  const points = names.flatMap((name) => /^(\d+\.\d+)\/$/.exec(name)?.[1] ?? [])
    .filter((point) => point.startsWith(`${major}.`) && compareNatural(point, current) < 0);
  const key = major === REKEYED_MAJOR ? null : KEYS[major] ?? null;
  return newestFirst(points, (point) => point).map((point_release) => ({
    point_release,
    resolve: async () => {
      const found = await imagesIn(visit, { folder: `${VAULT}${point_release}/cloud/`, major, key });
      const final = newest(found.filter(isDefault), ({ build }) => build);
      return final === null ? null : draftOf(found.filter(({ build }) => build === final.build));
    },
  }));
}

function draftOf(images: readonly Image[]): BuildDraft {
  const { build, point_release } = images[0]!;
  return {
    build,
    point_release,
    artifacts: images.map(({ variant, arch, filename, document }) => ({
      url: document.url.replace(/CHECKSUM$/, filename),
      variant,
      default_variant: variant === VARIANTS[0].toLowerCase(),
      arch,
      format: "qcow2",
      compression: "none",
      firmware: variant.endsWith("-uefi") ? ["uefi"] : [],
      datasources: ["nocloud"],
      ssh_key_injection: true,
      checksum: { document, filename },
    })),
  };
}
