// Arch Linux: a mirror has one folder for each build of the rolling release, with the image, a signed hash and a
// signature. The folder "latest" is a copy of one of these folders.
import { unreadable } from "../fault.ts";
import { latestChannel } from "../latest-channel.ts";
import { newest } from "../natural-order.ts";
import type { BuildDraft, SigningKey, Vendor, Visit } from "../vendor.ts";

const ROOT = "https://geo.mirror.pkgbuild.com/images/";
/** Arch Linux itself has no releases. In the index it has only this release, to which the channel points. */
const RELEASE = { id: "rolling", version: "rolling", title: "Arch Linux rolling" };

const KEY: SigningKey = {
  // The image project publishes the key in its README.
  key_url: "https://gitlab.archlinux.org/archlinux/arch-boxes/-/raw/master/README.md",
  // The key of the project arch-boxes, which signs with the subkey 656E4C5AC1CC3B86E539D97E343635A6859A9174
  fingerprints: ["1B9A16984A4E8CB448712D2AE0B78BF4326C6F8F"],
};

export const arch: Vendor = {
  id: "arch",
  name: "Arch Linux",
  homepage: "https://archlinux.org/",
  os_family: "linux",
  hosts: ["geo.mirror.pkgbuild.com", "gitlab.archlinux.org"],
  end_of_life_product: null,
  list: (visit) =>
    Promise.resolve([latestChannel(async () => ({ release: RELEASE, builds: [await newestBuild(visit)] }))]),
};

async function newestBuild(visit: Visit): Promise<BuildDraft> {
  const builds = (await visit.listing(ROOT)).flatMap((name) => /^v(\d{8}\.\d+)\/$/.exec(name)?.[1] ?? []);
  const build = newest(builds, (name) => name);
  if (build === null) throw unreadable(ROOT, "no dated build");
  // The image "basic" has no cloud-init.
  const filename = `Arch-Linux-x86_64-cloudimg-${build}.qcow2`;
  const url = `${ROOT}v${build}/${filename}`;
  return {
    build,
    point_release: null,
    artifacts: [{
      url,
      variant: "cloudimg",
      default_variant: true,
      arch: "x86_64",
      format: "qcow2",
      compression: "none",
      datasources: ["nocloud"],
      ssh_key_injection: true,
      checksum: {
        document: {
          url: `${url}.SHA256`,
          format: "gnu",
          algorithm: "sha256",
          signature: { kind: "pgp_detached", url: `${url}.SHA256.sig`, key: KEY },
          series: "arch cloudimg x86_64",
        },
        filename,
      },
      signature: { kind: "pgp_detached", url: `${url}.sig`, key: KEY },
    }],
  };
}
