// Tests outputs of opsctl that scripts read. The outputs of `opsctl cn` have a test file of their own.
import { expect, test } from "vitest";
import { answering, KEY_ID } from "./answering.ts";
import { type Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";

test.each([["5", 5], ["true", true], ["null", null], ["memory", "memory"], ['"5"', "5"], ["[1]", [1]]])(
  "`config set` sends %s as JSON if it is valid JSON, and otherwise as a string",
  async (text, value) => {
    const server: Server = () => ({ body: { key: "a.b", value, env_override: null, restart_required: false } });
    const ran = await opsctl(["config", "set", "a.b", text], { server });
    expect(ran.asked[0]).toMatchObject({ method: "PUT", path: "/v1/config/a.b", body: { value } });
  },
);

test.each([["image.uploaded_bytes_max", "20GiB", 21_474_836_480], ["quota.tenant_default.disk_bytes", "null", null], [
  "instance.memory_bytes_min",
  "16777216",
  16_777_216,
], ["metrics.backend", "20GiB", "20GiB"]])(
  "`config set %s %s` sends a size as bytes if the setting is in bytes",
  async (
    key,
    text,
    value,
  ) => {
    const ran = await opsctl(["config", "set", key, text], answering({ key, value, env_override: null }));
    expect(ran.asked[0]!.body).toEqual({ value });
  },
);

test("`config list` prints no column for restart_required, which is false for every setting", async () => {
  const setting = { key: "a", value: 1, default: 2, env_override: "BERTH_A", restart_required: true, description: "" };
  const ran = await opsctl(["config", "list"], answering([setting]));
  expect(ran.out()).toBe("KEY  VALUE  DEFAULT  ENV_OVERRIDE\na    1      2        BERTH_A\n");
});

test("`config list -o wide` and --columns print the descriptions of the settings", async () => {
  const setting = {
    key: "a",
    value: 1,
    default: 2,
    env_override: null,
    restart_required: false,
    description: "Seconds",
  };
  const wide = await opsctl(["config", "list", "-o", "wide"], answering([setting]));
  expect(wide.out()).toBe(
    "KEY  VALUE  DEFAULT  ENV_OVERRIDE  DESCRIPTION\na    1      2        -             Seconds\n",
  );
  const chosen = await opsctl(["config", "list", "--columns", "key,description"], answering([setting]));
  expect(chosen.out()).toBe("KEY  DESCRIPTION\na    Seconds\n");
});

test("`config set` and `config unset` print a note only if a variable overrides the setting", async () => {
  const setting = { key: "a", value: 1, default: 2, env_override: "BERTH_A", restart_required: true, description: "" };
  const shadowed = await opsctl(["config", "set", "a", "1"], answering(setting));
  expect(shadowed.out()).toBe("Stored the value of a; the value in effect stays 1\n");
  expect(shadowed.err()).toContain("BERTH_A");
  const stored = await opsctl(["config", "unset", "a"], answering({ ...setting, env_override: null }));
  expect(stored.err()).toBe("");
});

test("`image show` prints the size in the form of a list and in bytes", async () => {
  const id = "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012";
  const image = { id, name: "debian", os: "linux", version: "12", size_bytes: 1_610_612_736, sha256: "ab" };
  const ran = await opsctl(["image", "show", id], answering(image));
  expect(ran.out()).toMatch(/^size: +1\.5GiB \(1610612736 bytes\)$/m);
});

test("`api-key create` prints only the secret on stdout", async () => {
  const key = { id: KEY_ID, scope: "read_only", description: "d", secret: "opsk_x" };
  const ran = await opsctl(["api-key", "create", "--description", "d", "--scope", "read_only"], answering(key));
  expect(ran.asked[0]!.body).toEqual({ description: "d", scope: "read_only" });
  expect(ran.out()).toBe("opsk_x\n");
  expect(ran.err()).toContain("not shown again");
  expect(ran.err()).not.toContain("opsk_x");
});

test.each([
  ["2027-01-31", "2027-01-31T00:00:00Z"],
  ["2027-01-31T12:00:00+01:00", "2027-01-31T12:00:00+01:00"],
])("`api-key create --expires-at %s` sends %s: a day means its start in UTC", async (text, expires_at) => {
  const key = { id: KEY_ID, scope: "full", description: "d", secret: "opsk_x" };
  const ran = await opsctl(["api-key", "create", "--description", "d", "--expires-at", text], answering(key));
  expect(ran.asked[0]!.body).toEqual({ description: "d", expires_at });
});

test.each(["2027-02-30", "2027-1-31", "tomorrow"])(
  "`api-key create --expires-at %s` is refused before any request",
  async (text) => {
    const ran = await opsctl(["api-key", "create", "--description", "d", "--expires-at", text]);
    expect([ran.code, ran.asked]).toEqual([2, []]);
    expect(ran.err()).toContain("It must be a day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z.");
  },
);

test("`api-key list` prints its columns", async () => {
  const key = { id: "k1", scope: "full", description: "ci", created_at: "t1", expires_at: null, last_used_at: "t2" };
  const ran = await opsctl(["api-key", "list"], answering([key]));
  expect(ran.out()).toBe(
    "ID  SCOPE  DESCRIPTION  AGE  EXPIRES_AT  LAST_USED  TENANT\nk1  full   ci           t1   -           t2         -\n",
  );
});

test("`audit verify` prints the last verified seq; if the chain is broken, it exits 1 and prints the seq of the break", async () => {
  const head = { seq: 7, hash: "ab".repeat(32) };
  const good = await opsctl(["audit", "verify"], answering({ outcome: { Ok: { verified_to: 7 } }, head }));
  expect(good.out()).toBe(`Audit chain verified to seq 7 (head ${head.hash})\n`);
  const mismatch = { outcome: { Mismatch: { seq: 3, message: "hash differs" } }, head };
  const bad = await opsctl(["audit", "verify"], answering(mismatch));
  expect([bad.code, bad.err()]).toEqual([1, "error: the audit chain is broken at seq 3: hash differs\n"]);
  const json = await opsctl(["audit", "verify", "--json"], answering(mismatch));
  expect([json.code, JSON.parse(json.out())]).toEqual([1, mismatch]);
  const empty = await opsctl(["audit", "verify"], answering({ outcome: { Ok: { verified_to: null } }, head: null }));
  expect(empty.out()).toBe("Audit chain is empty\n");
});

test("`audit verify` refuses a range that begins after its end or after the last event", async () => {
  const backwards = await opsctl(["audit", "verify", "--from", "100", "--to", "5"]);
  expect([backwards.code, backwards.err(), backwards.asked]).toEqual([2, "error: --from is after --to\n", []]);
  const nothing = { outcome: { Ok: { verified_to: null } }, head: { seq: 7, hash: "ab".repeat(32) } };
  const beyond = await opsctl(["audit", "verify", "--from", "99999"], answering(nothing));
  expect([beyond.code, beyond.out(), beyond.err()]).toEqual([
    2,
    "",
    "error: --from 99999 is after the last event, which has seq 7\n",
  ]);
  const last = { ...nothing, outcome: { Ok: { verified_to: 7 } } };
  expect((await opsctl(["audit", "verify", "--from", "7", "--to", "7"], answering(last))).code).toBe(0);
});

test("`config set` names the setting in the error about a value that is neither a percentage nor a fraction", async () => {
  const ran = await opsctl(["config", "set", "reservoir.percent_default", "50"], answering({}));
  expect([ran.code, ran.err()]).toEqual([
    2,
    "error: 50 is not a value of reservoir.percent_default. It must be 0% to 100%, or a fraction from 0 to 1. " +
    "Did you mean 50%?\n",
  ]);
});

test.each([["get", []], ["set", ["80%"]], ["unset", []]])(
  "the error of `config` %s for an unknown setting offers a similar key, or the command that lists the keys",
  async (verb, value) => {
    const server: Server = ({ path }) =>
      path === "/v1/config"
        ? { body: [{ key: "reservoir.percent_default" }] }
        : { status: 404, body: { message: "Not Found", error_code: "NotFound" } };
    const run = async (key: string) => (await opsctl(["config", verb, key, ...value], { server }));
    const near = await run("reservoir.percent_defualt");
    expect([near.code, near.err()]).toEqual([
      3,
      "error: no setting has the key reservoir.percent_defualt; did you mean reservoir.percent_default?\n",
    ]);
    expect((await run("x")).err()).toBe("error: no setting has the key x; to list them, run: opsctl config list\n");
  },
);
