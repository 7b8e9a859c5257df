// Tests outputs of `opsctl cn` that scripts read.
import { expect, test } from "vitest";
import { NO_ADMIN_IP, NO_UNDERLAY_ADDRESS } from "../../src/lib/node-doctor/finding.ts";
import { answering, KEY_ID } from "./answering.ts";
import { type Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";
import { node, NODE_ID } from "./records.ts";

const CLAIM = {
  claim_code: "ABC-123",
  claim_code_expires_at: "2026-11-21T11:00:00Z",
  hostname: "rack1-n4",
  admin_ip: "10.0.0.9",
  serial: "TAG1",
  macs: ["02:00:00:00:00:01"],
  source: "192.0.2.7",
  differs: ["admin_ip" as const],
};
/** Returns a control plane with one node that has a claim. */
const claimed = (change = {}): { server: Server } => ({
  server: ({ method, path }) => {
    const one = node({ claims: [CLAIM], identity_conflict: true, ...change });
    return { body: method === "GET" && path === "/v1/system/cns" ? { items: [one] } : one };
  },
});

test("`cn list` prints in READY whether a node is usable, and in CLAIMS its number of claims and whether one differs from the record", async () => {
  const wall_ms = Date.parse("2026-11-21T10:05:00Z");
  const verdict = { usable: false, findings: [{ level: "stops", text: "an operator disabled it", mend: null }] };
  const listing = (items: unknown[]): Server => ({ path }) => ({
    body: !path.endsWith("/doctor") ? { items } : path.includes(KEY_ID) ? verdict : { usable: true, findings: [] },
  });
  const other = node({ server_uuid: KEY_ID, hostname: "b", state: "disabled", last_seen: "2026-11-21T10:04:30Z" });
  const plain = [node({ claims: [{ ...CLAIM, differs: [] }], identity_conflict: false }), other];
  expect((await opsctl(["cn", "list"], { server: listing(plain), wall_ms })).out()).toBe(
    `NAME      ID                                    STATE     LAST_SEEN  AGE  ROLE    ADMIN_IP  VERSION  READY
rack1-n4  ${NODE_ID}  pending   -          5m   tenant  -         1.4.0    yes
b         ${KEY_ID}  disabled  30s        5m   tenant  -         1.4.0    no (an operator disabled it)
`,
  );
  const csv = await opsctl(["cn", "list", "-o", "csv", "--filter", "name=b"], { server: listing(plain), wall_ms });
  expect(csv.out()).toContain("name,id,state,last_seen,role,");
  expect(csv.out()).toContain(`b,${KEY_ID},disabled,2026-11-21T10:04:30Z,tenant,`);
  const items = [node(), { ...other, claims: [CLAIM], identity_conflict: true }];
  const marked = await opsctl(["cn", "list", "--columns", "name,claims"], { server: listing(items), wall_ms });
  expect(marked.out()).toBe("NAME      CLAIMS\nrack1-n4  -\nb         1 (differs)\n");
});

test("`cn list` prints CONFLICT if a second machine announced the UUID of a node", async () => {
  const conflict = { announced_at: "2026-11-21T10:00:00Z", hostname: "twin\u001b", macs: ["02:00:00:00:00:99"] };
  const items = [node({ conflict }), node({ server_uuid: KEY_ID, hostname: "b" })];
  const findings = [{ level: "warns", text: "another machine sent its UUID", mend: null }];
  const server: Server = ({ path }) => ({
    body: path.endsWith("/doctor") ? { usable: true, findings: path.includes(KEY_ID) ? findings : [] } : { items },
  });
  const ran = await opsctl(["cn", "list", "--columns", "name,conflict,ready"], { server });
  expect(ran.out()).toBe(
    `NAME      CONFLICT                    READY
rack1-n4  twin\\x1b 02:00:00:00:00:99  yes
b         -                           yes (another machine sent its UUID)
`,
  );
});

test("`cn list` omits the warnings about missing addresses from READY", async () => {
  const missing = [NO_ADMIN_IP, NO_UNDERLAY_ADDRESS].map((text) => ({ level: "warns", text, mend: null }));
  const reserved = { level: "warns", text: "it is reserved", mend: null };
  const items = [node(), node({ server_uuid: KEY_ID, hostname: "b" })];
  const server: Server = ({ path }) => ({
    body: path.endsWith("/doctor")
      ? { usable: true, findings: path.includes(KEY_ID) ? [...missing, reserved] : missing }
      : { items },
  });
  const ran = await opsctl(["cn", "list", "--columns", "name,ready"], { server });
  expect(ran.out()).toBe("NAME      READY\nrack1-n4  yes\nb         yes (it is reserved)\n");
});

test("`cn list` without nodes prints a note", async () => {
  expect((await opsctl(["cn", "list"], answering({ items: [] }))).out()).toBe("(no compute nodes)\n");
});

test("`cn show` prints the claim code and the key id only if the node has these", async () => {
  const pending = node({ claim_code: "ABC-123", claim_code_expires_at: "2026-11-21T11:00:00Z" });
  expect((await opsctl(["cn", "show", NODE_ID], answering(pending))).out()).toBe(
    `state:                  pending
role:                   tenant
labels:                 -
hostname:               rack1-n4
admin_ip:               -
registered_at:          2026-11-21T10:00:00Z
approved_at:            -
last_seen:              -
agent_version:          1.4.0
claim_code:             ABC-123
claim_code_expires_at:  2026-11-21T11:00:00Z
sysinfo:
  {
    "MiB of Memory": 131072
  }
`,
  );
  const approved = (await opsctl(["cn", "show", NODE_ID], answering(node({ bound_api_key_id: KEY_ID })))).out();
  expect(approved).toContain(`bound_api_key_id:  ${KEY_ID}\nsysinfo:`);
  expect(approved).not.toContain("claim_code");
});

test("`cn show --json` prints the whole record", async () => {
  const ran = await opsctl(["cn", "show", NODE_ID, "--json"], answering(node()));
  expect(JSON.parse(ran.out())).toEqual(node());
});

test.each([["ABC-123"], ["abc123"], [" a b-c 1-23 "], ["abc", "123"]])(
  "`cn approve` accepts the claim code %j",
  async (...argv) => {
    const ran = await opsctl(["cn", "approve", "--yes", ...argv], claimed({ bound_api_key_id: KEY_ID }));
    expect(ran.asked.at(-1)).toMatchObject({ method: "POST", path: "/v1/cn-approvals", body: { code: "ABC123" } });
    expect(ran.out()).toBe(`Approved CN ${NODE_ID}; bound api key id ${KEY_ID}\n`);
  },
);

test("`cn approve` prints (none) if no key is bound", async () => {
  const ran = await opsctl(["cn", "approve", "--yes", "ABC123"], claimed());
  expect(ran.out()).toBe(`Approved CN ${NODE_ID}; bound api key id (none)\n`);
});

test("`cn approve` shows the claim and its differences before it asks for confirmation", async () => {
  const ran = await opsctl(["cn", "approve", "ABC123"], {
    ...claimed({ state: "approved" }),
    isTTY: true,
    typed: ["no"],
  });
  expect(ran.asked.map(({ method }) => method)).not.toContain("POST");
  for (const text of ["TAG1", "02:00:00:00:00:01", "10.0.0.9", "192.0.2.7", "admin_ip (the record has none)"]) {
    expect(ran.err()).toContain(text);
  }
  expect(ran.err()).toContain("replaces its key");
  const agreed = await opsctl(["cn", "approve", "ABC123"], { ...claimed(), isTTY: true, typed: ["rack1-n4"] });
  expect(agreed.asked.at(-1)).toMatchObject({ method: "POST", path: "/v1/cn-approvals" });
});

test("`cn approve` needs a terminal or --yes if the claim differs from the record", async () => {
  const ran = await opsctl(["cn", "approve", "ABC123"], claimed());
  expect(ran.code).toBe(2);
  expect(ran.asked.map(({ method }) => method)).not.toContain("POST");
});

test("`cn disable --yes` sends one request and prints the node", async () => {
  const ran = await opsctl(["cn", "disable", NODE_ID.toUpperCase(), "--yes"], answering(node({ state: "disabled" })));
  expect(ran.asked.map(({ path }) => path)).toEqual([`/v1/cns/${NODE_ID}/disable`]);
  expect(ran.out()).toBe(`Disabled CN ${NODE_ID} (state=disabled)\n`);
});

test("`cn label set --role` sends the role and prints it", async () => {
  const ran = await opsctl(["cn", "label", "set", NODE_ID, "--role", "edge"], answering(node({ role: "edge" })));
  expect(ran.asked[0]).toMatchObject({ path: `/v1/cns/${NODE_ID}/role`, body: { role: "edge" } });
  expect(ran.out()).toBe(`Set CN ${NODE_ID} role to edge\n`);
});

test("`cn label set` sets and removes labels, and is a usage error without a label and a role", async () => {
  const answer = answering({ labels: { rack: "a3" } });
  const ran = await opsctl(["cn", "label", "set", NODE_ID, "rack=a3", "--remove-label", "power"], answer);
  expect(ran.asked).toMatchObject([
    { method: "PATCH", path: `/v1/cns/${NODE_ID}/placement`, body: { labels: { rack: "a3", power: null } } },
  ]);
  expect(ran.out()).toBe(`Set CN ${NODE_ID} labels to rack=a3\n`);
  for (const words of [[], ["rack"]]) {
    expect(await opsctl(["cn", "label", "set", NODE_ID, ...words], answer)).toMatchObject({ code: 2, asked: [] });
  }
});

test("`cn approve` approves each of several codes", async () => {
  const ran = await opsctl(["cn", "approve", "4Q7-9KZ", "abc", "123", "XYZ987", "--yes"], {
    server: ({ method }) => ({ body: method === "GET" ? { items: [] } : node({ state: "approved" }) }),
  });
  const sent = ran.asked.filter(({ method }) => method === "POST").map(({ body }) => body);
  expect(sent).toEqual([{ code: "4Q79KZ" }, { code: "ABC123" }, { code: "XYZ987" }]);
});

test("`cn approve` names the code that the server refuses", async () => {
  const body = { message: "claim code must be 6 chars", request_id: "r" };
  const ran = await opsctl(["cn", "approve", "4Q7-9KZ", "NOP-E12", "--yes"], {
    server: ({ method, body: sent }) =>
      method === "GET"
        ? { body: { items: [] } }
        : (sent as { code: string }).code === "NOPE12"
        ? { status: 400, body }
        : { body: node({ state: "approved" }) },
  });
  expect(ran.err()).toContain("error: NOPE12: claim code must be 6 chars");
  expect(ran.out()).toContain(`Approved CN ${NODE_ID}`);
});

test("`cn reservoir set` sends both fields, with null for an omitted option", async () => {
  const view = { server_uuid: NODE_ID, reservoir_enabled: null, reservoir_percent: 0.5 };
  const answer = answering({ ...view, effective_enabled: true, effective_percent: 0.5 });
  const ran = await opsctl(["cn", "reservoir", "set", NODE_ID, "--percent", "0.5"], answer);
  expect(ran.asked[0]!.body).toEqual({ reservoir_enabled: null, reservoir_percent: 0.5 });
  expect(ran.out()).toBe(
    "reservoir_enabled:  (inherit)\nreservoir_percent:  0.5\neffective_enabled:  true\neffective_percent:  0.5\n",
  );
  const off = await opsctl(["cn", "reservoir", "set", NODE_ID, "--enabled", "false", "--percent", "7.5%"], answer);
  expect(off.asked[0]!.body).toEqual({ reservoir_enabled: false, reservoir_percent: 0.075 });
  const clear = await opsctl(["cn", "reservoir", "clear", NODE_ID], answer);
  expect(clear.asked[0]!.body).toEqual({ reservoir_enabled: null, reservoir_percent: null });
});

const WINDOW = {
  opened_at: "2026-11-21T10:00:00Z",
  expires_at: "2026-11-21T11:00:00Z",
  remaining_count: null,
  opened_by: "u1",
};
const WINDOW_LINES = [
  "opened_at:        2026-11-21T10:00:00Z",
  "expires_at:       2026-11-21T11:00:00Z",
  "remaining_count:  (unlimited)",
  "opened_by:        u1",
];

test("`cn auto-approve status` prints the open window, or a note if no window is open", async () => {
  const argv = ["cn", "auto-approve", "status"];
  expect((await opsctl(argv, answering(null))).out()).toBe("No window open.\n");
  expect((await opsctl([...argv, "--json"], answering(null))).out()).toBe("null\n");
  expect((await opsctl(argv, answering(WINDOW))).out()).toBe(`${WINDOW_LINES.join("\n")}\n`);
});

test("`cn auto-approve open` prints the window, and `cn auto-approve close` prints that the window is closed", async () => {
  const ran = await opsctl(["cn", "auto-approve", "open", "--duration-secs", "3600"], answering(WINDOW));
  expect(ran.asked[0]).toMatchObject({ method: "POST", path: "/v1/cn-auto-approve", body: { duration_secs: 3600 } });
  expect(ran.out()).toBe(`Auto-approve window opened:\n${WINDOW_LINES.map((line) => `  ${line}`).join("\n")}\n`);
  const closed = await opsctl(["cn", "auto-approve", "close"], { server: () => ({ status: 204 }) });
  expect(closed.asked[0]).toMatchObject({ method: "DELETE", path: "/v1/cn-auto-approve" });
  expect(closed.out()).toBe("Auto-approve window closed.\n");
});
