import { beforeAll, expect, test } from "vitest";
import { EXPECTED, partProblems, siteFiles } from "../../index-builder/publish/assemble.ts";
import { checkFiles } from "../../index-builder/tree/check.ts";
import { loadTree } from "../../index-builder/tree/load.ts";
import type { Artifact, Build, Distro } from "../../index-builder/tree/model.ts";
import { compareReleases } from "../../index-builder/tree/order.ts";
import { parsePath } from "../../src/lib/image-index/paths.ts";
import { documentText } from "../../src/lib/image-index/documents.ts";
import type { DistroTree, Files } from "../../index-builder/tree/tree.ts";
import { debian } from "../../index-builder/vendors/debian.ts";
import { ubuntu } from "../../index-builder/vendors/ubuntu.ts";
import { builtFrom } from "./recorded-vendor.ts";

let trees: DistroTree[];
let good: Files;
beforeAll(async () => {
  trees = await Promise.all([ubuntu, debian].map(async (vendor) => {
    const { outcome } = await builtFrom(vendor);
    return outcome.tree;
  }));
  good = siteFiles({ distros: trees });
});

function problemsOf(change: (files: Map<string, string>) => void): string {
  const files = new Map(good);
  change(files);
  return checkFiles(files, EXPECTED).join("\n");
}

/**
 * Changes a tree, generates the site of the changed tree, and returns the problems of the site. If several files repeat
 * a value, all of them have the changed value. So the site breaks only the rule that the change breaks.
 */
function problemsAfter(
  change: { distro?: (distro: Distro) => void; build?: (build: Build) => void; archive?: (builds: Build[]) => void },
): string {
  const [tree] = structuredClone(trees) as [DistroTree, DistroTree];
  const distro = tree.distro;
  const release = distro.releases[0]!;
  change.distro?.(distro);
  change.build?.(tree.current.get(release.id)![0]!);
  const archived: Build[] = [];
  change.archive?.(archived);
  const made: DistroTree = {
    ...tree,
    archived: archived.length === 0 ? tree.archived : new Map([[release.id, archived]]),
  };
  return checkFiles(siteFiles({ distros: [made] }), EXPECTED).join("\n");
}

const artifact = (change: (artifact: Artifact) => void) => ({ build: (build: Build) => change(build.artifacts[0]!) });
const RELEASE = "v1/distros/ubuntu/releases/noble/index.json";

test("a tree that was built has no problems, and is unchanged after it was written and loaded", () => {
  expect(checkFiles(good, EXPECTED)).toEqual([]);
  expect(loadTree(good).distros).toEqual(trees);
});

test("these fields accept unknown values: alias, format, compression, checksum format, kind of signature", () => {
  const problems = problemsAfter({
    distro: (distro) => void distro.releases[0]!.aliases.push("newest"),
    build: (build) => {
      const [one] = build.artifacts;
      one!.format = "vhdx";
      one!.compression = "lz4";
      one!.integrity!.digests[0]!.source!.format = "json_list";
      for (const signature of one!.integrity!.signatures) signature.kind = "minisign";
    },
  });
  expect(problems).toBe("");
});

