// Tests the root password and the placement traits of a node, which operators can change in every state, and the
// cluster's setting of root's authorized keys. docs/reliability.md S-20.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { dumpTables, tablesWith } from "../support/dump.ts";
import { sha512Crypt } from "../../src/lib/crypto/sha512-crypt.ts";
import { expectInvariants } from "./invariants.ts";
import {
  announce,
  awaitingSetup,
  newMachine,
  onNode,
  putPolicy,
  rowOf,
  seen,
  settingUp,
  setUp,
  showNode,
  sysinfoOf,
} from "./machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  okOf(await putPolicy(t));
});
afterAll(() => t.close());
afterEach(() => expectInvariants(t.db));

type Node = { readonly server_uuid: string };

/** Creates a node in each state. */
async function nodes(): Promise<Record<string, Node>> {
  const disabled = await setUp(t);
  okOf(await onNode(t, "POST", disabled, "/disable"));
  return {
    pending: await t.register(),
    approved: await setUp(t),
    disabled,
    awaiting_setup: await awaitingSetup(t),
    setting_up: await settingUp(t),
  };
}

describe("S-20: the root password", () => {
  const set = (node: Node, body: unknown) => onNode(t, "POST", node, "/root-password", body);
  const hashOf = async (node: Node) => (await rowOf(t, node))?.root_password_hash;
  const KNOWN = `$6$saltstring$${"./Az09".repeat(14)}a.`;

  test("is stored only as a sha512-crypt hash, with a new salt each time; password and hash appear nowhere else", async () => {
    const node = await awaitingSetup(t);
    const answer = await set(node, { password: "correct horse battery" });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(await showNode(t, node));
    const first = String(await hashOf(node));
    expect(first).toMatch(/^\$6\$[./A-Za-z0-9]{16}\$[./A-Za-z0-9]{86}$/);
    expect(sha512Crypt("correct horse battery", first.split("$")[2] ?? "")).toBe(first);
    expect(answer.text).not.toContain("$6$");
    okOf(await set(node, { password: "correct horse battery" }));
    const second = String(await hashOf(node));
    expect(second).not.toBe(first);
    await t.plane.pass();
    const dump = await dumpTables(t.db);
    expect(tablesWith(dump, "correct horse")).toEqual([]);
    expect(tablesWith(dump, second)).toEqual(["cn"]);
    expect(tablesWith(dump, first)).toEqual([]);
  });

  test("hash is in the answer to the booter when an enrolled node boots, and in no answer to an operator", async () => {
    const node = await setUp(t);
    const { rows } = await t.db.query<{ mac: string }>("select mac from boot_record where server_uuid = $1", [
      node.server_uuid,
    ]);
    const mac = rows[0]!.mac;
    const booter = (await t.mintKey("booter")).secret;
    const seen = async () => okOf(await t.call("POST", "/v2/booter/seen", { key: booter, body: { mac } }));
    expect(await seen()).not.toHaveProperty("root_password_hash");
    okOf(await set(node, { password_hash: KNOWN }));
    expect(await seen()).toMatchObject({ mac, state: "enrolled", root_password_hash: KNOWN });
    for (const path of ["/v2/cn-boot", `/v2/cn-boot/${mac}`, `/v1/system/cns/${node.server_uuid}`]) {
      expect((await t.call("GET", path)).text).not.toContain("$6$");
    }
    okOf(await set(node, {}));
    expect(await seen()).not.toHaveProperty("root_password_hash");
  });

  test("hash is in the answer to the booter, even if a foreign machine announced the port of the node as its own", async () => {
    const node = await awaitingSetup(t);
    const [mac = ""] = node.macs;
    okOf(await set(node, { password_hash: KNOWN }));
    for (const first of ["0", "f"]) {
      const foreign = newMachine(1);
      const server_uuid = `${first.repeat(8)}${foreign.server_uuid.slice(8)}`;
      okOf(await announce(t, { ...foreign, server_uuid, sysinfo: sysinfoOf([...foreign.macs, mac]) }));
    }
    expect(okOf(await seen(t, mac))).toMatchObject({ mac, server_uuid: null, root_password_hash: KNOWN });
  });

  test("hash can be given as password_hash, and is stored verbatim", async () => {
    const node = await awaitingSetup(t);
    okOf(await set(node, { password_hash: KNOWN }));
    expect(await hashOf(node)).toBe(KNOWN);
  });

  test.each([[{}], [{ password: "" }], [{ password_hash: "" }], [{ password: "", password_hash: "" }], [{
    password: null,
    password_hash: null,
  }]])("hash is cleared by the body %j", async (body) => {
    const node = await awaitingSetup(t);
    okOf(await set(node, { password: "to be cleared" }));
    expect((await set(node, body)).status).toBe(200);
    expect(await hashOf(node)).toBeNull();
  });

  test.each<[unknown]>([
    [{ password: "a", password_hash: KNOWN }],
    [{ password_hash: "$6$salt" }],
    [{ password_hash: "$5$salt$" + "a".repeat(43) }],
    [{ password_hash: `$6$rounds=999999999$salt$${"a".repeat(86)}` }],
    [{ password_hash: `$6$sa lt$${"a".repeat(86)}` }],
    [{ password_hash: `$6$salt$${"a".repeat(85)};` }],
    [{ password_hash: `$6$salt$${"a".repeat(86)}\n` }],
    [{ password_hash: 6 }],
    [{ password: "p".repeat(1_025) }],
    [{ password: "null\u0000byte" }],
    [{ passwd: "x" }],
    ["text"],
  ])("stays unchanged, and the request gets 400, with the body %j", async (body) => {
    const node = await awaitingSetup(t);
    okOf(await set(node, { password: "stays" }));
    const before = await hashOf(node);
    expect((await set(node, body)).status).toBe(400);
    expect(await hashOf(node)).toBe(before);
  });

  test("can be set in every state and is not in the audit log; an unknown node gets 404", async () => {
    for (const [state, node] of Object.entries(await nodes())) {
      expect([state, (await set(node, { password: "any state" })).status]).toEqual([state, 200]);
      expect((await showNode(t, node)).state).toBe(state);
    }
    expect((await set({ server_uuid: randomUUID() }, { password: "x" })).status).toBe(404);
    const { rows } = await t.db.query(
      "select distinct audit->'payload'->>'cleared' as cleared from transition where audit->>'action' = 'cn_root_password'",
    );
    expect(rows.map(({ cleared }) => cleared).sort()).toEqual(["false", "true"]);
  });
});

