// Checks the rules within one release or one build. A field whose set of values may grow in later versions of this
// program can have any value. URLs must be https, or http on a host without https. Dates must be plausible.
import { asDigest } from "../../src/lib/crypto/digest-hex.ts";
import { ALIASES, CHECKSUM_FORMATS, SIGNATURE_KINDS } from "../../src/lib/image-index/values.ts";
import type { Artifact, Build, Digest, Release, Signature } from "./model.ts";
import { isName } from "../../src/lib/image-index/paths.ts";

export type Complain = (path: string, text: string) => void;

/** The hosts that may serve a distro's images, hashes and signatures. `plain_http_hosts` do not offer https. */
export type Hosts = { readonly hosts: readonly string[]; readonly plain_http_hosts?: readonly string[] };
type Kind = "release" | "archive";
type Say = (text: string) => void;

/** The earliest and the latest year of a time in the index. The first distribution with cloud-init is from 2008. */
const YEAR_MIN = 2008;
const YEAR_MAX = 2100;

export function releaseRules(
  path: string,
  { release, dev_channel }: { release: Release; dev_channel: string | null },
  complain: Complain,
): void {
  const at = `release ${release.id}`;
  for (const alias of release.aliases) {
    if (!isName(alias)) complain(path, `${at}: alias ${alias} cannot be a file name`);
  }
  if (dev_channel !== null && release.aliases.includes("latest") && !release.aliases.includes("dev")) {
    const label = `${release.version ?? ""} ${release.title ?? ""}`.toLowerCase();
    if (label.includes(dev_channel)) complain(path, `${at}: the alias latest names a pre-release`);
  }
  const known = release.aliases.filter((alias) => isKnown(ALIASES, alias));
  const sorted = ALIASES.filter((alias) => known.includes(alias));
  if (sorted.join() !== known.join()) complain(path, `${at}: aliases are not in the order ${ALIASES.join(", ")}`);
  if (release.eol_date !== null && !isDate(release.eol_date)) {
    complain(path, `${at}: eol_date ${release.eol_date} is not a date`);
  }
}

/**
 * Checks one build.
 * @param hosts null for a distro without a vendor's module
 */
export function buildRules(
  build: Build,
  { path, kind, hosts }: { path: string; kind: Kind; hosts: Hosts | null },
  complain: Complain,
): void {
  const say = (text: string) => complain(path, `build ${build.build}: ${text}`);
  if (!isName(build.build)) say("has an invalid build id");
  for (const moment of [build.published_at, build.first_seen]) {
    if (moment !== null && !isMoment(moment)) say(`${moment} is not a plausible time`);
  }
  if (build.artifacts.length === 0) say("has no artifact");
  const keys = build.artifacts.map(artifactKey);
  for (const key of new Set(keys.filter((key, index) => keys.indexOf(key) !== index))) say(`${key} is listed twice`);
  const urls = locationsOf(build);
  for (const url of new Set(urls.filter((url, index) => urls.indexOf(url) !== index))) say(`${url} is listed twice`);
  for (const artifact of build.artifacts) {
    const sayOfArtifact: Say = (text) => say(`${artifact.variant ?? "-"}/${artifact.arch}: ${text}`);
    artifactRules(artifact, kind, sayOfArtifact);
    for (const url of addressesOf(artifact)) urlRule(url, hosts, sayOfArtifact);
  }
}

/** Returns the name of an artifact within its build: variant, architecture and format. */
export function artifactKey({ variant, arch, format }: Pick<Artifact, "variant" | "arch" | "format">): string {
  return `${variant ?? "-"}/${arch}/${format}`;
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
  if (kind === "archive" && primary) say("is archived but has a primary location");
  for (const digest of artifact.integrity?.digests ?? []) digestRule(digest, say);
  for (const signature of artifact.integrity?.signatures ?? []) signatureRule(signature, say);
  if (artifact.locations.some(({ redirects_off_host }) => redirects_off_host) && artifact.integrity?.http) {
    say("has HTTP metadata that comes from a mirror");
  }
}

function digestRule({ algorithm, value, source }: Digest, say: Say): void {
  if (asDigest(value, algorithm) !== value) say(`${value} is not a ${algorithm} digest`);
  if (source === null) return;
  if (!isKnown(CHECKSUM_FORMATS, source.format)) return;
  const lists = source.format === "gnu" || source.format === "bsd";
  if (lists !== (source.filename !== null)) {
    say(`has filename ${source.filename}, which does not fit the format ${source.format}`);
  }
}

function signatureRule({ kind, signs, url }: Signature, say: Say): void {
  if (!isKnown(SIGNATURE_KINDS, kind)) return;
  if ((kind === "pgp_clearsigned") !== (signs === url)) {
    say(`has signature ${url} of ${signs}, which does not fit the kind ${kind}`);
  }
}

function urlRule(text: string, hosts: Hosts | null, say: Say): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && (hosts?.plain_http_hosts ?? []).includes(url.hostname);
  const scheme = url?.protocol === "https:" || (url?.protocol === "http:" && plain);
  if (url === null || !scheme || url.username !== "" || url.password !== "" || url.hash !== "") {
    say(`${text} is not a valid https address`);
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
