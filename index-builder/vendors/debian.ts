// Debian: the Release files of the suites name the versions and codenames. A directory listing has the dated builds of
// a codename. The folder of each build has an unsigned SHA512SUMS.
import { osinfoArch } from "../arch.ts";
import { VendorFault } from "../fault.ts";
import { newest } from "../natural-order.ts";
import type { Checksums } from "../parse/checksums.ts";
import { parseStanza } from "../parse/stanza.ts";
import type { ArtifactDraft, BuildDraft, Candidate, ChecksumDocument, Vendor, Visit } from "../vendor.ts";

const SUITES = ["stable", "oldstable"] as const;
const DISTS = "https://ftp.debian.org/debian/dists/";
const IMAGES = "https://cloud.debian.org/images/cloud/";
/** The variants with cloud-init. The variants azure and ec2 have their own agents, and nocloud has no cloud-init. */
const VARIANTS = ["genericcloud", "generic"] as const;
const ARCHES = ["amd64", "arm64", "ppc64el", "riscv64"] as const;

export const debian: Vendor = {
  id: "debian",
  name: "Debian",
  homepage: "https://www.debian.org/",
  os_family: "linux",
  hosts: ["ftp.debian.org", "cloud.debian.org"],
  end_of_life_product: "debian",
  list: (visit) => Promise.all(SUITES.map((suite) => candidateOf(visit, suite))),
};

type Suite = { codename: string; version: string; released_on: string };

async function candidateOf(visit: Visit, suite: string): Promise<Candidate> {
  const release = await readSuite(visit, suite);
  return {
    token: release.codename,
    version: release.version,
    title: `Debian ${release.version} (${release.codename}) — ${suite}`,
    supported: true,
    eol_date: null,
    lts: false,
    dev: null,
    channel: false,
    resolve: async () => ({ builds: [await newestBuild(visit, release)] }),
  };
}

/**
 * Reads a suite. Any fault fails the vendor, because without this suite the alias `latest` could move to another suite.
 */
async function readSuite(visit: Visit, suite: string): Promise<Suite> {
  const url = `${DISTS}${suite}/Release`;
  const fields = parseStanza(url, await visit.text(url));
  const [codename, version] = [fields.get("Codename"), fields.get("Version")];
  const date = new Date(fields.get("Date") ?? "");
  if (codename === undefined || version === undefined || Number.isNaN(date.getTime())) {
    throw new VendorFault("unreadable", `${url}: no Codename, Version or Date`);
  }
  return { codename, version, released_on: date.toISOString().slice(0, 10) };
}

async function newestBuild(visit: Visit, suite: Suite): Promise<BuildDraft> {
  const folder = `${IMAGES}${suite.codename}/`;
  const names = (await visit.listing(folder)).flatMap((name) => /^(\d{8}-\d+)\/$/.exec(name)?.[1] ?? []);
  const build = newest(names, (name) => name);
  if (build === null) throw new VendorFault("unreadable", `${folder}: no dated build`);
  const document: ChecksumDocument = {
    url: `${folder}${build}/SHA512SUMS`,
    format: "gnu",
    algorithm: "sha512",
    signature: null,
  };
  const listed = await visit.checksums(document);
  const day = `${build.slice(0, 4)}-${build.slice(4, 6)}-${build.slice(6, 8)}`;
  return {
    build,
    // A build from the day of a point release may still contain the previous point release.
    point_release: day > suite.released_on ? suite.version : null,
    artifacts: VARIANTS.flatMap((variant) => artifactsOf({ suite, build, variant, document, listed })),
  };
}

type Found = { suite: Suite; build: string; variant: string; document: ChecksumDocument; listed: Checksums };

function artifactsOf({ suite, build, variant, document, listed }: Found): ArtifactDraft[] {
  const major = suite.version.split(".")[0];
  return ARCHES.flatMap((arch) => {
    const filename = `debian-${major}-${variant}-${arch}-${build}.qcow2`;
    // The default image is always included, so that its absence from the checksums is noticed.
    if (!listed.has(filename) && (variant !== VARIANTS[0] || arch !== "amd64")) return [];
    return [{
      url: document.url.replace("SHA512SUMS", filename),
      variant,
      default_variant: variant === VARIANTS[0],
      arch: osinfoArch(arch)!,
      format: "qcow2",
      compression: "none",
      ssh_key_injection: true,
      datasources: ["nocloud"],
      checksum: { document, filename },
    }];
  });
}