describe("traits", () => {
  const set = (node: Node, traits: unknown) => onNode(t, "POST", node, "/traits", { traits });
  const get = async (node: Node) => (await onNode(t, "GET", node, "/traits")).body;

  test("a node has no traits by default; a change replaces all traits", async () => {
    const node = await awaitingSetup(t);
    expect(await get(node)).toEqual({ traits: {} });
    const first = await set(node, { rack: "7", gpu: "no" });
    expect([first.status, first.body]).toEqual([200, { traits: { rack: "7", gpu: "no" } }]);
    expect(okOf(await set(node, { disk: "nvme" }))).toEqual({ traits: { disk: "nvme" } });
    expect(await get(node)).toEqual({ traits: { disk: "nvme" } });
    expect(okOf(await set(node, {}))).toEqual({ traits: {} });
    expect(await get(node)).toEqual({ traits: {} });
  });

  test("traits and the reservoir override are independent", async () => {
    const node = await awaitingSetup(t);
    const reservoir = { reservoir_enabled: false, reservoir_percent: 0.25 };
    okOf(await set(node, { rack: "1" }));
    okOf(await onNode(t, "POST", node, "/reservoir", reservoir));
    expect(await get(node)).toEqual({ traits: { rack: "1" } });
    okOf(await set(node, { rack: "2" }));
    expect(okOf(await onNode(t, "POST", node, "/reservoir", reservoir))).toMatchObject(reservoir);
    expect(await get(node)).toEqual({ traits: { rack: "2" } });
  });

  test("keys and values of 63 bytes are accepted", async () => {
    const traits = { ["k".repeat(63)]: "v".repeat(63), ["é".repeat(31)]: "é".repeat(31), __proto__x: "1" };
    expect(okOf(await set(await awaitingSetup(t), traits))).toEqual({ traits });
  });

  test.each<[unknown]>([
    [{ rack: null }],
    [{ rack: 7 }],
    [{ rack: "" }],
    [{ "": "x" }],
    [{ rack: "v".repeat(64) }],
    [{ ["k".repeat(64)]: "v" }],
    [{ rack: "é".repeat(32) }],
    [["rack"]],
    [null],
    [undefined],
  ])("the value %j gets 400, and the old traits stay", async (traits) => {
    const node = await awaitingSetup(t);
    okOf(await set(node, { rack: "stays" }));
    expect((await set(node, traits)).status).toBe(400);
    expect(await get(node)).toEqual({ traits: { rack: "stays" } });
  });

  test("a body with another field than traits gets 400", async () => {
    const body = { traits: {}, clear: ["rack"] };
    expect((await onNode(t, "POST", await awaitingSetup(t), "/traits", body)).status).toBe(400);
  });

  test("traits can be set in every state; an unknown node gets 404", async () => {
    for (const node of Object.values(await nodes())) expect((await set(node, { rack: "1" })).status).toBe(200);
    const unknown = { server_uuid: randomUUID() };
    expect([(await set(unknown, {})).status, (await onNode(t, "GET", unknown, "/traits")).status]).toEqual([404, 404]);
  });
});

describe("root_authorized_keys", () => {
  const KEYS = [
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFF0a1Zy0o6cYUEhQrbBs7r2Yk1wKq0mS0Q4o7Y3x9aB ops@example",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGG0a1Zy0o6cYUEhQrbBs7r2Yk1wKq0mS0Q4o7Y3x9aB",
  ];
  const put = (value: unknown) => t.call("PUT", "/v1/config/cn.root_authorized_keys", { body: { value } });

  test("are in the agent's configuration as soon as they are set", async () => {
    const { api_key } = await setUp(t);
    const config = async () => (await t.call("GET", "/v1/agent/config", { key: api_key })).body;
    expect(await config()).toMatchObject({ root_authorized_keys: [], reservoir_enabled: true });
    okOf(await put(KEYS));
    expect((await config()).root_authorized_keys).toEqual(KEYS);
    okOf(await t.call("DELETE", "/v1/config/cn.root_authorized_keys"));
    expect((await config()).root_authorized_keys).toEqual([]);
  });

  test.each<[unknown]>([
    [["ssh-ed25519"]],
    [["ssh-dss AAAAB3NzaC1kc3MAAACBAOeB1234567890"]],
    [[`${KEYS[0]}\ncommand="evil" ${KEYS[1]}`]],
    [[`command="x" ${KEYS[0]}`]],
    [KEYS[0]],
    [[1]],
  ])("cannot be %j: the request gets 400", async (value) => expect((await put(value)).status).toBe(400));
});
