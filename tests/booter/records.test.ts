// Tests the booter's cache of boot records while the control plane is reachable, slow, unreachable, and reachable
// again.
import { Buffer } from "node:buffer";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LOOKUP_LATE_MS, LOOKUP_MS, PENDING_MAX, RECORD_FRESH_MS } from "../../booter/limits.ts";
import { loadCache, saveCache } from "../../booter/api-client/cache-file.ts";
import { type ApiClient, ApiFault } from "../../booter/api-client/client.ts";
import { openRecords } from "../../booter/api-client/records.ts";
import { type BootFacts, bootFacts } from "../../booter/api-client/wire.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { factsOf } from "./facts.ts";

const HASH = `$6$salt$${"h".repeat(85)}.`;
const MAC = "52:54:00:aa:00:01";
const HOUR_MS = 3_600_000;

function macOf(number: number): string {
  return `52:54:00:bb:${(number >> 8).toString(16).padStart(2, "0")}:${(number & 255).toString(16).padStart(2, "0")}`;
}

/** A fake control plane and a clock. */
function fixture(start: BootFacts[] = []) {
  const site = {
    away: false,
    held: null as Promise<void> | null,
    now: 1_000_000,
    records: start,
    asked: [] as string[],
  };
  const answer = async <T>(value: () => T): Promise<T> => {
    await site.held;
    if (site.away) throw new ApiFault("away", null);
    return await Promise.resolve(value());
  };
  const refuse = () => Promise.reject(new Error("not used in these tests"));
  const api: ApiClient = {
    seen(mac) {
      site.asked.push(mac);
      return answer(() => site.records.find((each) => each.mac === mac) ?? null);
    },
    records: () => answer(() => site.records),
    policy: () => answer(() => ({ enrollment_pi: "image", enrollment_kernel_args: [] })),
    stage: refuse,
    hardware: refuse,
    announce: refuse,
    bundle: refuse,
    report: refuse,
    delivered: refuse,
    script: refuse,
    handOver: refuse,
  };
  const open = (cached: Parameters<typeof openRecords>[0]["start"] = [], late_ms = LOOKUP_LATE_MS) =>
    openRecords({ api, cache_age_ms: 24 * HOUR_MS, log: () => {}, now: () => site.now, start: cached, late_ms });
  return { site, open };
}
const enrolled = (changes: Record<string, unknown> = {}) =>
  bootFacts(
    factsOf({
      state: "enrolled",
      assigned_pi: "image",
      server_uuid: "11111111-2222-3333-4444-555555555555",
      ...changes,
    }),
  );

describe("a record that the control plane confirmed", () => {
  test("is used for exactly RECORD_FRESH_MS without another request", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    expect(records.fresh(MAC)).toBeNull();
    await records.find(MAC, {});
    site.now += RECORD_FRESH_MS;
    expect(records.fresh(MAC)).toMatchObject({ verified: true, facts: { mac: MAC } });
    site.now += 1;
    expect(records.fresh(MAC)).toBeNull();
  });

  test("is requested once, even if many packets of its machine arrive during the request", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    const found = await Promise.all(Array.from({ length: 50 }, () => records.find(MAC, {})));
    expect(site.asked).toEqual([MAC]);
    expect(found.every(({ verified }) => verified)).toBe(true);
  });

  test("whose address changed is found by the new address, and the old address belongs to no machine", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    await records.refresh();
    site.now += 1;
    const networking = { ...factsOf().networking, address: "10.0.0.20" };
    site.records = [enrolled({ address: "10.0.0.20", networking })];
    await records.refresh();
    expect([records.macOf("10.0.0.10"), records.macOf("10.0.0.20")]).toEqual([null, MAC]);
  });

  test("that is no longer in the control plane's list is removed", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    await records.refresh();
    site.now += 1;
    site.records = [];
    await records.refresh();
    expect([records.cached(), records.macOf("10.0.0.10")]).toEqual([[], null]);
  });
});

