// Tests the serial console from end to end: tenantctl and the node agent as compiled programs, and two servers on one
// database, each as `task start` starts it. The agent polls one server; the consoles are opened at both.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { simulatedScreen } from "../../nodeagent/console/simulated-screen.ts";
import { controlText } from "../../src/lib/console/frames.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { needs, present } from "../support/optional-programs.ts";
import { executable } from "./executables.ts";
import { okOf } from "../support/control-plane.ts";
import { type ConsoleFixture, openConsoleAt, openConsoleFixture } from "./console-fixture.ts";

const PATIENCE = { timeout: 20_000 };
const CTRL_C = "\x03";
/**
 * Runs a program on its own terminal: types into the console when the program is connected, and leaves the console when
 * the guest has answered.
 */
const TERMINAL = `
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen = b""
def until(text):
    global seen
    while text not in seen:
        seen += os.read(fd, 65536)
until(b"Connected to")
os.write(fd, b"typed\\x03\\r")
until(b"typed\\x03")
os.write(fd, b"\\r~.")
try:
    while True:
        piece = os.read(fd, 65536)
        if not piece: break
        seen += piece
except OSError:
    pass
_, status = os.waitpid(pid, 0)
sys.stdout.write(seen.decode("utf8", "replace") + "\\nexit " + str(os.waitstatus_to_exitcode(status)) + "\\n")
`;
let f: ConsoleFixture;

beforeAll(async () => {
  f = await openConsoleFixture();
}, 240_000);
afterAll(() => f?.close());

describe("tenantctl", () => {
  test("instance log prints the boot log", async () => {
    const { code, out, err } = await f.tenantctl(["instance", "log", "web1", "--project", f.g.project_id]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("Booting web1\nSimulated machine");
  });

  test("instance console types piped input and prints the answer", async () => {
    const { code, out, err } = await f.tenantctl(
      ["instance", "console", "web1", "--project", f.g.project_id],
      "hello\r",
    );
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/hello\r\n\$ /);
  });
});

test("instance screenshot saves the screen, even if it asks a server that the node's agent does not poll", async () => {
  const file = join(f.folder, "screen.png");
  const argv = ["instance", "screenshot", "web1", "--project", f.g.project_id, "--to", file];
  const { code, out, err } = await f.tenantctl(argv);
  expect([code, err]).toEqual([0, ""]);
  expect(new Uint8Array(await readFile(file))).toEqual(simulatedScreen());
  expect(JSON.parse(out)).toEqual({ file, bytes: simulatedScreen().length });
});

test("on a terminal, keys reach the guest unchanged, and ~. closes the console", async (context) => {
  needs(context, "python3");
  const argv = [executable("tenantctl"), "instance", "console", "web1", "--project", f.g.project_id];
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: "/nonexistent",
    TENANTCTL_ENDPOINT: f.other.url,
    TENANTCTL_API_KEY: f.g.key,
  };
  const { stdout } = await promisify(execFile)(present("python3"), ["-c", TERMINAL, ...argv], { env });
  expect(stdout).toContain("Connected to web1");
  // Ctrl-C did not end tenantctl.
  expect(stdout).toContain(`typed${CTRL_C}`);
  expect(stdout).toMatch(/\r\nThe console is closed\.\r+\n\nexit 0\n$/);
});

describe.each(["polled", "other"] as const)("at the server %s", (which) => {
  test("typed text reaches the guest, and the guest's output reaches the console", async () => {
    const console = await f.open(f[which]);
    await expect.poll(() => console.controls, PATIENCE).toContainEqual({ type: "ready", writer: true });
    console.type("marco\r");
    await expect.poll(console.text, PATIENCE).toContain("marco\r\n$ ");
    console.socket.close();
    await console.closed;
  });
});

test("a ticket works once, on its own instance, before it expires", async () => {
  const { ticket } = await f.ticket();
  const url = `${f.other.url}${f.path}/console`;
  const elsewhere = url.replace(f.instance.id, "00000000-0000-4000-8000-000000000000");
  await expect(openConsoleAt(elsewhere, ticket)).rejects.toThrow(/403/);
  const first = await openConsoleAt(url, ticket);
  await expect.poll(() => first.controls.length, PATIENCE).toBeGreaterThan(0);
  await expect(openConsoleAt(url, ticket)).rejects.toThrow(/403/);
  first.socket.close();
  const late = (await f.ticket()).ticket;
  await f.db.query("update console_session set expires_at = berth_now() where state = 'ticket'");
  await expect(openConsoleAt(url, late)).rejects.toThrow(/403/);
  await expect(openConsoleAt(url, "0".repeat(43))).rejects.toThrow(/403/);
});

