// Alpine Linux: one document lists every branch with its end of support. Each branch has a folder of cloud images, with
// a hash and a signature for every image. Images appear after their point release. Some images are rebuilt without a
// new point release, so a build id contains the number of the rebuild ("3.24.2-r0").
import { z } from "zod";
import { osinfoArch } from "../arch.ts";
import { unreadable, VendorFault } from "../fault.ts";
import { newest, newestFirst } from "../natural-order.ts";
import type { ArtifactDraft, BuildDraft, Candidate, SigningKey, Vendor, Visit } from "../vendor.ts";
import { type Found, groupByBuild } from "../build/group-builds.ts";

const BRANCHES = "https://alpinelinux.org/releases.json";
const MIRROR = "https://dl-cdn.alpinelinux.org/alpine/";
const VARIANTS = ["cloudinit", "cloudinit-bios"] as const;
/** Names of images from 3.24 on. One image works with every firmware and datasource. */
const NAME = /^alpine-(\d+\.\d+\.\d+)-([a-z0-9_]+)-()cloudinit-(r\d+)\.qcow2$/;
/** Names of images up to 3.23. Names of images for other clouds start with "aws_", "azure_", "gcp_" or "generic_". */
const OLD_NAME = /^nocloud_alpine-(\d+\.\d+\.\d+)-([a-z0-9_]+)-(uefi|bios)-cloudinit-(r\d+)\.qcow2$/;

const KEY: SigningKey = {
  key_url: "https://alpinelinux.org/keys/tomalok.asc",
  // The maintainer of Alpine's cloud images
  fingerprints: ["F26ADFADBAE702EF7AF637459DA7EF23BFFCDF22"],
};

export const alpine: Vendor = {
  id: "alpine",
  name: "Alpine Linux",
  homepage: "https://alpinelinux.org/",
  os_family: "linux",
  hosts: ["alpinelinux.org", "dl-cdn.alpinelinux.org"],
  end_of_life_product: "alpine-linux",
  list,
};

const Branches = z.object({
  release_branches: z.array(z.object({
    rel_branch: z.string(),
    eol_date: z.iso.date().nullish(),
    releases: z.array(z.object({ version: z.string() })).nullish(),
  })),
});

type Image = Found & { point_release: string; firmware: "uefi" | "bios" | null; filename: string };

async function list(visit: Visit): Promise<Candidate[]> {
  const { release_branches } = await visit.json(BRANCHES, Branches);
  const candidates = release_branches.flatMap(({ rel_branch, eol_date, releases }) => {
    const branch = /^v(\d+\.\d+)$/.exec(rel_branch)?.[1];
    const point_release = newest(releases ?? [], ({ version }) => version)?.version;
    // "edge" has no releases.
    if (branch === undefined || point_release === undefined) return [];
    const supported = typeof eol_date !== "string" || eol_date > visit.today;
    return [candidateOf(visit, { branch, version: point_release, eol_date: eol_date ?? null, supported })];
  });
  if (candidates.length === 0) throw unreadable(BRANCHES, "it lists no branch with a release");
  return newestFirst(candidates, ({ token }) => token);
}

type Branch = { branch: string; version: string; eol_date: string | null; supported: boolean };

function candidateOf(visit: Visit, { branch, ...known }: Branch): Candidate {
  return {
    ...known,
    token: branch,
    title: `Alpine Linux v${branch}`,
    lts: false,
    dev: null,
    channel: false,
    resolve: async () => ({ builds: await currentBuilds(visit, branch) }),
  };
}

async function currentBuilds(visit: Visit, branch: string): Promise<BuildDraft[]> {
  const folder = `${MIRROR}v${branch}/releases/cloud/`;
  const names = await visit.listing(folder);
  const found = names.flatMap((name) => imageOf(name) ?? []);
  const lead = newest(found.filter(isDefault), ({ build }) => build);
  if (lead === null) {
    // The folder of a new branch may be empty. Images with unexpected names mean that the format has changed.
    const is_empty = !names.some((name) => name.endsWith(".qcow2"));
    throw is_empty ? new VendorFault("gone", `${folder}: no image yet`) : unreadable(folder, "no cloud-init image");
  }
  // The folder also contains old rebuilds and old point releases.
  const current = found.filter(({ point_release }) => point_release === lead.point_release);
  return groupByBuild(visit, current, lead.build).map((images) => ({
    build: images[0]!.build,
    point_release: images[0]!.point_release,
    artifacts: inOrder(images).map((image) => artifactOf(folder, image)),
  }));
}

function isDefault({ variant, arch }: Found): boolean {
  return variant === VARIANTS[0] && arch === "x86_64";
}

/** Sorts images: the default image first, then the others by variant. */
function inOrder(images: readonly Image[]): Image[] {
  const others = images.filter((image) => !isDefault(image));
  return [...images.filter(isDefault), ...VARIANTS.flatMap((name) => others.filter(({ variant }) => variant === name))];
}

function imageOf(filename: string): Image | null {
  const [, point_release, vendor_arch, firmware, rebuild] = NAME.exec(filename) ?? OLD_NAME.exec(filename) ?? [];
  const arch = osinfoArch(vendor_arch ?? "");
  if (arch === null || point_release === undefined) return null;
  return {
    build: `${point_release}-${rebuild}`,
    point_release,
    variant: firmware === "bios" ? VARIANTS[1] : VARIANTS[0],
    arch,
    firmware: firmware === "bios" || firmware === "uefi" ? firmware : null,
    filename,
  };
}

function artifactOf(folder: string, { variant, arch, firmware, filename }: Image): ArtifactDraft {
  const url = `${folder}${filename}`;
  return {
    url,
    variant,
    default_variant: variant === VARIANTS[0],
    arch,
    format: "qcow2",
    compression: "none",
    firmware: firmware === null ? [] : [firmware],
    datasources: ["nocloud"],
    ssh_key_injection: true,
    checksum: {
      document: { url: `${url}.sha512`, format: "bare", algorithm: "sha512", signature: null },
      filename: null,
    },
    signature: { kind: "pgp_detached", url: `${url}.asc`, key: KEY },
  };
}