describe("while the control plane is unreachable", () => {
  test("a cached record is used until its age limit, and is marked as not verified", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    await records.refresh();
    site.away = true;
    site.now += 24 * HOUR_MS;
    expect(await records.find(MAC, {})).toMatchObject({ verified: false, facts: { state: "enrolled" } });
    site.now += 1;
    expect(await records.find(MAC, {})).toEqual({ verified: false, facts: null });
  });

  test("a cached record is not used after the clock was set back", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    await records.refresh();
    site.away = true;
    site.now -= 1;
    expect(await records.find(MAC, {})).toEqual({ verified: false, facts: null });
  });

  test("the cached record of an enrolled node keeps its root password hash from its first boot until the password is cleared", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    const hash = async () => {
      const { facts } = await records.find(MAC, {});
      return facts?.root_password_known === true ? facts.root_password_hash : "unknown";
    };
    await records.refresh();
    site.away = true;
    expect(await hash()).toBe("unknown");
    site.away = false;
    site.records = [enrolled({ root_password_hash: HASH })];
    expect(await hash()).toBe(HASH);
    site.now += 1;
    site.records = [enrolled()];
    await records.refresh();
    site.away = true;
    expect(await hash()).toBe(HASH);
    expect(JSON.stringify(records.cached())).toContain(HASH);
    site.away = false;
    expect(await hash()).toBeNull();
    site.away = true;
    expect(await hash()).toBeNull();
  });

  test("a cached record has no password hash if it belongs to another node now, if it is not enrolled, or if it is too old", async () => {
    const { site, open } = fixture([enrolled({ root_password_hash: HASH })]);
    const records = open();
    const cached = () => JSON.stringify(records.cached());
    await records.find(MAC, {});
    site.now += 24 * HOUR_MS + 1;
    expect(cached()).not.toContain(HASH);
    await records.find(MAC, {});
    expect(cached()).toContain(HASH);
    site.now += 1;
    site.records = [enrolled({ server_uuid: "99999999-2222-3333-4444-555555555555" })];
    await records.refresh();
    expect(cached()).not.toContain(HASH);
    site.records = [bootFacts(factsOf({ root_password_hash: HASH }))];
    expect((await records.find(MAC, {})).facts?.root_password_hash).toBe(HASH);
    expect(cached()).not.toContain(HASH);
  });

  test("10,000 unknown machines get no record", async () => {
    const { site, open } = fixture();
    site.away = true;
    const records = open();
    for (let number = 0; number < 10_000; number++) {
      expect(await records.find(macOf(number), {})).toEqual({ verified: false, facts: null });
    }
    expect(records.cached()).toHaveLength(0);
  });

  test("the first lookup after the return of the control plane uses the control plane's answer", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    site.away = true;
    expect([(await records.find(MAC, {})).verified, records.reachable()]).toEqual([false, false]);
    site.away = false;
    expect([(await records.find(MAC, {})).verified, records.reachable()]).toEqual([true, true]);
  });
});

test("while the control plane hangs, the number of pending lookups is limited; a lookup beyond the limit uses the cache at once", async () => {
  const { site, open } = fixture([enrolled()]);
  const records = open([], 10);
  await records.refresh();
  site.held = new Promise(() => {});
  site.now += RECORD_FRESH_MS + 1;
  const waiting = Array.from({ length: PENDING_MAX + 100 }, (_, number) => records.find(macOf(number), {}));
  expect(records.pending()).toBe(PENDING_MAX);
  expect(await records.find(MAC, {})).toMatchObject({ verified: false, facts: { mac: MAC } });
  await Promise.all(waiting);
  expect(records.pending()).toBe(0);
});