test("a ticket that another user presents with its own credential is refused, and the denial is audited", async () => {
  const { ticket } = await f.ticket();
  const at = f.callAt(f.other);
  const other = okOf(
    await at("POST", "/v1/system/users", { body: { username: "eve", password: "correct horse battery" } }),
  );
  expect(other.username).toBe("eve");
  const login = await at("POST", "/v1/auth/login", { body: { username: "eve", password: "correct horse battery" } });
  const key = okOf(login).access_token;
  const headers = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-protocol": `berth.console.v1, berth.ticket.${ticket}`,
  };
  expect((await at("GET", `${f.path}/console`, { key, headers })).status).toBe(403);
  const { events } = okOf(await at("GET", "/v1/audit/events?limit=1000"));
  expect(events.some((each: { action: string }) => each.action === "instance_console_open")).toBe(true);
});

test("each open console is listed with its user until the console ends", async () => {
  const at = f.callAt(f.polled);
  const rows = async () => okOf(await at("GET", `${f.path}/consoles`, { key: f.g.key })).items;
  await expect.poll(rows, PATIENCE).toEqual([]);
  const [writer, watcher] = [await f.open(f.polled), await f.open(f.other, { mode: "watch" })];
  const { username } = okOf(await at("GET", "/v1/auth/whoami", { key: f.g.key }));
  await expect.poll(rows, PATIENCE).toMatchObject([{ username, mode: "write" }, { username, mode: "watch" }]);
  const { code, out } = await f.tenantctl(["instance", "consoles", "web1", "-o", "csv", "--columns", "user,mode"]);
  expect([code, out.split(/\r?\n/)]).toEqual([0, ["user,mode", `${username},write`, `${username},watch`, ""]]);
  writer.socket.close();
  await writer.closed;
  await expect.poll(rows, PATIENCE).toMatchObject([{ mode: "watch" }]);
  watcher.socket.close();
  await watcher.closed;
  await expect.poll(rows, PATIENCE).toEqual([]);
});

