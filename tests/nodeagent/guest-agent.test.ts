// Tests the client of the guest agent against a socket that answers like a guest agent or like a hostile guest.
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createGuestAddresses } from "../../nodeagent/qemu/guest-addresses.ts";
import { guestAgentAt, interfacesOf } from "../../nodeagent/qemu/guest-agent.ts";

const LIMITS = { call_ms: 300, freeze_ms: 300 };
/** Time limits that no call reaches. LIMITS would be too short for a long answer on a slow machine. */
const NO_LIMITS = { call_ms: 3_600_000, freeze_ms: 3_600_000 };
const INTERFACES = [
  { name: "lo", "hardware-address": "00:00:00:00:00:00", "ip-addresses": [{ "ip-address": "127.0.0.1" }] },
  {
    name: "eth0",
    "hardware-address": "02:00:00:AB:CD:01",
    "ip-addresses": [{ "ip-address": "10.0.1.5" }, { "ip-address": "fe80::1" }, { "ip-address": "FD00::5" }],
  },
];
let folder: string;
let path: string;
let server: Server | undefined;
const asked: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "qga-"));
  path = join(folder, "qga.sock");
});
afterEach(async () => {
  asked.length = 0;
  await leave();
});
afterAll(() => rm(folder, { recursive: true }));

async function leave(): Promise<void> {
  const left = server;
  server = undefined;
  if (left !== undefined) await new Promise((done) => left.close(done));
}

type Message = { readonly execute: string; readonly arguments?: { readonly id: number } };

/** Opens a guest agent. `answer` returns the text that the guest agent sends for a command, or null for no answer. */
async function guest(answer: (message: Message) => string | null): Promise<void> {
  server = createServer((socket: Socket) => {
    socket.on("error", () => {}); // The client may leave at any time.
    socket.setEncoding("latin1").on("data", (text: string) => {
      for (const line of text.split("\n").filter((each) => each !== "")) {
        const message = JSON.parse(line.replaceAll("\xff", "")) as Message;
        asked.push(message.execute);
        const sent = answer(message);
        if (sent !== null) socket.write(sent, "latin1");
      }
    });
  });
  await new Promise<void>((done) => server!.listen(path, done));
}

const returns = (value: unknown) => `${JSON.stringify({ return: value })}\n`;
const synced = (answer: (message: Message) => string | null) => (message: Message) =>
  message.execute === "guest-sync-delimited" ? `\xff${returns(message.arguments!.id)}` : answer(message);

test("the list of interfaces has each NIC's addresses, except loopback and link-local addresses", async () => {
  await guest(synced(() => returns(INTERFACES)));
  expect(await guestAgentAt(path, LIMITS).interfaces()).toEqual([
    { mac: "02:00:00:ab:cd:01", addresses: ["10.0.1.5", "fd00::5"] },
  ]);
});

test("freeze and thaw return the number of file systems", async () => {
  await guest(synced(({ execute }) => returns(execute === "guest-fsfreeze-freeze" ? 3 : 2)));
  const agent = guestAgentAt(path, LIMITS);
  expect([await agent.freeze(), await agent.thaw()]).toEqual([3, 2]);
  expect(asked).toEqual([
    "guest-sync-delimited",
    "guest-fsfreeze-freeze",
    "guest-sync-delimited",
    "guest-fsfreeze-thaw",
  ]);
});

test("a shutdown does not wait for an answer", async () => {
  await guest(synced(() => null));
  await guestAgentAt(path, LIMITS).shutdown();
  await expect.poll(() => asked).toContain("guest-shutdown");
});

test("a late answer to an earlier command is skipped", async () => {
  await guest((message) =>
    message.execute === "guest-sync-delimited"
      ? `${returns("late")}\xff${returns(message.arguments!.id)}`
      : returns(INTERFACES)
  );
  expect(await guestAgentAt(path, LIMITS).interfaces()).toHaveLength(1);
});

