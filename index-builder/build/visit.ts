// Implements Visit, the services that a vendor's module may use. vendor.ts documents each method.
import { isFault, messageOf, unreadable } from "../fault.ts";
import { type Checksums, parseChecksums } from "../parse/checksums.ts";
import { parseListing } from "../parse/listing.ts";
import { parseSizes } from "../parse/sizes.ts";
import type { ChecksumDocument, DocumentOptions, Visit } from "../vendor.ts";
import type { Web } from "../web/web.ts";
import { type Documents, readingKey } from "./documents.ts";
import { type Cycles, readCycles } from "./end-of-life.ts";
import type { Gaps } from "./gaps.ts";
import type { Notes } from "./report.ts";

type Setting = {
  readonly web: Web;
  readonly documents: Documents;
  readonly notes: Notes;
  readonly gaps: Gaps;
  readonly now: Date;
  readonly end_of_life_product: string | null;
};

export function openVisit({ web, documents, notes, gaps, now, end_of_life_product }: Setting): Visit {
  const parsed = new Map<string, Promise<unknown>>();
  const today = now.toISOString().slice(0, 10);
  let cycles: Promise<Cycles> | null = null;
  const visit: Visit = {
    now,
    today,
    text: documents.text,
    json: (url, shape, options) =>
      once(readingKey(url, options?.signature), async () => {
        const result = shape.safeParse(asJson(url, await documents.text(url, options)));
        if (!result.success) throw unreadable(url, firstProblem(result.error.issues));
        return result.data;
      }),
    listing: async (url) => parseListing(url, await documents.text(url)),
    checksums: (document) =>
      once(
        `${document.format} ${document.algorithm} ${readingKey(document.url, document.signature)}`,
        async (): Promise<Checksums> =>
          parseChecksums(document.url, await documents.text(document.url, optionsOf(document)), document),
      ),
    sizes: async (document) => {
      try {
        return parseSizes(await documents.text(document.url, optionsOf(document)));
      } catch (error) {
        // The run also reads the digests from this document. Reading the digests causes the same fault, which then
        // decides whether the release is left out.
        if (!isFault(error, "gone", "refused", "unreadable", "not_recorded")) throw error;
        return new Map();
      }
    },
    optional: async (what, work) => {
      try {
        return await work();
      } catch (error) {
        if (!gaps.allows(what, error)) throw error;
        return null;
      }
    },
    exists: async (url) => {
      try {
        await web.head(url);
        return true;
      } catch (error) {
        if (isFault(error, "not_recorded")) notes.warn(messageOf(error));
        else if (!isFault(error, "gone")) throw error;
        return false;
      }
    },
    ended: async (cycle) => {
      if (end_of_life_product === null) return null;
      cycles ??= readCycles(visit, end_of_life_product);
      return (await cycles).get(cycle) ?? null;
    },
    warn: notes.warn,
  };
  return visit;

  /**
   * Parses a document only once, because documents are large (Ubuntu's feed: 18 MB). The key of a list of checksums
   * includes its format.
   */
  function once<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = parsed.get(key);
    if (before !== undefined) return before as Promise<T>;
    const made = work();
    parsed.set(key, made);
    return made;
  }
}

function optionsOf(document: ChecksumDocument): DocumentOptions {
  const { signature, series } = document;
  return { ...(signature === null ? {} : { signature }), ...(series === undefined ? {} : { series }) };
}

function asJson(url: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(url, messageOf(error));
  }
}

function firstProblem(issues: readonly { path: readonly PropertyKey[]; message: string }[]): string {
  const issue = issues[0];
  return issue === undefined
    ? "unexpected format"
    : `${issue.path.map(String).join(".") || "document"}: ${issue.message}`;
}
