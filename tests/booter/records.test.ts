// What is known of machines while the control plane is there, slow, away and back.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LOOKUP_LATE_MS, LOOKUP_MS, PENDING_MAX, RECORD_FRESH_MS } from "../../booter/limits.ts";
import { loadKept, saveKept } from "../../booter/api-client/cache-file.ts";
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

/** A control plane that says what it is told to, and a clock. */
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
  const refuse = () => Promise.reject(new Error("not asked for here"));
  const plane: ApiClient = {
    seen(mac) {
      site.asked.push(mac);
      return answer(() => site.records.find((each) => each.mac === mac) ?? null);
    },
    records: () => answer(() => site.records),
    policy: () => answer(() => ({ enrollment_pi: "image", enrollment_kernel_args: [] })),
    stage: refuse,
    announce: refuse,
    bundle: refuse,
    report: refuse,
  };
  const open = (kept: Parameters<typeof openRecords>[0]["start"] = [], late_ms = LOOKUP_LATE_MS) =>
    openRecords({ plane, cache_age_ms: 24 * HOUR_MS, log: () => {}, now: () => site.now, start: kept, late_ms });
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
  test("answers without another question for a few seconds, to the millisecond", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    expect(records.fresh(MAC)).toBeNull();
    await records.find(MAC, {});
    site.now += RECORD_FRESH_MS;
    expect(records.fresh(MAC)).toMatchObject({ verified: true, facts: { mac: MAC } });
    site.now += 1;
    expect(records.fresh(MAC)).toBeNull();
  });

  test("is asked for once, however many packets of its machine come meanwhile", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    const found = await Promise.all(Array.from({ length: 50 }, () => records.find(MAC, {})));
    expect(site.asked).toEqual([MAC]);
    expect(found.every(({ verified }) => verified)).toBe(true);
  });

  test("that changes its address is found under the new one, and its old one is nobody's", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    await records.refresh();
    site.now += 1;
    const networking = { ...factsOf().networking, address: "10.0.0.20" };
    site.records = [enrolled({ address: "10.0.0.20", networking })];
    await records.refresh();
    expect([records.macOf("10.0.0.10"), records.macOf("10.0.0.20")]).toEqual([null, MAC]);
  });

  test("that is gone from the list is forgotten", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    await records.refresh();
    site.now += 1;
    site.records = [];
    await records.refresh();
    expect([records.kept(), records.macOf("10.0.0.10")]).toEqual([[], null]);
  });
});

describe("while the control plane is away", () => {
  test("a kept copy speaks, marked as one, until it is as old as the limit", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    await records.refresh();
    site.away = true;
    site.now += 24 * HOUR_MS;
    expect(await records.find(MAC, {})).toMatchObject({ verified: false, facts: { state: "enrolled" } });
    site.now += 1;
    expect(await records.find(MAC, {})).toEqual({ verified: false, facts: null });
  });

  test("a clock that was set back makes a copy too old, not young again", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    await records.refresh();
    site.away = true;
    site.now -= 1;
    expect(await records.find(MAC, {})).toEqual({ verified: false, facts: null });
  });

  test("a copy of an enrolled node holds its root password's hash, which no list takes away and a cleared one does", async () => {
    const { site, open } = fixture([enrolled({ root_password_hash: HASH })]);
    const records = open();
    const hash = async () => (await records.find(MAC, {})).facts?.root_password_hash;
    expect(await hash()).toBe(HASH);
    site.now += 1;
    site.records = [enrolled()];
    await records.refresh();
    site.away = true;
    expect(await hash()).toBe(HASH);
    expect(JSON.stringify(records.kept())).toContain(HASH);
    site.away = false;
    expect(await hash()).toBeNull();
    site.away = true;
    expect(await hash()).toBeNull();
  });

  test("a copy holds no hash of a node that left its record, of a machine that is not enrolled, or past its age", async () => {
    const { site, open } = fixture([enrolled({ root_password_hash: HASH })]);
    const records = open();
    const kept = () => JSON.stringify(records.kept());
    await records.find(MAC, {});
    site.now += 24 * HOUR_MS + 1;
    expect(kept()).not.toContain(HASH);
    await records.find(MAC, {});
    expect(kept()).toContain(HASH);
    site.now += 1;
    site.records = [enrolled({ server_uuid: "99999999-2222-3333-4444-555555555555" })];
    await records.refresh();
    expect(kept()).not.toContain(HASH);
    site.records = [bootFacts(factsOf({ root_password_hash: HASH }))];
    expect((await records.find(MAC, {})).facts?.root_password_hash).toBe(HASH);
    expect(kept()).not.toContain(HASH);
  });

  test("machines that are not known get no answer, all 10,000 of them", async () => {
    const { site, open } = fixture();
    site.away = true;
    const records = open();
    for (let number = 0; number < 10_000; number++) {
      expect(await records.find(macOf(number), {})).toEqual({ verified: false, facts: null });
    }
    expect(records.kept()).toHaveLength(0);
  });

  test("its return is noticed by the next question", async () => {
    const { site, open } = fixture([enrolled()]);
    const records = open();
    site.away = true;
    expect([(await records.find(MAC, {})).verified, records.reachable()]).toEqual([false, false]);
    site.away = false;
    expect([(await records.find(MAC, {})).verified, records.reachable()]).toEqual([true, true]);
  });
});

