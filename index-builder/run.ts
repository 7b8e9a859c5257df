// Does the work of the commands: builds each vendor's part of the tree, and writes the parts into a site.
import { mkdir } from "node:fs/promises";
import { runVendor, type VendorOutcome } from "./build/vendor-run.ts";
import { ATTEMPT_WAIT_MS } from "./build/policy.ts";
import type { SignatureMode } from "./build/report.ts";
import { messageOf } from "./fault.ts";
import { assembleTree, assembleTrust, EXPECTED, type Part, partProblems, siteFiles } from "./publish/assemble.ts";
import { takeLock } from "./publish/lock.ts";
import { publish, type Published, readPublished, recover, type Site } from "./publish/site.ts";
import { signed, type SigningKey } from "./publish/sums.ts";
import type { TrustState } from "./signatures/trust.ts";
import type { Terminal } from "./terminal.ts";
import { checkFiles, type Problem } from "./tree/check.ts";
import { loadTree, TreeProblem } from "./tree/load.ts";
import type { Files, Tree } from "./tree/tree.ts";
import type { Vendor } from "./vendor.ts";
import type { Exchange } from "./web/exchange.ts";

export type RunSetting = {
  readonly exchange: Exchange;
  readonly signatures: SignatureMode;
  readonly now: Date;
  readonly terminal: Terminal;
  /** True if the responses are recorded, so that retries do not pause. */
  readonly recorded: boolean;
  readonly signing_key: SigningKey | null;
  /** The vendors whose older documents and changed bytes the operator accepts in this run. */
  readonly accepted: readonly string[];
};
export type Before = { readonly tree: Tree | null; readonly trust: TrustState; readonly files: Files | null };

/**
 * The number of vendors that run at the same time. The limit saves memory and sockets. It does not protect the vendors'
 * hosts, because each vendor has its own.
 */
const VENDORS_AT_ONCE = 4;

/**
 * Loads the published tree.
 * @throws TreeProblem if it cannot be used
 */
export function beforeOf({ files, trust }: Published): Before {
  return { files, trust, tree: files === null ? null : loadTree(files) };
}

export async function runVendors(
  vendors: readonly Vendor[],
  before: Before,
  setting: RunSetting,
): Promise<VendorOutcome[]> {
  const { terminal } = setting;
  const outcomes = new Map<string, VendorOutcome>();
  const waiting = [...vendors];
  const at_work = new Set<string>();
  const show = () =>
    terminal.status(
      at_work.size === 0 ? "" : `${outcomes.size}/${vendors.length} done, running: ${[...at_work].join(", ")}`,
    );
  const worker = async () => {
    for (let vendor = waiting.shift(); vendor !== undefined; vendor = waiting.shift()) {
      at_work.add(vendor.id);
      show();
      const outcome = await runOne(vendor, before, setting);
      outcomes.set(vendor.id, outcome);
      at_work.delete(vendor.id);
      report(outcome, terminal);
      show();
    }
  };
  await Promise.all(Array.from({ length: VENDORS_AT_ONCE }, worker));
  return vendors.map(({ id }) => outcomes.get(id)!);
}

async function runOne(vendor: Vendor, before: Before, setting: RunSetting): Promise<VendorOutcome> {
  const { exchange, signatures, now, recorded, accepted } = setting;
  const previous = before.tree?.distros.find(({ distro }) => distro.id === vendor.id) ?? null;
  const trust = before.trust.vendors[vendor.id] ?? null;
  const wait = () => new Promise<void>((done) => setTimeout(done, recorded ? 0 : ATTEMPT_WAIT_MS));
  const accept_changes = accepted.includes(vendor.id);
  const outcome = await runVendor(vendor, { exchange, signatures, now, previous, trust, accept_changes, wait });
  if (!outcome.ok) return outcome;
  const problems = partProblems(outcome);
  return problems.length === 0 ? outcome : { ...outcome, ok: false, error: `not publishable: ${problems.join("; ")}` };
}

function report(outcome: VendorOutcome, terminal: Terminal): void {
  const { id, notes } = outcome;
  for (const { level, text } of notes) terminal.line(`${id}: ${level}: ${text}`);
  if (!outcome.ok) return terminal.line(`${id}: failed: ${outcome.error}`);
  const builds = [...outcome.tree.current.values()].flat();
  const artifacts = builds.reduce((sum, build) => sum + build.artifacts.length, 0);
  const { releases } = outcome.tree.distro;
  terminal.line(`${id}: ${count(releases.length, "release")}, ${count(artifacts, "image")}`);
}

/** Returns a number with its noun: "1 release", "2 releases". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

export type Writing =
  | { readonly kind: "busy" }
  | { readonly kind: "refused"; readonly problems: readonly Problem[] }
  | { readonly kind: "unchanged" | "published"; readonly generation: number };

/**
 * Runs `work` with the lock of the site, so that two builders cannot overwrite each other's work. The lock is held from
 * reading the published tree until the switch to the new tree. Returns null if another builder holds the lock.
 */
export async function withSite<T>(
  site: Site,
  work: (before: Before, published: Published) => Promise<T>,
): Promise<T | null> {
  await mkdir(site.generations, { recursive: true }).catch(asProblem);
  const lock = await takeLock(site.generations).catch(asProblem);
  if (lock === null) return null;
  try {
    await recover(site).catch(asProblem);
    const published = await readPublished(site);
    return await work(beforeOf(published), published);
  } finally {
    await lock.release();
  }
}

export async function writeSite(
  site: Site,
  published: Published,
  input: {
    before: Before;
    parts: ReadonlyMap<string, Part>;
    setting: Pick<RunSetting, "now" | "signing_key" | "terminal">;
  },
): Promise<Writing> {
  const { before, parts, setting } = input;
  const plain = siteFiles(assembleTree(before.tree, parts));
  const problems = checkFiles(plain, EXPECTED);
  if (problems.length > 0) return { kind: "refused", problems };
  const { signing_key, now, terminal } = setting;
  const files = signing_key === null ? plain : await signed(plain, before.files, { key: signing_key, now });
  const trust = assembleTrust(before.trust, parts);
  if (
    published.number > 0 && sameFiles(files, before.files) && JSON.stringify(trust) === JSON.stringify(before.trust)
  ) {
    return { kind: "unchanged", generation: published.number };
  }
  return { kind: "published", generation: await publish(site, { files, trust }, terminal.line).catch(asProblem) };
}

function sameFiles(a: Files, b: Files | null): boolean {
  return b !== null && a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);
}

function asProblem(error: unknown): never {
  throw error instanceof TreeProblem ? error : new TreeProblem(messageOf(error));
}
