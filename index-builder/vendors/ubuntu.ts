// Ubuntu: two simplestreams feeds, for the server images and the minimal images, list every release, architecture and
// build. The folder of each build has a signed SHA256SUMS.
import { osinfoArch } from "../arch.ts";
import { unreadable } from "../fault.ts";
import { compareNatural, newest, newestFirst } from "../natural-order.ts";
import { type RawProduct, Simplestreams, Versions } from "../parse/simplestreams.ts";
import type { ArtifactDraft, BuildDraft, Candidate, SigningKey, Vendor, Visit } from "../vendor.ts";

const ROOT = "https://cloud-images.ubuntu.com/";
const FEEDS = [
  { variant: "server", url: `${ROOT}releases/streams/v1/com.ubuntu.cloud:released:download` },
  { variant: "minimal", url: `${ROOT}minimal/releases/streams/v1/com.ubuntu.cloud:released:download` },
] as const;
/** The largest feed that is read. The feed has about 18 MB. */
const FEED_BYTES_MAX = 64 * 1024 * 1024;
/** The age at which the feed raises an alarm. Ubuntu renews the feed several times a week. */
const FEED_STALE_DAYS = 60;

const KEY: SigningKey = {
  key_url: "https://keyserver.ubuntu.com/pks/lookup?op=get&search=0xD2EB44626FDDC30B513D5BB71A5D6C4C7DB87C81",
  // UEC Image Automatic Signing Key <cdimage@ubuntu.com>
  fingerprints: ["D2EB44626FDDC30B513D5BB71A5D6C4C7DB87C81"],
};

export const ubuntu: Vendor = {
  id: "ubuntu",
  name: "Ubuntu",
  homepage: "https://ubuntu.com/",
  os_family: "linux",
  hosts: ["cloud-images.ubuntu.com", "keyserver.ubuntu.com"],
  end_of_life_product: "ubuntu",
  list,
};

/** A product of the feed: one release on one architecture in one variant. */
type Offer = { readonly variant: string; readonly product: RawProduct };

async function list(visit: Visit): Promise<Candidate[]> {
  const offers = await offersOf(visit, FEEDS[0]);
  const minimal = await visit.optional("minimal images", () => offersOf(visit, FEEDS[1]));
  const all = [...offers, ...(minimal ?? [])];
  const codenames = new Set(offers.map(({ product }) => product.release!));
  const candidates = [...codenames].map((codename) =>
    candidateOf(codename, all.filter((o) => o.product.release === codename))
  );
  return newestFirst(candidates, ({ version }) => version ?? "").map((candidate) => ({
    ...candidate,
    // The feed's flag is late: mantic was still marked as supported weeks after its end.
    supported: candidate.supported && (candidate.eol_date === null || candidate.eol_date >= visit.today),
  }));
}

async function offersOf(visit: Visit, feed: (typeof FEEDS)[number]): Promise<Offer[]> {
  const { products } = await visit.json(`${feed.url}.json`, Simplestreams, {
    bytes_max: FEED_BYTES_MAX,
    signature: { kind: "pgp_clearsigned", twin: `${feed.url}.sjson`, key: KEY },
    stale_after_days: FEED_STALE_DAYS,
  });
  return Object.values(products)
    .filter((product) => product.release !== undefined && product.version !== undefined)
    .map((product) => ({ variant: feed.variant, product }));
}

function candidateOf(codename: string, offers: readonly Offer[]): Candidate {
  const first = offers[0]!.product;
  const title = first.release_title ?? first.version!;
  return {
    token: codename,
    version: first.version!,
    title,
    supported: offers.some(({ product }) => product.supported === true),
    eol_date: first.support_eol ?? null,
    lts: /\bLTS\b/.test(title),
    dev: null,
    channel: false,
    resolve: () => Promise.resolve().then(() => ({ builds: buildsOf(codename, offers) })),
  };
}

type Dated = { readonly serial: string; readonly offer: Offer; readonly disk: Disk };
type Disk = NonNullable<Versions[string]["items"][string]>;

/**
 * Groups images into builds by serial. The first build has the newest serial of the default image. For every other
 * product, takes the newest image up to this serial, so that the first build always has the default image. An image
 * with an older serial goes into its own build.
 */
function buildsOf(codename: string, offers: readonly Offer[]): BuildDraft[] {
  const lead = offers.find(({ variant, product }) => variant === "server" && product.arch === "amd64") ?? offers[0]!;
  const dated = datedDisks(lead);
  const newest_serial = newest(dated, ({ serial }) => serial)?.serial;
  if (newest_serial === undefined) throw unreadable(codename, "no version has a disk1.img");
  const found = [lead, ...offers.filter((offer) => offer !== lead)].flatMap((offer) => {
    const usable = datedDisks(offer).filter(({ serial }) => compareNatural(serial, newest_serial) <= 0);
    return newest(usable, ({ serial }) => serial) ?? [];
  });
  const serials = newestFirst(new Set(found.map(({ serial }) => serial)), (serial) => serial);
  return serials.map((build) => ({
    build,
    point_release: null,
    artifacts: found.filter(({ serial }) => serial === build).flatMap((one) => artifactOf(codename, one)),
  })).filter(({ artifacts }) => artifacts.length > 0);
}

function datedDisks(offer: Offer): Dated[] {
  const versions = Versions.safeParse(offer.product.versions);
  if (!versions.success) throw unreadable(`Ubuntu's feed, ${offer.product.release}`, "the versions have no items");
  return Object.entries(versions.data).flatMap(([serial, { items }]) => {
    const disk = items["disk1.img"];
    return disk === undefined ? [] : [{ serial, offer, disk }];
  });
}

function artifactOf(codename: string, { offer: { variant, product }, disk }: Dated): ArtifactDraft[] {
  const arch = osinfoArch(product.arch);
  if (arch === null) return [];
  const url = `${ROOT}${disk.path}`;
  const folder = url.slice(0, url.lastIndexOf("/") + 1);
  return [{
    url,
    variant,
    default_variant: variant === "server",
    arch,
    format: "qcow2",
    compression: "none",
    ssh_key_injection: true,
    datasources: ["nocloud"],
    size: disk.size ?? null,
    checksum: {
      document: {
        url: `${folder}SHA256SUMS`,
        format: "gnu",
        algorithm: "sha256",
        signature: { kind: "pgp_detached", url: `${folder}SHA256SUMS.gpg`, key: KEY },
        series: `${variant} ${codename} ${arch} SHA256SUMS`,
      },
      filename: url.slice(folder.length),
      expect: disk.sha256 ?? null,
    },
  }];
}
