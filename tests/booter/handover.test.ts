// Tests the calls of setup scripts that another booter sent: which calls are accepted, and how many calls cause a
// lookup at the control plane. See docs/booting.md, "Two booters on one network".
import { expect, test } from "vitest";
import { ApiFault } from "../../booter/api-client/client.ts";
import { readBooterConfig } from "../../booter/config.ts";
import { newCounters } from "../../booter/counters.ts";
import { HANDOVER_PAUSE_MS, HANDOVERS_PENDING_MAX } from "../../booter/limits.ts";
import { sha256, storeScript } from "../../booter/setup/delivery.ts";
import { type HandoverOptions, withHandover } from "../../booter/setup/handover.ts";
import type { Relayed } from "../../booter/setup/relay.ts";
import type { SetupBundle, SetupScript } from "../../src/contract/setup.ts";
import { SETUP_BLOCK } from "./site.ts";

const TOKEN = "ab".repeat(24);
const ADDRESS = "10.20.0.10";
const MAC = "02:00:00:00:00:01";
const SCRIPT: SetupScript = {
  server_uuid: "6f1c2a52-0d5e-4c7e-9a3b-5a3d7f0b9c11",
  epoch: 7,
  mac: MAC,
  address: ADDRESS,
  completed: false,
};
const BUNDLE: SetupBundle = {
  epoch: 7,
  server_uuid: SCRIPT.server_uuid,
  api_key: "opsk_aaaaaaaaaaaa_0123456789abcdef0123456789abcdef",
  console_ticket_key_hex: "aa",
  imds_token_key_hex: "bb",
  migrate_ticket_key_hex: "cc",
  layout: {
    disk_layout: "mirror",
    disk_width: null,
    disk_spares: null,
    disk_exclude: [],
    disk_cache: true,
    disk_compress: null,
    hostname: null,
  },
  hostname: "node-7",
  root_password_hash: null,
  root_authorized_keys: [],
  macs: [MAC],
};
const FILE = `state_dir = "/s"\nfiles_dir = "/f"\n[control_plane]\nurl = "https://berth.example"\nkey_file = "/k"\n` +
  `[[segment]]\naddress = "10.20.0.1"\nprefix_len = 24\n`;
const PROGRESS = { kind: "progress", step: "pool", message: null, percent: 40 } as const;
const caller = { token: TOKEN, address: ADDRESS };

/**
 * Opens the part of a booter that handles the calls of setup scripts. By default, this booter did not send the script.
 * `site` describes the control plane and the records.
 */
function opened(changes: { own?: Relayed; script?: SetupScript | null } = {}) {
  const site = {
    script: "script" in changes ? changes.script ?? null : SCRIPT,
    own: changes.own ?? "unknown" as Relayed,
    macs: new Map([[ADDRESS, MAC], ["10.20.0.11", "02:00:00:00:00:02"]]),
    now: 1_000,
    away: false,
    /** The calls to the control plane. */
    asked: [] as string[],
    bundle_status: null as number | null,
    report_status: null as number | null,
    held: null as Promise<void> | null,
  };
  async function answer<T>(call: string, status: number | null, value: () => T): Promise<T> {
    site.asked.push(call);
    await site.held;
    if (site.away) throw new ApiFault("no answer", null);
    if (status !== null) throw new ApiFault("refused", status);
    return value();
  }
  const options: HandoverOptions = {
    own: { values: () => Promise.resolve(null), report: () => Promise.resolve(site.own) },
    api: {
      script: (hash) => answer(`script ${hash}`, null, () => hash === sha256(TOKEN) ? site.script : null),
      handOver: ({ epoch }, token) => answer(`bundle ${epoch} ${token}`, site.bundle_status, () => BUNDLE),
      report: (server_uuid, epoch, { kind, ...fields }) =>
        answer(`${kind} ${server_uuid} ${epoch} ${JSON.stringify(fields)}`, site.report_status, () => {}),
    },
    setup: readBooterConfig(`${FILE}${SETUP_BLOCK}`, "booter.toml").ur?.setup ?? null,
    macOf: (address) => site.macs.get(address) ?? null,
    consoleOf: () => Promise.resolve("text"),
    originFor: () => "http://10.20.0.1",
    counters: newCounters(),
    log: () => {},
    now: () => site.now,
  };
  return { site, calls: withHandover(options), options };
}

test("reports and values of a script that another booter sent are relayed with the run's epoch and port", async () => {
  const { site, calls } = opened();
  expect(await calls.values(caller)).toContain(`server_uuid\t${SCRIPT.server_uuid}\n`);
  expect(await calls.report(caller, PROGRESS)).toBe("taken");
  expect(await calls.report(caller, { kind: "complete" })).toBe("taken");
  const { server_uuid } = SCRIPT;
  expect(site.asked.filter((call) => !call.startsWith("script "))).toEqual([
    `bundle 7 ${TOKEN}`,
    `progress ${server_uuid} 7 {"step":"pool","message":null,"percent":40}`,
    `complete ${server_uuid} 7 {"mac":"${MAC}"}`,
  ]);
});

test("a call of the booter's own script causes no lookup if the call was accepted or got no answer", async () => {
  for (const own of ["taken", "away"] as const) {
    const { site, calls } = opened({ own });
    expect([await calls.report(caller, PROGRESS), site.asked]).toEqual([own, []]);
  }
});