test("a control plane that hangs holds a bounded number of questions, and a copy answers in time", async () => {
  const { site, open } = fixture([enrolled()]);
  const records = open([], 10);
  await records.refresh();
  site.held = new Promise(() => {});
  site.now += RECORD_FRESH_MS + 1;
  const waiting = Array.from({ length: PENDING_MAX + 100 }, (_, number) => records.find(macOf(number), {}));
  expect(records.pending()).toBe(PENDING_MAX);
  // Beyond the bound nobody is asked: the copy speaks at once.
  expect(await records.find(MAC, {})).toMatchObject({ verified: false, facts: { mac: MAC } });
  await Promise.all(waiting);
  expect(records.pending()).toBe(0);
});

describe("an answer that comes late", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A control plane whose answers wait until they are let go. */
  function late(start: BootFacts[]) {
    const { site, open } = fixture(start);
    let go = () => {};
    const hold = () => void (site.held = new Promise((resolve) => go = resolve));
    return { site, records: open(), hold, go: () => go() };
  }

  test("is waited for by a machine that nobody knows, up to the limit", async () => {
    const { records, hold, go } = late([enrolled({ state: "enrolling", server_uuid: null })]);
    hold();
    const found = records.find(MAC, {});
    await vi.advanceTimersByTimeAsync(LOOKUP_LATE_MS);
    go();
    expect(await found).toMatchObject({ verified: true, facts: { state: "enrolling" } });
  });

  test("is waited for by a machine whose copy may not speak", async () => {
    const { site, records, hold, go } = late([enrolled({ state: "enrolling", server_uuid: null })]);
    await records.find(MAC, {});
    site.now += RECORD_FRESH_MS + 1;
    hold();
    const found = records.find(MAC, {});
    await vi.advanceTimersByTimeAsync(LOOKUP_LATE_MS);
    go();
    expect(await found).toMatchObject({ verified: true, facts: { state: "enrolling" } });
  });

  test("is not waited for where the copy of an enrolled node speaks, and serves the next packet", async () => {
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

  test("past the limit is an answer no more", async () => {
    const { records, hold } = late([enrolled()]);
    hold();
    const found = records.find(MAC, {});
    await vi.advanceTimersByTimeAsync(LOOKUP_LATE_MS + 1_000);
    expect(await found).toEqual({ verified: false, facts: null });
    expect(records.pending()).toBe(0);
  });
});

describe("kept records on disk", () => {
  const SECRET = new Uint8Array(32).fill(1);
  test("come back as they were, and a file that was changed in any byte is not believed", async () => {
    const folder = await temporaryFolder("records");
    try {
      const path = join(folder.path, "records.json");
      expect(await loadKept(path, SECRET)).toEqual([]);
      const kept = [{ facts: enrolled(), verified_at: 7 }];
      await saveKept(path, SECRET, kept);
      expect(await loadKept(path, SECRET)).toEqual(kept);
      expect(await loadKept(path, new Uint8Array(32))).toBeNull();
      const text = await import("node:fs/promises").then(({ readFile }) => readFile(path, "utf8"));
      for (const at of [0, 40, 70, 90, text.length - 3]) {
        await writeFile(path, text.slice(0, at) + (text[at] === "0" ? "1" : "0") + text.slice(at + 1));
        expect(await loadKept(path, SECRET)).toBeNull();
      }
      await writeFile(path, text.slice(0, 100));
      expect(await loadKept(path, SECRET)).toBeNull();
    } finally {
      await folder.remove();
    }
  });

  test("let a booter that starts without its control plane boot enrolled nodes", async () => {
    const { site, open } = fixture();
    site.away = true;
    const records = open([{ facts: enrolled(), verified_at: site.now }]);
    expect(await records.find(MAC, {})).toMatchObject({ verified: false, facts: { state: "enrolled" } });
    expect(records.macOf("10.0.0.10")).toBe(MAC);
  });
});
