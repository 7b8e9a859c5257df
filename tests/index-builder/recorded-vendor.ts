// Runs one vendor with recorded responses, for the tests of vendors.
import { fileURLToPath } from "node:url";
import { runVendor, type VendorOutcome, type VendorSetting } from "../../index-builder/build/vendor-run.ts";
import type { Artifact, Build } from "../../index-builder/tree/model.ts";
import type { Vendor } from "../../index-builder/vendor.ts";
import { recordedExchange } from "../../index-builder/web/recorded.ts";

/** The day of the recording. */
export const RECORDED_AT = new Date("2026-10-09T05:17:00.000Z");

/** Returns the path of a folder in tests/fixtures/vendor-web. */
export function webFolder(name: string): string {
  return fileURLToPath(new URL(`../fixtures/vendor-web/${name}`, import.meta.url));
}

/** @param webs folders of tests/fixtures/vendor-web; the response to a URL is from the first folder that has the URL */
export async function runRecorded(
  vendor: Vendor,
  webs: readonly string[] = ["t0"],
  more: Partial<VendorSetting> = {},
): Promise<VendorOutcome> {
  const exchange = await recordedExchange(webs.map(webFolder));
  const wait = () => Promise.resolve();
  return runVendor(vendor, {
    exchange,
    signatures: "off",
    now: RECORDED_AT,
    previous: null,
    trust: null,
    wait,
    ...more,
  });
}

/**
 * Builds a vendor that must succeed.
 * @throws Error with the vendor's error if it failed
 */
export async function builtFrom(vendor: Vendor, webs?: readonly string[], more?: Partial<VendorSetting>) {
  const outcome = await runRecorded(vendor, webs, more);
  if (!outcome.ok) throw new Error(`${vendor.id} failed: ${outcome.error}`);
  const { distro, current, archived } = outcome.tree;
  return {
    outcome,
    distro,
    current,
    archived,
    builds: (release: string): readonly Build[] => current.get(release) ?? [],
  };
}

/** Returns a line for each artifact of a build: "server/x86_64/qcow2 sha256:012d81fa". */
export function artifactLines(build: Build | undefined): string[] {
  return (build?.artifacts ?? []).map((artifact) =>
    `${artifact.variant}/${artifact.arch}/${artifact.format} ${digestOf(artifact)}`
  );
}

function digestOf({ integrity }: Artifact): string {
  const digest = integrity?.digests[0];
  return digest === undefined ? "no digest" : `${digest.algorithm}:${digest.value.slice(0, 8)}`;
}
