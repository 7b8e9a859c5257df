// When support for a point release ends, its build moves to the archive. In the recorded responses
// wide/freebsd-ending, support for FreeBSD 15.0 ends on 10 October.
import { expect, test } from "vitest";
import type { VendorOutcome } from "../../index-builder/build/vendor-run.ts";
import { freebsd } from "../../index-builder/vendors/freebsd.ts";
import { recordedExchange } from "../../index-builder/web/recorded.ts";
import { builtFrom, webFolder } from "./recorded-vendor.ts";

const ENDING = ["wide/freebsd-ending", "t0"];
const day = (number: number) => new Date(`2026-10-${String(number).padStart(2, "0")}T05:17:00.000Z`);
type Day = VendorOutcome & { readonly ok: true };

async function on(number: number, before: Day | null, change: { vault_status?: number; vault_hash?: string } = {}) {
  const web = await recordedExchange(ENDING.map(webFolder));
  const made = await builtFrom(freebsd, ENDING, {
    now: day(number),
    previous: before?.tree ?? null,
    trust: before?.trust ?? null,
    exchange: async (request) => {
      const answer = await web(request);
      if (!request.url.startsWith("https://archive.freebsd.org/")) return answer;
      const { vault_hash, vault_status: status } = change;
      if (status !== undefined) return { ...answer, status, body: new Uint8Array() };
      if (vault_hash === undefined || !request.url.endsWith("CHECKSUM.SHA256")) return answer;
      const text = new TextDecoder().decode(answer.body).replace(/[0-9a-f]{64}/g, vault_hash);
      return { ...answer, body: new TextEncoder().encode(text) };
    },
  });
  return made.outcome;
}

function seen({ tree }: Day) {
  const names = (builds = tree.current.get("15")) => builds?.map(({ build, first_seen }) => `${build} ${first_seen}`);
  return { current: names(), archived: names(tree.archived.get("15") ?? []) };
}

test("a build that moves from current to archived keeps its first_seen", async () => {
  const first = await on(9, null);
  expect(seen(first)).toEqual({
    current: [`15.1 ${day(9).toISOString()}`, `15.0 ${day(9).toISOString()}`],
    archived: [],
  });
  const second = await on(10, first);
  expect(seen(second)).toEqual({
    current: [`15.1 ${day(9).toISOString()}`],
    archived: [`15.0 ${day(9).toISOString()}`],
  });
  expect(second.tree.archived.get("15")![0]!.artifacts[0]!.locations).toMatchObject([{ kind: "vault" }]);
  expect(second.trust.departed).toEqual({});
});

test("a build keeps its first_seen if it appears in the vendor's vault only days after its release ended", async () => {
  const first = await on(9, null);
  const second = await on(10, first, { vault_status: 503 });
  expect(seen(second).archived).toEqual([]);
  expect(second.trust.departed).toEqual({ "15/15.0": day(9).toISOString() });
  const third = await on(11, second, { vault_status: 404 });
  expect(third.trust.departed).toEqual(second.trust.departed);
  const fourth = await on(12, third);
  expect(seen(fourth).archived).toEqual([`15.0 ${day(9).toISOString()}`]);
  expect(fourth.trust.departed).toEqual({});
});

test("a build whose hash in the vault differs from the published hash raises an alarm and is not archived", async () => {
  const second = await on(10, await on(9, null), { vault_hash: "ab".repeat(32) });
  expect(seen(second).archived).toEqual([]);
  expect(second.notes.filter(({ level }) => level === "alarm")).toEqual([
    { level: "alarm", text: expect.stringContaining("15 archive of 15.0: left out: build 15.0") },
  ]);
});
