// Tests irreversible commands, and the commands for a node's root password and traits.
import { expect, test } from "vitest";
import type { FakeOptions, Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";
import { bootRecord, MAC, node, NODE_ID } from "./records.ts";

const server: Server = ({ method, path }) => {
  if (method === "DELETE") return { status: 204 };
  return { body: path.startsWith("/v2/cn-boot/") ? bootRecord() : node({ state: "awaiting_setup" }) };
};

const VERBS: [argv: string[], name: string, sent: string][] = [
  [["cn", "factory-reset", NODE_ID], "rack1-n4", `POST /v1/cns/${NODE_ID}/factory-reset`],
  [["cn", "remove", NODE_ID], "rack1-n4", `DELETE /v1/cns/${NODE_ID}`],
  [["cn", "boot", "decommission", MAC], MAC, `POST /v2/cn-boot/${MAC}/decommission`],
];

async function changes(argv: string[], options: FakeOptions) {
  const ran = await opsctl(argv, { server, ...options });
  return { ...ran, sent: ran.asked.filter(({ method }) => method !== "GET").map((a) => `${a.method} ${a.path}`) };
}

test.each(VERBS)("without a terminal and without --yes, %j is a usage error", async (argv) => {
  const ran = await changes(argv, {});
  expect([ran.code, ran.sent]).toEqual([2, []]);
  expect(ran.err()).toContain("--yes");
});

test.each(VERBS)("with --yes, %j asks no question and sends one request", async (argv, _name, sent) => {
  const ran = await changes([...argv, "--yes"], {});
  expect([ran.code, ran.sent, ran.asked.length]).toEqual([0, [sent], 1]);
});

test.each(VERBS)("on a terminal, %j continues only after the user typed the name %s", async (argv, name, sent) => {
  expect((await changes(argv, { isTTY: true, typed: [name] })).sent).toEqual([sent]);
  for (const typed of ["", "y", "yes", `${name}x`]) {
    const ran = await changes(argv, { isTTY: true, typed: [typed] });
    expect([ran.code, ran.sent]).toEqual([1, []]);
  }
});

test("the user may type the UUID instead of the hostname", async () => {
  expect((await changes(["cn", "remove", NODE_ID], { isTTY: true, typed: [NODE_ID] })).sent).toHaveLength(1);
});

test("`factory-reset` and `remove` print their result", async () => {
  const reset = await changes(["cn", "factory-reset", NODE_ID, "--yes"], {});
  expect(reset.out()).toBe(`Reset CN ${NODE_ID} (state=awaiting_setup)\n`);
  expect((await changes(["cn", "remove", NODE_ID, "--yes"], {})).out()).toBe(`Removed CN ${NODE_ID}\n`);
});

test("`factory-reset` resets the nodes with a label one after another, and stops at the first refusal", async () => {
  const [second, third] = ["2".repeat(8), "3".repeat(8)].map((start) => `${start}${NODE_ID.slice(8)}`);
  const nodes = [
    node({ server_uuid: third, hostname: "rack1-n6", state: "approved" }),
    node({ hostname: "rack1-n4", state: "approved" }),
    node({ server_uuid: second, hostname: "rack1-n5", state: "disabled" }),
    node({ server_uuid: "4".repeat(8) + NODE_ID.slice(8), hostname: "rack1-n7", state: "pending" }),
  ];
  let busy = third;
  const rack: Server = ({ method, path }) => {
    if (method === "GET") return { body: { items: nodes } };
    if (path.includes(busy!)) return { status: 409, body: { message: "the node has instances", request_id: "r" } };
    return { body: node({ server_uuid: path.split("/")[3]!, state: "awaiting_setup" }) };
  };
  const argv = ["cn", "factory-reset", "--label", "rack=a3", "--yes"];
  const stopped = await changes(argv, { server: rack });
  expect(stopped.sent).toEqual([NODE_ID, second, third].map((id) => `POST /v1/cns/${id}/factory-reset`));
  expect(stopped.code).not.toBe(0);
  expect(stopped.out()).toBe([NODE_ID, second].map((id) => `Reset CN ${id} (state=awaiting_setup)\n`).join(""));
  expect(stopped.err()).toContain(`stopped at rack1-n6 (${third}) after 2 of 3 nodes: the node has instances`);
  busy = "no node";
  expect((await changes(argv, { server: rack })).code).toBe(0);
  // On a terminal, the operator must type the label.
  const asked = ["cn", "factory-reset", "--label", "rack=a3"];
  const refused = await changes(asked, { server: rack, isTTY: true, typed: ["yes"] });
  expect([refused.code, refused.sent]).toEqual([1, []]);
  expect(refused.err()).toContain("Reset 3 nodes:");
  expect((await changes(asked, { server: rack, isTTY: true, typed: ["rack=a3"] })).sent).toHaveLength(3);
  for (const wrong of [[], [NODE_ID, "--label", "rack=a3"]]) {
    expect((await changes(["cn", "factory-reset", "--yes", ...wrong], { server: rack })).code).toBe(2);
  }
});

const HASH = `$6$saltsalt$${"a".repeat(85)}/`;
const password = (argv: string[], options: FakeOptions = {}) =>
  opsctl(["cn", "root-password", NODE_ID, ...argv], { server, ...options });

test("`root-password` asks for the password twice, sends only its hash, and does not print the password", async () => {
  const ran = await password([], { isTTY: true, typed: ["correct horse", "correct horse"] });
  expect(ran.code).toBe(0);
  expect(ran.asked[0]).toMatchObject({ method: "POST", path: `/v1/cns/${NODE_ID}/root-password` });
  expect(ran.asked[0]!.body).toEqual({
    password_hash: expect.stringMatching(/^\$6\$[./0-9A-Za-z]{16}\$[./0-9A-Za-z]{86}$/),
  });
  expect(JSON.stringify(ran.asked) + ran.out() + ran.err()).not.toContain("correct horse");
});

test("`root-password --password-stdin` accepts one line and rejects two", async () => {
  const ran = await password(["--password-stdin"], { typed: "secret word\n" });
  expect([ran.code, ran.out()]).toEqual([
    0,
    `Set the root password of CN ${NODE_ID} (next netboot)\n`,
  ]);
  expect((await password(["--password-stdin"], { typed: "two\nlines\n" })).code).toBe(2);
});

test("`root-password --hash` is sent unchanged", async () => {
  const ran = await password(["--hash", HASH]);
  expect(ran.asked[0]!.body).toEqual({ password_hash: HASH });
});

test("`root-password --clear` sends no password hash", async () => {
  const ran = await password(["--clear"]);
  expect(ran.asked[0]!.body).toEqual({});
  expect(ran.out()).toBe(`Cleared the root password of CN ${NODE_ID} (next netboot)\n`);
});

test.each([
  ["an empty password", ["--password-stdin"], { typed: "\n" }],
  ["an empty hash", ["--hash", ""], {}],
  ["two different passwords", [], { isTTY: true, typed: ["a", "b"] }],
  ["no terminal and no option", [], {}],
  ["two exclusive options", ["--hash", HASH, "--clear"], {}],
  ["two exclusive options", ["--clear", "--password-stdin"], {}],
  ["two exclusive options", ["--hash", HASH, "--password-stdin"], {}],
])("`root-password` with %s (%j) is a usage error and sends no request", async (_what, argv, options) => {
  const ran = await password(argv, options);
  expect([ran.code, ran.asked.length]).toEqual([2, 0]);
});

function traits(held: Record<string, string>): FakeOptions {
  return { server: ({ method, body }) => ({ body: method === "GET" ? { traits: held } : body }) };
}

test("`traits set` keeps the node's other traits and prints all traits", async () => {
  const ran = await opsctl(["cn", "traits", "set", NODE_ID, "rack=r2", "expr=a=b"], traits({ gpu: "yes", rack: "r1" }));
  expect(ran.asked.at(-1)!.body).toEqual({ traits: { gpu: "yes", rack: "r2", expr: "a=b" } });
  expect(ran.out()).toBe("TRAIT  VALUE\nexpr   a=b\ngpu    yes\nrack   r2\n");
});

test("`traits clear` removes the named traits, or all traits if no trait is named", async () => {
  const held = { gpu: "yes", rack: "r1" };
  const one = await opsctl(["cn", "traits", "clear", NODE_ID, "gpu"], traits(held));
  expect(one.asked.at(-1)!.body).toEqual({ traits: { rack: "r1" } });
  const all = await opsctl(["cn", "traits", "clear", NODE_ID], traits(held));
  expect([all.asked.at(-1)!.body, all.out()]).toEqual([{ traits: {} }, "(no traits)\n"]);
});

test.each([["rack"], ["=r1"], ["rack="]])("`traits set` %s is a usage error", async (word) => {
  const ran = await opsctl(["cn", "traits", "set", NODE_ID, word], traits({}));
  expect([ran.code, ran.asked.some(({ method }) => method === "POST")]).toEqual([2, false]);
});