test.each<[string, (files: Map<string, string>) => void, string]>([
  ["a file outside the API", (files) => files.set("v1/extra.json", "{}"), "v1/extra.json: is not a file"],
  [
    "an alias file with an invalid name",
    (files) => files.set("v1/distros/ubuntu/aliases/..json", "{}"),
    "..json: is not a file",
  ],
  [
    "a file of an unknown alias without a release",
    (files) => files.set("v1/distros/ubuntu/aliases/newest.json", files.get(RELEASE)!),
    "no release has this alias",
  ],
  ["a missing index.html", (files) => files.delete("index.html"), "index.html: is missing"],
  ["another index.html", (files) => files.set("index.html", "<html>"), "index.html: differs"],
  ["another docs page", (files) => files.set("docs/index.html", ""), "docs/index.html: differs"],
  ["another openapi.json", (files) => files.set("v1/openapi.json", "{}\n"), "v1/openapi.json: differs"],
  ["no v1/index.json", (files) => files.delete("v1/index.json"), "v1/index.json: is missing or unreadable"],
  ["another order of images.json", (files) => {
    const { images } = JSON.parse(files.get("v1/images.json")!);
    files.set("v1/images.json", documentText({ images: images.reverse() }));
  }, "v1/images.json: differs"],
  [
    "an unknown field",
    (files) => files.set(RELEASE, files.get(RELEASE)!.replace('"distro"', '"more": 1,\n  "distro"')),
    "not in the form",
  ],
  [
    "a missing field whose value is null",
    (files) => files.set(RELEASE, files.get(RELEASE)!.replace('      "point_release": null,\n', "")),
    "not in the form",
  ],
  ["broken JSON", (files) => files.set(RELEASE, "{"), `${RELEASE}: is missing or unreadable`],
  [
    "a distro that is not listed",
    (files) => files.set("v1/distros/extra/index.json", "{}"),
    "the distro of this folder is not listed in v1/index.json",
  ],
  ["a distro whose folder is missing", (files) => {
    for (const path of good.keys()) if (path.startsWith("v1/distros/debian/")) files.delete(path);
  }, "v1/distros/debian/index.json: is missing"],
  ["a distro with the id of another distro", (files) => {
    const path = "v1/distros/debian/index.json";
    files.set(path, files.get(path)!.replace('"id": "debian"', '"id": "other"'));
  }, "belongs to distro other"],
  ["a name that differs from index.json", (files) => {
    const path = "v1/distros/debian/index.json";
    files.set(path, files.get(path)!.replace('"name": "Debian"', '"name": "Other"'));
  }, "differs from v1/index.json"],
  ["a release without its file", (files) => files.delete(RELEASE), `${RELEASE}: is missing`],
  [
    "a release that is not listed",
    (files) => files.set("v1/distros/ubuntu/releases/extra/index.json", files.get(RELEASE)!),
    "belongs to a release that its distro does not list",
  ],
  [
    "an archive of a release that is not listed",
    (files) => files.set("v1/distros/ubuntu/releases/extra/archive.json", files.get(RELEASE)!),
    "belongs to a release that its distro does not list",
  ],
  [
    "an alias file that is missing",
    (files) => files.delete("v1/distros/ubuntu/aliases/lts.json"),
    "aliases/lts.json: is missing",
  ],
  [
    "an alias file with another release's content",
    (files) => files.set("v1/distros/ubuntu/aliases/lts.json", files.get(RELEASE)!),
    "is not a copy",
  ],
  [
    "an alias file without a release",
    (files) => files.set("v1/distros/ubuntu/aliases/dev.json", files.get(RELEASE)!),
    "no release has this alias",
  ],
  [
    "an alias file of an unknown distro",
    (files) => files.set("v1/distros/extra/aliases/dev.json", files.get(RELEASE)!),
    "the distro of this folder is not listed in v1/index.json",
  ],
  [
    "a list that belongs to another release",
    (files) => files.set(RELEASE, files.get(RELEASE)!.replace('"release": "noble"', '"release": "jammy"')),
    "belongs to ubuntu/jammy",
  ],
])("%s is a problem", (_, change, expected) => expect(problemsOf(change)).toContain(expected));

test.each<[string, Parameters<typeof problemsAfter>[0], string]>([
  [
    "releases that are not newest first",
    { distro: (distro) => void distro.releases.reverse() },
    "does not list its releases newest first",
  ],
  ["a release listed twice", { distro: (distro) => void distro.releases.push(distro.releases[0]!) }, "is listed twice"],
  [
    "an alias of two releases",
    { distro: (distro) => void (distro.releases[1]!.aliases = ["lts"]) },
    "two releases have the alias lts",
  ],
  [
    "aliases out of order",
    { distro: (distro) => void distro.releases[0]!.aliases.reverse() },
    "not in the order latest, lts, dev",
  ],
  [
    "an alias that cannot be a file's name",
    { distro: (distro) => void distro.releases[1]!.aliases.push("../newest") },
    "../newest cannot be a file name",
  ],
  [
    "a dev_channel without dev",
    { distro: (distro) => void (distro.dev_channel = "beta") },
    "must be both present or both absent",
  ],
  [
    "dev without a dev_channel",
    { distro: (distro) => void (distro.releases[1]!.aliases = ["dev"]) },
    "must be both present or both absent",
  ],
  ["latest on a pre-release", {
    distro: (distro) => {
      distro.dev_channel = "beta";
      distro.releases[1]!.aliases = ["dev"];
      distro.releases[0]!.title = "28.04 Beta";
    },
  }, "the alias latest names a pre-release"],
  [
    "an invalid end date",
    { distro: (distro) => void (distro.releases[0]!.eol_date = "2031-02-30") },
    "eol_date 2031-02-30",
  ],
  ["a build without artifacts", { build: (build) => void (build.artifacts = []) }, "has no artifact"],
  [
    "an implausible time",
    { build: (build) => void (build.first_seen = "1970-01-01T00:00:00Z") },
    "not a plausible time",
  ],
  [
    "a publication time without a zone",
    { build: (build) => void (build.published_at = "2026-01-01T00:00:00") },
    "not a plausible time",
  ],
  ["one artifact twice", { build: (build) => void build.artifacts.push(build.artifacts[0]!) }, "is listed twice"],
  ["no location", artifact((one) => void (one.locations = [])), "has no location"],
  ["no primary location", artifact((one) => void (one.locations[0]!.kind = "mirror")), "has no primary location"],
  [
    "plain http",
    artifact((one) => void (one.locations[0]!.url = one.locations[0]!.url.replace("https", "http"))),
    "not a valid https address",
  ],
  [
    "a foreign host",
    artifact((one) => void (one.locations[0]!.url = "https://evil.example/x.img")),
    "not on a host of this vendor",
  ],
  [
    "a digest of the wrong length",
    artifact((one) => void (one.integrity!.digests[0]!.value = "ab")),
    "ab is not a sha256 digest",
  ],
  [
    "an upper-case digest",
    artifact((one) => void (one.integrity!.digests[0]!.value = one.integrity!.digests[0]!.value.toUpperCase())),
    "is not a sha256 digest",
  ],
  [
    "a gnu source without a filename",
    artifact((one) => void (one.integrity!.digests[0]!.source!.filename = null)),
    "does not fit the format gnu",
  ],
  [
    "a clear-signed document with another address",
    artifact((one) => void (one.integrity!.signatures[0]!.kind = "pgp_clearsigned")),
    "does not fit the kind pgp_clearsigned",
  ],
  [
    "a mirror's ETag",
    artifact((one) => void (one.locations[0]!.redirects_off_host = true)),
    "metadata that comes from a mirror",
  ],
  ["an empty format", artifact((one) => void (one.format = "")), "has no format"],
  ["an empty compression", artifact((one) => void (one.compression = "")), "has no compression"],
])("%s is a problem", (_, change, expected) => expect(problemsAfter(change)).toContain(expected));