describe("a late answer", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Returns records whose control plane delays its answers between `hold` and `go`. */
  function late(start: BootFacts[]) {
    const { site, open } = fixture(start);
    let go = () => {};
    const hold = () => void (site.held = new Promise((resolve) => go = resolve));
    return { site, records: open(), hold, go: () => go() };
  }

  test("is awaited for an unknown machine until the time limit", async () => {
    const { records, hold, go } = late([enrolled({ state: "enrolling", server_uuid: null })]);
    hold();
    const found = records.find(MAC, {});
    await vi.advanceTimersByTimeAsync(LOOKUP_LATE_MS);
    go();
    expect(await found).toMatchObject({ verified: true, facts: { state: "enrolling" } });
  });

  test("is awaited for a machine whose cached record must not be used", async () => {
    const { site, records, hold, go } = late([enrolled({ state: "enrolling", server_uuid: null })]);
    await records.find(MAC, {});
    site.now += RECORD_FRESH_MS + 1;
    hold();
    const found = records.find(MAC, {});
    await vi.advanceTimersByTimeAsync(LOOKUP_LATE_MS);
    go();
    expect(await found).toMatchObject({ verified: true, facts: { state: "enrolling" } });
  });

  test("is not awaited for an enrolled node with a cached record, but is used for the node's next packet", async () => {
    const { site, records, hold, go } = late([enrolled()]);
    await records.find(MAC, {});
    site.now += RECORD_FRESH_MS + 1;
    hold();
    const found = records.find(MAC, {});
    await vi.advanceTimersByTimeAsync(LOOKUP_MS);
    expect(await found).toMatchObject({ verified: false, facts: { state: "enrolled" } });
    expect([records.fresh(MAC), records.pending()]).toEqual([null, 1]);
    go();
    await vi.advanceTimersByTimeAsync(0);
    expect([records.fresh(MAC)?.verified, records.pending()]).toEqual([true, 0]);
  });

  test("is no longer awaited after the time limit", async () => {
    const { records, hold } = late([enrolled()]);
    hold();
    const found = records.find(MAC, {});
    await vi.advanceTimersByTimeAsync(LOOKUP_LATE_MS + 1_000);
    expect(await found).toEqual({ verified: false, facts: null });
    expect(records.pending()).toBe(0);
  });
});

describe("cached records on disk", () => {
  const SECRET = new Uint8Array(32).fill(1);
  test("are read back unchanged, and a changed or cut file is ignored", async () => {
    const folder = await temporaryFolder("records");
    try {
      const path = join(folder.path, "records.json");
      expect(await loadCache(path, SECRET)).toEqual([]);
      const cached = [{ facts: enrolled(), verified_at: 7 }];
      await saveCache(path, SECRET, cached);
      expect(await loadCache(path, SECRET)).toEqual(cached);
      expect(await loadCache(path, new Uint8Array(32))).toBeNull();
      const text = await readFile(path, "utf8");
      for (const at of [0, 40, 70, 90, text.length - 3]) {
        await writeFile(path, text.slice(0, at) + (text[at] === "0" ? "1" : "0") + text.slice(at + 1));
        expect(await loadCache(path, SECRET)).toBeNull();
      }
      await writeFile(path, text.slice(0, 100));
      expect(await loadCache(path, SECRET)).toBeNull();
      const bytes = Buffer.from(text);
      // Makes the first byte of the seal invalid UTF-8. A text decoder replaces it by a character of three bytes.
      bytes[0]! |= 0x80;
      await writeFile(path, bytes);
      expect(await loadCache(path, SECRET)).toBeNull();
    } finally {
      await folder.remove();
    }
  });

  test("of an earlier release have null as root password hash, so the booter does not know the hash", () => {
    expect(bootFacts({ ...factsOf(), root_password_hash: null }).root_password_known).toBe(false);
    expect(bootFacts({ ...factsOf(), root_password_hash: HASH }).root_password_known).toBe(true);
  });

  test("are used by a booter that starts while its control plane is unreachable, to boot enrolled nodes", async () => {
    const { site, open } = fixture();
    site.away = true;
    const records = open([{ facts: enrolled(), verified_at: site.now }]);
    expect(await records.find(MAC, {})).toMatchObject({ verified: false, facts: { state: "enrolled" } });
    expect(records.macOf("10.0.0.10")).toBe(MAC);
  });
});
