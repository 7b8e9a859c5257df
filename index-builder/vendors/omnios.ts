// OmniOS has three channels. Each channel is a folder with cloud images of one or more releases. The name of the newest
// image contains the channel's release, such as "r151054r", whose last letter counts the updates of the release. In the
// development channel, bloody, the name contains the date of a snapshot.
import { unreadable } from "../fault.ts";
import { newest } from "../natural-order.ts";
import type { Compression, ImageFormat } from "../../src/lib/image-index/values.ts";
import type { ArtifactDraft, Candidate, Resolved, Vendor, Visit } from "../vendor.ts";

const ROOT = "https://downloads.omnios.org/media/";
type Channel = { token: string; name: RegExp; supported: boolean; lts: boolean; dev: string | null };
const RELEASED = /^omnios-(r\d+[a-z]*)\.cloud\.(.+)$/;
/** The channels, newest first. bloody is the newest, because it becomes the next release. */
const CHANNELS: readonly Channel[] = [
  { token: "bloody", name: /^omnios-bloody-(\d{8})\.cloud\.(.+)$/, supported: false, lts: false, dev: "bloody" },
  { token: "stable", name: RELEASED, supported: true, lts: false, dev: null },
  { token: "lts", name: RELEASED, supported: true, lts: true, dev: null },
];

type Kind = { suffix: string; format: ImageFormat; compression: Compression };
/** The kinds of images, the default first. Files with other suffixes are not images. */
const KINDS: readonly Kind[] = [
  { suffix: "vmdk", format: "vmdk", compression: "none" },
  { suffix: "qcow2", format: "qcow2", compression: "none" },
  { suffix: "raw.zst", format: "raw", compression: "zstd" },
];

export const omnios: Vendor = {
  id: "omnios",
  name: "OmniOS",
  homepage: "https://omnios.org/",
  os_family: "illumos",
  hosts: ["downloads.omnios.org"],
  end_of_life_product: null,
  list: (visit) => Promise.resolve(CHANNELS.map((channel) => candidateOf(visit, channel))),
};

function candidateOf(visit: Visit, channel: Channel): Candidate {
  const { token, supported, lts, dev } = channel;
  return {
    token,
    version: null,
    title: null,
    supported,
    eol_date: null,
    lts,
    dev,
    channel: true,
    resolve: () => resolve(visit, channel),
  };
}

async function resolve(visit: Visit, { token, name }: Channel): Promise<Resolved> {
  const folder = `${ROOT}${token}/`;
  const images = (await visit.listing(folder)).flatMap((filename) => {
    const [, release, suffix] = name.exec(filename) ?? [];
    return release === undefined ? [] : [{ filename, release, suffix }];
  });
  const lead = newest(images.filter(({ suffix }) => suffix === KINDS[0]!.suffix), ({ release }) => release);
  if (lead === null) throw unreadable(folder, "no cloud image");
  const id = lead.release;
  const artifacts = KINDS.flatMap((kind) =>
    images.filter(({ release, suffix }) => release === id && suffix === kind.suffix)
      .map(({ filename }) => artifactOf(`${folder}${filename}`, kind))
  );
  return {
    release: { id, version: id, title: `OmniOS ${id}` },
    builds: [{ build: id, point_release: null, artifacts }],
  };
}

function artifactOf(url: string, { format, compression }: Kind): ArtifactDraft {
  return {
    url,
    variant: "cloud",
    default_variant: true,
    arch: "x86_64",
    format,
    compression,
    datasources: ["nocloud"],
    ssh_key_injection: true,
    checksum: {
      document: { url: `${url}.sha256`, format: "bare", algorithm: "sha256", signature: null },
      filename: null,
    },
  };
}
