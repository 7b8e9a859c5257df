// Builds one vendor's part of the tree. If a transient fault ends a run, the run is repeated, up to ATTEMPTS runs. The
// vendor fails if the last run also ends with a transient fault, or after any other error. Then the caller keeps the
// vendor's last good files.
import { isFault, messageOf, VendorFault } from "../fault.ts";
import { NO_TRUST, type VendorTrust } from "../signatures/trust.ts";
import type { DistroTree } from "../tree/tree.ts";
import type { Candidate, Vendor, Visit } from "../vendor.ts";
import type { Exchange } from "../web/exchange.ts";
import { openWeb } from "../web/web.ts";
import { giveAliases, mergeChannels } from "./aliases.ts";
import type { Departed } from "./departed.ts";
import { openDocuments } from "./documents.ts";
import { cycleEnded, END_OF_LIFE_HOST, readCycles } from "./end-of-life.ts";
import { type Gaps, openGaps } from "./gaps.ts";
import { withImagesBefore } from "./kept-images.ts";
import { ATTEMPTS } from "./policy.ts";
import { resolveRelease } from "./release.ts";
import { newNotes, type Note, type Notes, type SignatureMode } from "./report.ts";
import { openVisit } from "./visit.ts";

export type VendorSetting = {
  readonly exchange: Exchange;
  readonly signatures: SignatureMode;
  readonly now: Date;
  readonly previous: DistroTree | null;
  readonly trust: VendorTrust | null;
  /** True if the operator accepts older documents and changed bytes of this vendor in this run. */
  readonly accept_changes?: boolean;
  /** Called before each retry. */
  readonly wait: () => Promise<void>;
};
export type VendorOutcome =
  & { readonly id: string; readonly notes: readonly Note[]; readonly attempts: number }
  & ({ readonly ok: true; readonly tree: DistroTree; readonly trust: VendorTrust } | {
    readonly ok: false;
    readonly error: string;
  });

export async function runVendor(vendor: Vendor, setting: VendorSetting): Promise<VendorOutcome> {
  for (let attempts = 1;; attempts++) {
    const notes = newNotes();
    try {
      const made = await attempt(vendor, setting, { notes, is_last: attempts === ATTEMPTS });
      return { id: vendor.id, ok: true, attempts, ...made, notes: notes.all };
    } catch (error) {
      // Catches every error, because an error of one vendor must not stop the others.
      if (!isFault(error, "transient") || attempts === ATTEMPTS) {
        return { id: vendor.id, ok: false, attempts, error: describe(error), notes: notes.all };
      }
      await setting.wait();
    }
  }
}

async function attempt(vendor: Vendor, setting: VendorSetting, { notes, is_last }: { notes: Notes; is_last: boolean }) {
  const { now, previous, signatures } = setting;
  const before = trustOf(setting);
  const web = openWeb(setting.exchange, allowedBy(vendor));
  const documents = openDocuments({ web, signatures, notes, now, before });
  const { end_of_life_product } = vendor;
  const visiting = (gaps: Gaps) => ({
    gaps,
    visit: openVisit({ web, documents, notes, gaps, now, end_of_life_product }),
  });
  const { visit, gaps } = visiting(openGaps(notes, is_last));
  const candidates = await wanted(vendor, visit, notes);
  const release_setting = {
    visit,
    gaps,
    vault: visiting(openGaps(notes, false)),
    web,
    notes,
    distro: vendor.id,
    previous,
    departed: before.departed,
    first_seen: now.toISOString(),
    accept_changes: setting.accept_changes === true,
  };
  const found = await Promise.all(candidates.map(async (candidate) => {
    const resolved = await resolveRelease(candidate, release_setting);
    return resolved === null ? [] : [{ candidate, resolved }];
  }));
  const whole = found.flat().map(({ candidate, resolved }) => {
    const listed = gaps.any() ? previous?.current.get(resolved.release.id) ?? [] : [];
    return { candidate, resolved: withImagesBefore(resolved, listed) };
  });
  const { releases, dev_channel } = giveAliases(mergeChannels(whole));
  if (releases.length === 0) throw new VendorFault("unreadable", `${vendor.id}: no release could be published`);
  const { id, name, os_family, homepage } = vendor;
  const tree: DistroTree = {
    distro: { id, name, os_family, homepage, dev_channel, releases: releases.map(({ release }) => release) },
    current: new Map(releases.map(({ release, current }) => [release.id, current])),
    archived: new Map(
      releases.flatMap(({ release, archived }) => archived.length === 0 ? [] : [[release.id, archived]]),
    ),
  };
  const departed = Object.assign({}, ...releases.map((release) => release.departed)) as Departed;
  return { tree, trust: { ...documents.trust(), departed } };
}

/**
 * Returns the trust state to start from. With accept_changes, the state has the saved keys but no earlier documents, so
 * that older documents are accepted.
 */
function trustOf({ trust, accept_changes }: VendorSetting): VendorTrust {
  const known = trust ?? NO_TRUST;
  return accept_changes === true ? { ...known, documents: {} } : known;
}

/**
 * Returns the vendor's candidates without the unsupported ones, and without releases whose support cycle has ended.
 * Pre-releases and development channels are never left out. The other channels have no support cycle.
 */
async function wanted(vendor: Vendor, visit: Visit, notes: Notes): Promise<Candidate[]> {
  const candidates = await vendor.list(visit);
  const open = candidates.filter(({ supported, dev }) => supported || dev !== null);
  const product = vendor.end_of_life_product;
  if (product === null || open.every(({ dev, channel }) => dev !== null || channel)) return open;
  const cycles = await readCycles(visit, product);
  return open.filter((candidate) => {
    if (candidate.dev !== null || candidate.channel) return true;
    const ended = cycleEnded(cycles, candidate);
    if (ended === null) notes.warn(`${candidate.token}: ${product} has no such cycle on endoflife.date; kept`);
    return ended !== true;
  });
}

function allowedBy({ hosts, plain_http_hosts = [] }: Vendor): (url: URL) => boolean {
  return ({ protocol, hostname, port, username, password }) => {
    if (port !== "" || username !== "" || password !== "") return false;
    if (protocol === "http:") return plain_http_hosts.includes(hostname);
    return protocol === "https:" && (hosts.includes(hostname) || hostname === END_OF_LIFE_HOST);
  };
}

function describe(error: unknown): string {
  return isFault(error) ? `${error.kind}: ${error.message}` : `unexpected: ${messageOf(error)}`;
}
