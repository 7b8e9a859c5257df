// OpenBSD: a third party, not the OpenBSD project, builds images and publishes them as releases on GitHub. The tag of a
// release has the version of OpenBSD and the time of the build.
import { z } from "zod";
import { unreadable } from "../fault.ts";
import { latestChannel } from "../latest-channel.ts";
import type { ArtifactDraft, Resolved, Vendor, Visit } from "../vendor.ts";

const PROJECT = "hcartiaux/openbsd-cloud-image";
const LATEST = `https://api.github.com/repos/${PROJECT}/releases/latest`;
const DOWNLOADS = `https://github.com/${PROJECT}/releases/download/`;
const VARIANTS = ["min", "generic"] as const;
/** A smaller file cannot be an image, so a smaller size is ignored. */
const IMAGE_BYTES_MIN = 1024 * 1024;

export const openbsd: Vendor = {
  id: "openbsd",
  name: "OpenBSD",
  homepage: "https://bsd-cloud-image.org/",
  os_family: "bsd",
  hosts: ["api.github.com", "github.com"],
  end_of_life_product: "openbsd",
  list: (visit) => Promise.resolve([latestChannel(() => resolve(visit))]),
};

const Asset = z.object({
  name: z.string(),
  size: z.int().nonnegative(),
  browser_download_url: z.url(),
  /** "sha256:" and the hash. Files that are older than GitHub's digests have no digest. */
  digest: z.string().nullish(),
});
type Asset = z.infer<typeof Asset>;
const Release = z.object({
  tag_name: z.string(),
  draft: z.literal(false),
  prerelease: z.literal(false),
  published_at: z.iso.datetime(),
  assets: z.array(Asset),
});

async function resolve(visit: Visit): Promise<Resolved> {
  const { tag_name, published_at, assets } = await visit.json(LATEST, Release, {
    accept: "application/vnd.github+json",
  });
  const version = /^v(\d+\.\d+)_\d{4}(?:-\d{2}){4}$/.exec(tag_name)?.[1];
  if (version === undefined) throw unreadable(LATEST, `tag "${tag_name}" does not have a version and a time`);
  const artifacts = VARIANTS.flatMap((variant) => {
    const asset = assets.find(({ name }) => name === `openbsd-${variant}.qcow2`);
    return asset === undefined ? [] : [artifactOf(asset, variant, tag_name)];
  });
  if (artifacts[0]?.default_variant !== true) throw unreadable(LATEST, `no openbsd-${VARIANTS[0]}.qcow2`);
  return {
    release: { id: version, version, title: `OpenBSD ${version}` },
    builds: [{ build: tag_name, point_release: null, published_at, artifacts }],
  };
}

function artifactOf(
  { name, size, browser_download_url: url, digest }: Asset,
  variant: string,
  tag: string,
): ArtifactDraft {
  if (url !== `${DOWNLOADS}${tag}/${name}`) throw unreadable(LATEST, `${name} is not of this release: ${url}`);
  return {
    url,
    variant,
    default_variant: variant === VARIANTS[0],
    arch: "x86_64",
    format: "qcow2",
    compression: "none",
    datasources: ["nocloud"],
    ssh_key_injection: true,
    size: size >= IMAGE_BYTES_MIN ? size : null,
    checksum: {
      document: { url: `${url}.sha256`, format: "gnu", algorithm: "sha256", signature: null },
      // The checksum document has the path that the file had during the build.
      filename: `images/${name}`,
      expect: /^sha256:(.+)$/.exec(digest ?? "")?.[1] ?? null,
    },
  };
}