test("calls at the same time run one after the other", async () => {
  await guest(synced(({ execute }) => execute === "guest-network-get-interfaces" ? returns([]) : returns(1)));
  const agent = guestAgentAt(path, LIMITS);
  expect(await Promise.all([agent.interfaces(), agent.freeze()])).toEqual([[], 1]);
  expect(asked.filter((each) => each !== "guest-sync-delimited")).toEqual([
    "guest-network-get-interfaces",
    "guest-fsfreeze-freeze",
  ]);
});

test.each([
  ["does not answer", () => null],
  ["answers only with the wrong id", () => returns(-1)],
])("a call to a guest that %s fails at the time limit", async (_title, answer) => {
  await guest(answer);
  await expect(guestAgentAt(path, LIMITS).interfaces()).rejects.toThrow("does not answer");
});

test.each([
  ["sends no JSON", () => "ready?\n", "sent no JSON"],
  ["sends an endless line", () => "x".repeat(2 ** 20 + 1), "too long"],
])("a call to a guest that %s fails before the time limit", async (_title, answer, message) => {
  await guest(answer);
  await expect(guestAgentAt(path, NO_LIMITS).interfaces()).rejects.toThrow(message);
});

test("a call fails if the guest agent refuses it or answers with a count that is not a number", async () => {
  await guest(synced(() => `${JSON.stringify({ error: { class: "GenericError", desc: "disabled" } })}\n`));
  await expect(guestAgentAt(path, LIMITS).freeze()).rejects.toThrow("refused guest-fsfreeze-freeze");
  await leave();
  await guest(synced(() => returns("all")));
  await expect(guestAgentAt(path, LIMITS).freeze()).rejects.toThrow("no number of file systems");
});

test("a call fails if the socket does not exist", async () => {
  await expect(guestAgentAt(join(folder, "none.sock"), LIMITS).thaw()).rejects.toThrow(/ENOENT/);
});

test.each([[null], ["eth0"], [{}]])("an answer of %j is not a list of interfaces", (answer) => {
  expect(() => interfacesOf(answer)).toThrow("sent no list");
});

test("entries that are not interfaces or addresses are left out, and the number of entries is limited", () => {
  const nic = (mac: unknown, addresses: unknown) => ({ "hardware-address": mac, "ip-addresses": addresses });
  const address = (text: unknown) => ({ "ip-address": text });
  expect(interfacesOf([
    null,
    nic("02:00:00:00:00:01", undefined),
    nic("no mac", []),
    nic("02:00:00:00:00:02", [address("10.0.0.1"), address("<script>"), address(7), null]),
  ])).toEqual([{ mac: "02:00:00:00:00:02", addresses: ["10.0.0.1"] }]);
  const many = nic("02:00:00:00:00:03", Array.from({ length: 99 }, (_, index) => address(`10.0.0.${index}`)));
  const found = interfacesOf(Array.from({ length: 99 }, () => many));
  expect([found.length, found[0]!.addresses.length]).toEqual([32, 32]);
});

test("the last answer of each running guest is kept, and pauses between calls to a silent guest double up to 5 minutes", async () => {
  let now_ms = 0;
  const calls: string[] = [];
  const found = [{ mac: "02:00:00:00:00:01", addresses: ["10.0.1.5"] }];
  const addresses = createGuestAddresses({
    monotonicMs: () => now_ms,
    agentOf: (id) => ({
      interfaces: () => {
        calls.push(id);
        return id === "talks" ? Promise.resolve(found) : Promise.reject(new Error("silent"));
      },
    }),
  });
  const refresh = async (...running: string[]) => {
    addresses.refresh(running);
    await new Promise((done) => setTimeout(done));
  };
  await refresh("talks", "silent");
  expect([addresses.of("talks"), addresses.of("silent")]).toEqual([found, null]);
  // The pauses between calls to a silent guest: 15 s at first, then twice as long each time, and at most 5 minutes.
  for (const pause_ms of [15_000, 30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
    calls.length = 0;
    now_ms += pause_ms - 1;
    await refresh("talks", "silent");
    now_ms += 1;
    await refresh("talks", "silent");
    expect(calls).toEqual(["talks", "talks", "silent"]);
  }
  await refresh("silent");
  expect(addresses.of("talks")).toBeNull();
});