const release = (id: string, ...aliases: string[]) => ({ id, version: id.replace("_", " "), aliases });

test.each([
  ["numbers are compared by value", [release("24.04", "latest"), release("9.10"), release("9.9")]],
  ["a pre-release is placed by its own number", [release("46_Beta", "dev"), release("45", "latest"), release("44")]],
  ["a pre-release of an older series follows a newer release", [release("16.0", "latest"), release("15.7", "dev")]],
  ["a development channel that is numbered by date precedes releases", [
    release("20260907", "dev"),
    release("r151058", "latest"),
  ]],
  ["an update precedes its release", [release("r151054r"), release("r151054")]],
])("in the order newest first: %s", (_, releases) => {
  expect(releases.toSorted(compareReleases)).toEqual(releases);
  expect(releases.toReversed().sort(compareReleases)).toEqual(releases);
});

test("a vendor's part with releases out of order is not published", async () => {
  const { outcome } = await builtFrom(ubuntu);
  expect(partProblems(outcome)).toEqual([]);
  outcome.tree.distro.releases.reverse();
  expect(partProblems(outcome)).toEqual(["v1/distros/ubuntu/index.json: does not list its releases newest first"]);
});

test("archived builds are newest first by their point release", () => {
  const old = (build: string, point_release: string): Build => {
    const made = { ...structuredClone(trees[0]!.current.get("resolute")![0]!), build, point_release };
    for (const { locations: [place] } of made.artifacts) {
      Object.assign(place!, { kind: "vault", url: place!.url.replace("/release-", `/release-${point_release}-`) });
    }
    return made;
  };
  const [newer, older] = [old("20200101", "9.10"), old("20200202", "9.9")];
  expect(problemsAfter({ archive: (builds) => void builds.push(newer, older) })).toBe("");
  expect(problemsAfter({ archive: (builds) => void builds.push(older, newer) })).toContain(
    "archive.json: does not list its builds newest first",
  );
});

test("an archived build with a primary location, or an archived build that is also current, is a problem", () => {
  const current = trees[0]!.current.get("resolute")![0]!;
  expect(problemsAfter({ archive: (builds) => void builds.push(structuredClone(current)) })).toContain(
    "is current and archived",
  );
  const other = { ...structuredClone(current), build: "20200101" };
  expect(problemsAfter({ archive: (builds) => void builds.push(other) })).toContain(
    "is archived but has a primary location",
  );
  other.artifacts[0]!.locations[0]!.kind = "vault";
  expect(problemsAfter({ archive: (builds) => void builds.push(other) })).toBe("");
});

test("the same file in two builds is a problem", () => {
  const [first] = structuredClone(trees) as [DistroTree, DistroTree];
  const builds = first.current.get("resolute")!;
  const older = { ...structuredClone(builds[0]!), build: "20200101" };
  const made = { ...first, current: new Map([...first.current, ["resolute", [...builds, older]]]) };
  expect(checkFiles(siteFiles({ distros: [made] }), EXPECTED).join("\n")).toContain("is in two builds");
});

test("the check reports several problems at once", () => {
  const problems = problemsOf((files) => {
    files.delete("index.html");
    files.delete(RELEASE);
    files.set("v1/extra.json", "{}");
  }).split("\n");
  expect(problems.length).toBeGreaterThanOrEqual(3);
});

test.each([
  "../etc/passwd",
  "v1/distros/../index.json",
  "v1/distros/a/releases/./index.json",
  "v1//index.json",
  "/v1/index.json",
  "v1/distros/a/releases/b/index.json/",
  "v1/distros/a%2f/index.json",
  "v1/distros/index.json",
  "__proto__",
  "constructor",
])(
  "%s is not a path of an index",
  (path) => expect(parsePath(path)).toBeNull(),
);
