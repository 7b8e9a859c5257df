// CentOS Stream: a directory listing has the streams. Each stream has a folder of dated images for each architecture,
// and each image has an unsigned SHA256SUM file.
import { osinfoArch } from "../arch.ts";
import { type Found, groupByBuild } from "../build/group-builds.ts";
import { unreadable } from "../fault.ts";
import { compareNatural, newest, newestFirst } from "../natural-order.ts";
import type { ArtifactDraft, BuildDraft, Candidate, ChecksumDocument, Vendor, Visit } from "../vendor.ts";

const ROOT = "https://cloud.centos.org/centos/";
const ARCHES = ["x86_64", "aarch64", "ppc64le", "s390x"] as const;
/** The first supported stream. The folder of stream 8 still exists, but its support has ended. */
const SUPPORTED_SINCE = "9";
/** Names of dated images. Excludes the copy "latest" and the duplicate "GenericCloud-x86_64" of the same build. */
const NAME = /^CentOS-Stream-GenericCloud-(\d+)-(\d{8}\.\d+)\.([a-z0-9_]+)\.qcow2$/;

export const centosStream: Vendor = {
  id: "centos-stream",
  name: "CentOS Stream",
  homepage: "https://www.centos.org/",
  os_family: "linux",
  hosts: ["cloud.centos.org"],
  end_of_life_product: "centos-stream",
  list,
};

type Image = Found & { url: string; filename: string };

async function list(visit: Visit): Promise<Candidate[]> {
  const streams = (await visit.listing(ROOT)).flatMap((name) => /^(\d+)-stream\/$/.exec(name)?.[1] ?? []);
  if (streams.length === 0) throw unreadable(ROOT, "it lists no stream");
  return newestFirst(streams, (stream) => stream).map((stream) => ({
    token: stream,
    version: stream,
    title: `CentOS Stream ${stream}`,
    supported: compareNatural(stream, SUPPORTED_SINCE) >= 0,
    eol_date: null,
    lts: false,
    dev: null,
    channel: false,
    resolve: async () => ({ builds: await currentBuilds(visit, stream) }),
  }));
}

async function currentBuilds(visit: Visit, stream: string): Promise<BuildDraft[]> {
  const found = (await Promise.all(ARCHES.map((arch) => imagesIn(visit, stream, arch)))).flat();
  const lead = newest(found.filter(({ arch }) => arch === "x86_64"), ({ build }) => build);
  if (lead === null) throw unreadable(`${ROOT}${stream}-stream/x86_64/images/`, "no dated GenericCloud image");
  return await Promise.all(
    groupByBuild(visit, found, lead.build).map(async (images) => ({
      build: images[0]!.build,
      point_release: null,
      artifacts: await Promise.all(images.map((image) => artifactOf(visit, image))),
    })),
  );
}

async function imagesIn(visit: Visit, stream: string, folder_arch: (typeof ARCHES)[number]): Promise<Image[]> {
  const folder = `${ROOT}${stream}-stream/${folder_arch}/images/`;
  const names = folder_arch === "x86_64"
    ? await visit.listing(folder)
    : await visit.optional(`CentOS Stream ${stream} ${folder_arch}`, () => visit.listing(folder));
  return (names ?? []).flatMap((filename) => {
    const [, of_stream, build, vendor_arch] = NAME.exec(filename) ?? [];
    const arch = osinfoArch(vendor_arch ?? "");
    if (arch === null || of_stream !== stream) return [];
    return [{ build: build!, variant: "genericcloud", arch, url: `${folder}${filename}`, filename }];
  });
}

async function artifactOf(visit: Visit, { url, filename, variant, arch }: Image): Promise<ArtifactDraft> {
  const document: ChecksumDocument = {
    url: `${url}.SHA256SUM`,
    format: "bsd",
    algorithm: "sha256",
    signature: null,
  };
  const sizes = await visit.optional(`size of ${filename}`, () => visit.sizes(document));
  return {
    url,
    variant,
    default_variant: true,
    arch,
    format: "qcow2",
    compression: "none",
    datasources: ["nocloud"],
    ssh_key_injection: true,
    size: sizes?.get(filename) ?? null,
    checksum: { document, filename },
  };
}
