// Talos Linux: GitHub names the newest release, and the vendor's image factory builds its images on demand. Only
// customers of the factory get hashes; all others get the status 402. Only 402 means that there is no digest; any other
// error is a fault.
import { z } from "zod";
import { osinfoArch } from "../arch.ts";
import { isFault, unreadable } from "../fault.ts";
import { latestChannel } from "../latest-channel.ts";
import type { ArtifactDraft, Resolved, Vendor, Visit } from "../vendor.ts";

const LATEST = "https://api.github.com/repos/siderolabs/talos/releases/latest";
/** The URL of images. Its last part is the id of the image configuration without extensions. */
const IMAGES = "https://factory.talos.dev/image/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba/";

const PAYMENT_REQUIRED = 402;

export const talos: Vendor = {
  id: "talos",
  name: "Talos Linux",
  homepage: "https://www.talos.dev/",
  os_family: "linux",
  hosts: ["api.github.com", "factory.talos.dev"],
  end_of_life_product: null,
  list: (visit) => Promise.resolve([latestChannel(() => resolve(visit))]),
};

const Release = z.object({
  tag_name: z.string(),
  draft: z.literal(false),
  prerelease: z.literal(false),
  published_at: z.iso.datetime(),
});

async function resolve(visit: Visit): Promise<Resolved> {
  const { tag_name, published_at } = await visit.json(LATEST, Release, { accept: "application/vnd.github+json" });
  const [, build, series] = /^v((\d+\.\d+)\.\d+)$/.exec(tag_name) ?? [];
  if (build === undefined || series === undefined) {
    throw unreadable(LATEST, `the newest release has the tag "${tag_name}", which is not a version`);
  }
  const amd64 = await artifactOf(visit, build, "amd64");
  const arm64 = await visit.optional(`Talos Linux ${build} arm64`, () => artifactOf(visit, build, "arm64"));
  return {
    release: { id: series, version: series, title: `Talos Linux ${series}` },
    builds: [{ build, point_release: null, published_at, artifacts: arm64 === null ? [amd64] : [amd64, arm64] }],
  };
}

async function artifactOf(visit: Visit, build: string, arch: string): Promise<ArtifactDraft> {
  const filename = `nocloud-${arch}.raw.xz`;
  const url = `${IMAGES}v${build}/${filename}`;
  const document = { url: `${url}.sha256`, format: "gnu", algorithm: "sha256", signature: null } as const;
  return {
    url,
    variant: "nocloud",
    default_variant: true,
    arch: osinfoArch(arch)!,
    format: "raw",
    compression: "xz",
    datasources: ["nocloud"],
    // Talos has no shell to log in to, so its configuration takes no SSH key.
    ssh_key_injection: false,
    checksum: await isForCustomers(visit, document.url) ? null : { document, filename },
  };
}

/**
 * Returns whether the factory answers 402.
 * @throws VendorFault for any other failure, so that a digest cannot disappear unnoticed
 */
async function isForCustomers(visit: Visit, url: string): Promise<boolean> {
  try {
    await visit.text(url);
    return false;
  } catch (error) {
    if (isFault(error) && error.status === PAYMENT_REQUIRED) return true;
    throw error;
  }
}
