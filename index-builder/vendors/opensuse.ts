// openSUSE Leap: one document lists every version with its state. Each version has a folder with images for every
// architecture, each with a signed checksum file. Tumbleweed has no cloud-init image of this kind.
import { z } from "zod";
import { osinfoArch } from "../arch.ts";
import { unreadable, VendorFault } from "../fault.ts";
import { newest } from "../natural-order.ts";
import type { ArtifactDraft, BuildDraft, Candidate, SigningKey, Vendor, Visit } from "../vendor.ts";
import { type Found, groupByBuild } from "../build/group-builds.ts";

const VERSIONS = "https://get.opensuse.org/api/v0/distributions.json";
const LEAP = "https://download.opensuse.org/distribution/leap/";
/**
 * Names of images. Only names of 15.x have the prefix and the version of the image builder kiwi ("15.6.0"). In names
 * for s390x, the architecture appears twice. A name without a build number is a copy of the newest image, and is left
 * out.
 */
const NAME =
  /^(?:openSUSE-)?Leap-([0-9.]+)-Minimal-VM\.([a-z0-9_]+)-(?:(\d+\.\d+\.\d+)-)?(?:s390x-)?Cloud-(Build[0-9.]+)\.qcow2$/;
/** A smaller file cannot be an image, so a smaller size is ignored. */
const SIZE_BYTES_MIN = 1024 * 1024;

const KEY: SigningKey = {
  // One key signs every product. When openSUSE extends the key's expiry date, Tumbleweed's copy of the key gets the new
  // date first.
  key_url: "https://download.opensuse.org/tumbleweed/repo/oss/repodata/repomd.xml.key",
  // openSUSE Project Signing Key <opensuse@opensuse.org>
  fingerprints: ["AD485664E901B867051AB15F35A2F86E29B700A4"],
};

export const opensuse: Vendor = {
  id: "opensuse",
  name: "openSUSE Leap",
  homepage: "https://www.opensuse.org/",
  os_family: "linux",
  hosts: ["get.opensuse.org", "download.opensuse.org"],
  end_of_life_product: "opensuse",
  list,
};

const Versions = z.object({
  Leap: z.array(z.object({ version: z.string(), state: z.string(), "upgrade-weight": z.number() })).min(1),
});
type Version = z.infer<typeof Versions>["Leap"][number];
const Folder = z.array(z.object({ name: z.string(), size: z.number().nullish() }));

type Image = Found & { url: string; filename: string; size: number | null };

async function list(visit: Visit): Promise<Candidate[]> {
  const { Leap } = await visit.json(VERSIONS, Versions);
  // Sorted by weight, because 42.x is older than 15.0.
  const newest_first = Leap.toSorted((a, b) => b["upgrade-weight"] - a["upgrade-weight"]);
  return newest_first.map((version) => candidateOf(visit, version));
}

function candidateOf(visit: Visit, { version, state }: Version): Candidate {
  const dev = state === "Stable" || state === "EOL" ? null : state;
  return {
    token: version,
    version,
    title: `openSUSE Leap ${version}${dev === null ? "" : ` (${dev})`}`,
    supported: state === "Stable",
    eol_date: null,
    lts: false,
    dev,
    channel: false,
    resolve: async () => ({ builds: await currentBuilds(visit, version, dev !== null) }),
  };
}

async function currentBuilds(visit: Visit, version: string, is_dev: boolean): Promise<BuildDraft[]> {
  const folder = `${LEAP}${version}/appliances/`;
  const entries = await visit.json(`${folder}?json=1`, Folder);
  const found = entries.flatMap(({ name, size }) => {
    const image = imageOf(name, version);
    return image === null ? [] : [{ ...image, url: `${folder}${name}`, filename: name, size: sizeOf(size) }];
  });
  const lead = newest(found.filter(({ arch }) => arch === "x86_64"), ({ build }) => build);
  if (lead === null) {
    const why = "no Minimal-VM Cloud image for x86_64";
    // A pre-release may not have images yet.
    throw is_dev ? new VendorFault("gone", `${folder}: ${why}`) : unreadable(folder, why);
  }
  return groupByBuild(visit, found, lead.build).map((images) => ({
    build: images[0]!.build,
    point_release: null,
    artifacts: [...images.filter(isDefault), ...images.filter((image) => !isDefault(image))]
      .map((image) => artifactOf(image, version)),
  }));
}

function isDefault({ arch }: Found): boolean {
  return arch === "x86_64";
}

function imageOf(name: string, version: string): Found | null {
  const [, of_version, vendor_arch, kiwi_version, build] = NAME.exec(name) ?? [];
  const arch = osinfoArch(vendor_arch ?? "");
  if (arch === null || of_version !== version) return null;
  return { build: `${kiwi_version ?? version}-${build}`, variant: "minimal-vm-cloud", arch };
}

function sizeOf(size: number | null | undefined): number | null {
  return typeof size === "number" && size >= SIZE_BYTES_MIN ? size : null;
}

function artifactOf({ variant, arch, url, filename, size }: Image, version: string): ArtifactDraft {
  const document = `${url}.sha256`;
  return {
    url,
    variant,
    default_variant: true,
    arch,
    format: "qcow2",
    compression: "none",
    datasources: ["nocloud"],
    ssh_key_injection: true,
    size,
    checksum: {
      document: {
        url: document,
        format: "gnu",
        algorithm: "sha256",
        signature: { kind: "pgp_detached", url: `${document}.asc`, key: KEY },
        series: `opensuse ${version} ${arch}`,
      },
      filename,
    },
  };
}
