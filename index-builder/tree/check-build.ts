// The rules inside one release or one build. Open enums take any value (document 1): a tree of a later version, or of a
// vendor's file of one's own, is as good. Addresses are https (http only where a vendor has nothing else), dates can be.
import { asDigest } from "../../src/lib/crypto/digest-hex.ts";
import { ALIASES, CHECKSUM_FORMATS, SIGNATURE_KINDS } from "./enums.ts";
import type { Artifact, Build, Digest, Release, Signature } from "./model.ts";
import { isName } from "./paths.ts";

export type Complain = (path: string, text: string) => void;

/** Where a distro's images, hashes and signatures may lie. */
export type Hosts = { readonly hosts: readonly string[]; readonly plain_http_hosts?: readonly string[] };
type Kind = "release" | "archive";
type Say = (text: string) => void;

/** No image of a vendor is older than cloud-init's first distribution. */
const YEAR_MIN = 2008;
const YEAR_MAX = 2100;

export function releaseRules(
  path: string,
  { release, dev_channel }: { release: Release; dev_channel: string | null },
  complain: Complain,
): void {
  const at = `release ${release.id}`;
  for (const alias of release.aliases) {
    if (!isName(alias)) complain(path, `${at}: alias ${alias} cannot be the name of a file`);
  }
  if (dev_channel !== null && release.aliases.includes("latest") && !release.aliases.includes("dev")) {
    const label = `${release.version ?? ""} ${release.title ?? ""}`.toLowerCase();
    if (label.includes(dev_channel)) complain(path, `${at}: latest is on a pre-release`);
  }
  const known = release.aliases.filter((alias) => isKnown(ALIASES, alias));
  const sorted = ALIASES.filter((alias) => known.includes(alias));
  if (sorted.join() !== known.join()) complain(path, `${at}: aliases are not in their order`);
  if (release.eol_date !== null && !isDate(release.eol_date)) complain(path, `${at}: eol_date ${release.eol_date}`);
}

/** @param hosts null for a distro that no vendor's file makes */
export function buildRules(
  build: Build,
  { path, kind, hosts }: { path: string; kind: Kind; hosts: Hosts | null },
  complain: Complain,
): void {
  const say = (text: string) => complain(path, `build ${build.build}: ${text}`);
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(build.build)) say("not a build id");
  for (const moment of [build.published_at, build.first_seen]) {
    if (moment !== null && !isMoment(moment)) say(`${moment} is no plausible time`);
  }
  if (build.artifacts.length === 0) say("has no artifact");
  const keys = build.artifacts.map(({ variant, arch, format }) => `${variant ?? "-"}/${arch}/${format}`);
  for (const key of new Set(keys.filter((key, index) => keys.indexOf(key) !== index))) say(`${key} is there twice`);
  const urls = locationsOf(build);
  for (const url of new Set(urls.filter((url, index) => urls.indexOf(url) !== index))) say(`${url} is there twice`);
  for (const artifact of build.artifacts) {
    const tell: Say = (text) => say(`${artifact.variant ?? "-"}/${artifact.arch}: ${text}`);
    artifactRules(artifact, kind, tell);
    for (const url of addressesOf(artifact)) urlRule(url, hosts, tell);
  }
}

export function locationsOf({ artifacts }: Build): string[] {
  return artifacts.flatMap(({ locations }) => locations.map(({ url }) => url));
}

function addressesOf({ locations, integrity }: Artifact): string[] {
  const digests = (integrity?.digests ?? []).flatMap(({ source }) => source?.url ?? []);
  const signatures = (integrity?.signatures ?? []).flatMap(({ signs, url, key_url }) =>
    [signs, url, key_url ?? []].flat()
  );
  return [...new Set([...locations.map(({ url }) => url), ...digests, ...signatures])];
}

function artifactRules(artifact: Artifact, kind: Kind, say: Say): void {
  if (artifact.format === "") say("has no format");
  if (artifact.compression === "") say("has no compression");
  if (artifact.locations.length === 0) say("has no location");
  const primary = artifact.locations.some((location) => location.kind === "primary");
  if (kind === "release" && !primary) say("has no primary location");
  if (kind === "archive" && primary) say("is archived and has a primary location");
  for (const digest of artifact.integrity?.digests ?? []) digestRule(digest, say);
  for (const signature of artifact.integrity?.signatures ?? []) signatureRule(signature, say);
  if (artifact.locations.some(({ redirects_off_host }) => redirects_off_host) && artifact.integrity?.http) {
    say("has the HTTP metadata of a mirror");
  }
}

function digestRule({ algorithm, value, source }: Digest, say: Say): void {
  if (asDigest(value, algorithm) !== value) say(`${value} is no ${algorithm}`);
  if (source === null) return;
  if (!isKnown(CHECKSUM_FORMATS, source.format)) return;
  const lists = source.format === "gnu" || source.format === "bsd";
  if (lists !== (source.filename !== null)) say(`filename ${source.filename} does not go with ${source.format}`);
}

function signatureRule({ kind, signs, url }: Signature, say: Say): void {
  if (!isKnown(SIGNATURE_KINDS, kind)) return;
  if ((kind === "pgp_clearsigned") !== (signs === url)) {
    say(`signature ${url} and what it signs do not go with ${kind}`);
  }
}

function urlRule(text: string, hosts: Hosts | null, say: Say): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && (hosts?.plain_http_hosts ?? []).includes(url.hostname);
  const scheme = url?.protocol === "https:" || (url?.protocol === "http:" && plain);
  if (url === null || !scheme || url.username !== "" || url.password !== "" || url.hash !== "") {
    say(`${text} is no address to offer`);
  } else if (hosts !== null && !hosts.hosts.includes(url.hostname)) {
    say(`${text} is not on a host of this vendor`);
  }
}

function isKnown(known: readonly string[], value: string): boolean {
  return known.includes(value);
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && isMoment(`${text}T00:00:00Z`);
}

function isMoment(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/.test(text)) return false;
  const date = new Date(text);
  const year = date.getUTCFullYear();
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text.slice(0, 10) && year >= YEAR_MIN &&
    year <= YEAR_MAX;
}