const STRANGERS: Record<string, Parameters<typeof opened>[0] & { token?: string; address?: string; mac?: string }> = {
  "another token": { token: "cd".repeat(24) },
  "the token from another machine's address": { address: "10.20.0.11" },
  "an address whose boot record has another port": { mac: "02:00:00:00:00:03" },
  "the token of an ended run": { script: null },
};
test.each(Object.keys(STRANGERS))("a call with %s is refused, and relays nothing", async (name) => {
  const { token = TOKEN, address = ADDRESS, mac, ...changes } = STRANGERS[name]!;
  const { site, calls } = opened(changes);
  if (mac !== undefined) site.macs.set(address, mac);
  expect(await calls.values({ token, address })).toBeNull();
  site.now += HANDOVER_PAUSE_MS;
  expect(await calls.report({ token, address }, PROGRESS)).toBe("unknown");
  expect(site.asked).toEqual(Array(2).fill(`script ${sha256(token)}`));
});

test("an address without a boot record causes no lookup", async () => {
  const { site, calls } = opened();
  const stranger = { token: TOKEN, address: "10.20.0.99" };
  expect([await calls.values(stranger), await calls.report(stranger, PROGRESS)]).toEqual([null, "unknown"]);
  expect(site.asked).toEqual([]);
});

test("after a refused lookup, an address causes no lookup until exactly HANDOVER_PAUSE_MS have passed", async () => {
  const { site, calls } = opened();
  const wrong = { token: "cd".repeat(24), address: ADDRESS };
  await calls.report(wrong, PROGRESS);
  for (let n = 0; n < 100; n += 1) await calls.report(wrong, PROGRESS);
  site.now += HANDOVER_PAUSE_MS - 1;
  expect(await calls.report(caller, PROGRESS)).toBe("unknown");
  expect(site.asked).toHaveLength(1);
  // Other addresses are not affected.
  await calls.report({ ...wrong, address: "10.20.0.11" }, PROGRESS);
  expect(site.asked).toHaveLength(2);
  site.now += 1;
  expect(await calls.report(caller, PROGRESS)).toBe("taken");
});

test("while HANDOVERS_PENDING_MAX lookups wait, the next call causes no lookup, and its answer asks for a retry", async () => {
  const { site, calls } = opened();
  let release = () => {};
  site.held = new Promise((resolve) => release = resolve);
  const waiting = Array.from({ length: HANDOVERS_PENDING_MAX }, () => calls.report(caller, PROGRESS));
  expect(await calls.report(caller, PROGRESS)).toBe("away");
  expect(site.asked).toHaveLength(HANDOVERS_PENDING_MAX);
  site.held = null;
  release();
  expect(await Promise.all(waiting)).toEqual(Array(HANDOVERS_PENDING_MAX).fill("taken"));
  expect(await calls.report(caller, PROGRESS)).toBe("taken");
});

test("the answer asks for a retry if the control plane does not answer, or answers the relayed call with 503 or 429", async () => {
  const { site, calls } = opened();
  site.away = true;
  expect(await calls.report(caller, PROGRESS)).toBe("away");
  await expect(calls.values(caller)).rejects.toThrow("does not answer");
  site.away = false;
  for (const [status, expected] of [[503, "away"], [429, "away"], [409, "stale"]] as const) {
    site.report_status = status;
    expect(await calls.report(caller, PROGRESS)).toBe(expected);
  }
});

test("the values are refused after the first report of the run", async () => {
  const { site, calls } = opened();
  site.bundle_status = 409;
  expect(await calls.values(caller)).toBeNull();
  site.bundle_status = 503;
  await expect(calls.values(caller)).rejects.toThrow("refused");
});

test("a completed run confirms its last report, but serves no values and accepts no other report", async () => {
  for (const own of ["unknown", "stale"] as const) {
    const { site, calls } = opened({ own, script: { ...SCRIPT, completed: true } });
    expect(await calls.report(caller, { kind: "complete" })).toBe("taken");
    expect(await calls.report(caller, { kind: "failed", reason: "late" })).toBe("stale");
    expect(await calls.values(caller)).toBeNull();
    expect(site.asked.every((call) => call.startsWith("script "))).toBe(true);
  }
});

test("a report that the control plane refused for the booter's own run is not relayed again", async () => {
  const { site, calls } = opened({ own: "stale" });
  expect(await calls.report(caller, PROGRESS)).toBe("stale");
  expect(site.asked).toHaveLength(1);
});

test.each([
  ["the control plane stores is sent", null, null],
  ["a control plane of an earlier release cannot store is sent", 404, null],
  ["must not run beside another script is not sent", 409, "refused"],
])("a script that %s", async (_name, status, reason) => {
  const stored: unknown[] = [];
  const api = {
    delivered(server_uuid: string, script: unknown) {
      stored.push([server_uuid, script]);
      return status === null ? Promise.resolve() : Promise.reject(new ApiFault("refused", status));
    },
  };
  const delivered = { epoch: 7, token_sha256: sha256(TOKEN), mac: MAC, address: ADDRESS };
  const sending = { ...delivered, reported: false, failure: null };
  expect(await storeScript(api, SCRIPT.server_uuid, sending)).toBe(reason);
  expect(stored).toEqual([[SCRIPT.server_uuid, delivered]]);
});

test.each([null, 429, 503])(
  "a script is not sent if the request that stores the script is answered with %s",
  async (status) => {
    const api = { delivered: () => Promise.reject(new ApiFault("no answer", status)) };
    const sending = { epoch: 7, token_sha256: "", mac: MAC, address: ADDRESS, reported: false, failure: null };
    await expect(storeScript(api, SCRIPT.server_uuid, sending)).rejects.toThrow("no answer");
  },
);

test("a booter without [ur.setup] asks for no bundle", async () => {
  const { site, options } = opened();
  expect(await withHandover({ ...options, setup: null }).values(caller)).toBeNull();
  expect(site.asked).toEqual([]);
});