test("another tenant gets 404; a read-only key reads the log and gets no ticket", async () => {
  const at = f.callAt(f.polled);
  const stranger = await openTenant({ call: at }, "stranger");
  for (const [method, path] of [["POST", "console-ticket"], ["GET", "console-log"]] as const) {
    expect(
      (await at(method, `${f.path}/${path}`, { key: stranger.key, headers: { "content-type": "text/plain" } })).status,
    ).toBe(404);
  }
  const body = { description: "reads", scope: "read_only" };
  const { secret: key } = okOf(await at("POST", `/v1/tenants/${f.g.tenant_id}/api-keys`, { body }));
  expect((await at("POST", `${f.path}/console-ticket`, { key, body: {} })).status).toBe(404);
  const log = await at("GET", `${f.path}/console-log`, { key });
  expect([log.status, log.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  expect(log.text).toContain("Booting web1");
});

describe("one console types, and the other consoles watch", () => {
  test("a second writer is refused with the name of the first writer; take_over makes the first writer a watcher", async () => {
    const first = await f.open(f.polled);
    await expect.poll(() => first.controls, PATIENCE).toContainEqual({ type: "ready", writer: true });
    const second = await f.open(f.other);
    expect(await second.closed).toMatch(/^.+ is typing in this console\. Watch with --watch/);
    const third = await f.open(f.other, { take_over: true });
    await expect.poll(() => third.controls, PATIENCE).toContainEqual({ type: "ready", writer: true });
    await expect.poll(() => first.controls.map(({ type }) => type), PATIENCE).toContain("demoted");
    first.type("lost\r");
    third.type("kept\r");
    await expect.poll(first.text, PATIENCE).toContain("kept\r\n");
    expect(first.text()).not.toContain("lost");
    first.socket.close();
    third.socket.close();
    await Promise.all([first.closed, third.closed]);
  });

  test("watchers at both servers get the same output, and a watcher that types is disconnected", async () => {
    const watchers = [await f.open(f.polled, { mode: "watch" }), await f.open(f.other, { mode: "watch" })];
    const writer = await f.open(f.other);
    await expect.poll(() => writer.controls, PATIENCE).toContainEqual({ type: "ready", writer: true });
    for (const each of watchers) {
      await expect.poll(() => each.controls, PATIENCE).toContainEqual({ type: "ready", writer: false });
    }
    writer.type("for all\r");
    for (const each of watchers) await expect.poll(each.text, PATIENCE).toContain("for all\r\n");
    watchers[0]!.type("x");
    expect(await watchers[0]!.closed).toBe("this console was opened to watch and cannot type");
    watchers[1]!.socket.close();
    writer.socket.close();
  });
});

test(
  "a quick reader gets all 8 MB that a guest writes, or a report of skipped bytes; a slow reader skips bytes; the server's memory is bounded",
  async () => {
    const FLOOD_BYTES = 8_000_000;
    const slow = await f.open(f.other, { mode: "watch" }, true);
    const quick = await f.open(f.other);
    await expect.poll(() => quick.controls, PATIENCE).toContainEqual({ type: "ready", writer: true });
    const before = await residentBytes(f.other.pid);
    quick.type(`flood ${FLOOD_BYTES}\r`);
    const skipped = () => quick.controls.reduce((sum, each) => sum + (each.type === "skipped" ? each.bytes : 0), 0);
    await expect.poll(() => quick.bytes() + skipped(), { timeout: 60_000 }).toBeGreaterThanOrEqual(FLOOD_BYTES);
    // Without confirmations a console gets at most one window of bytes, including the history.
    expect(slow.bytes()).toBeLessThanOrEqual(65_536);
    expect(await residentBytes(f.other.pid) - before).toBeLessThan(64 * 2 ** 20);
    slow.socket.send(controlText({ type: "ack", bytes: slow.bytes() }));
    await expect.poll(() => slow.controls.some(({ type }) => type === "skipped"), PATIENCE).toBe(true);
    slow.socket.close();
    quick.socket.close();
  },
  120_000,
);

describe("a console ends", () => {
  test("when the caller's key is deleted", async () => {
    const at = f.callAt(f.polled);
    const made = okOf(await at("POST", `/v1/tenants/${f.g.tenant_id}/api-keys`, { body: { description: "short" } }));
    const { ticket } = await f.ticket({ mode: "watch" }, made.secret);
    const console = await openConsoleAt(`${f.other.url}${f.path}/console`, ticket);
    await expect.poll(() => console.controls.length, PATIENCE).toBeGreaterThan(0);
    expect((await at("DELETE", `/v1/tenants/${f.g.tenant_id}/api-keys/${made.id}`)).status).toBe(204);
    expect(await console.closed).toMatch(/^your credential was revoked or has expired/);
  });

  test("when the node's agent is killed; after the agent's restart, a console opens again", async () => {
    const console = await f.open(f.other);
    await expect.poll(() => console.controls, PATIENCE).toContainEqual({ type: "ready", writer: true });
    await f.restartAgent();
    expect(await console.closed).toMatch(/^the connection to the node was lost/);
    const again = await f.open(f.other);
    await expect.poll(again.text, PATIENCE).toContain("login: root");
    again.socket.close();
  }, 60_000);

  test("when the instance stops; tenantctl prints why, and a stopped instance gets no ticket", async () => {
    const running = f.tenantctlRunning(["instance", "log", "web1", "--follow", "--project", f.g.project_id]);
    await running.says(/Booting web1/);
    okOf(await f.g.call("POST", `${f.path}/stop`));
    const { code, err } = await running.ended;
    expect(code).toBe(1);
    expect(err).toContain("web1 is stopped. Start it, then open the console");
    const refused = await f.g.call("POST", `${f.path}/console-ticket`, { body: {} });
    expect([refused.status, refused.body.message]).toEqual([409, "web1 is stopped. Start it, then open the console"]);
    okOf(await f.g.call("POST", `${f.path}/start`));
  }, 60_000);
});

test("the audit chain has each console's beginning and end, with the user and the reason", async () => {
  const at = f.callAt(f.polled);
  await expect.poll(async () => (await f.db.query("select from console_session where state <> 'ticket'")).rowCount)
    .toBe(0);
  const { events } = okOf(await at("GET", "/v1/audit/events?limit=1000"));
  const of = (action: string) =>
    events.filter((each: { action: string }) => each.action === action) as {
      readonly resource: string;
      readonly actor: { readonly key_id?: string };
      readonly payload: { readonly session_id: string; readonly reason?: string; readonly bytes_out?: number };
    }[];
  const opened = of("console_open");
  const closed = new Map(of("console_close").map((each) => [each.payload.session_id, each]));
  expect(opened.length).toBeGreaterThan(8);
  for (const { payload, resource, actor } of opened) {
    expect(resource).toBe(`Instance::"${f.instance.id}"`);
    expect(actor.key_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(closed.get(payload.session_id)?.payload.reason).toMatch(/./);
  }
});

/** Returns the resident memory of the server in bytes. The server is the largest child of the process with this pid. */
async function residentBytes(pid: number): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ");
  const sizes = await Promise.all(children.map(async (child) => {
    const [, kibibytes = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${child}/status`, "utf8")) ?? [];
    return Number(kibibytes) * 1_024;
  }));
  return Math.max(...sizes);
}
