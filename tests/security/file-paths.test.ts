// S-24, checked by system calls: the booter and the control plane run under strace while the test sends hostile names
// over HTTP, TFTP and AMQP. No name reaches the file system outside of the served folders.
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { shortText, u16, u32, u8 } from "../../cli/internal/amqp/wire.ts";
import { loopbackConfig } from "../../src/dev/booter-config.ts";
import { type Login, login, openChannel, openClient } from "../../cli/internal/amqp/client.ts";
import { type BooterProcess, startBooter } from "../booter/booter-process.ts";
import { actAsAgent } from "../booter/amqp-agent.ts";
import {
  ADMIN_NETWORK,
  discover,
  dotted,
  httpAsk,
  loginIn,
  openRelay,
  scriptPath,
  SETUP_BLOCK,
  stageFiles,
  STAMP,
} from "../booter/site.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ROOT_KEY } from "../support/server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { must } from "../processes/client.ts";
import { POLICY, sysinfoOf } from "../setup/machine.ts";
import { type FileTrace, isBelow, readTrace, tracedInto, whyUntraced } from "./file-trace.ts";
import { hostileNames, MARK } from "./hostile-names.ts";
import { sendRaw } from "./raw-requests.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PATIENCE_MS = 60_000;
const TEST_MS_MAX = 120_000;
const RESEND_MS = 2_000;
const MAC = "02:be:57:24:24:24";
/** AMQP channel.close. */
const CHANNEL_CLOSED = "20.40";
const DECLARE = [50, 10] as const;
const HASH = `/os/${STAMP}/platform/i86pc/amd64/boot_archive.hash`;
/** Folders that a running program reads: its code, caches and the system's files. */
const RUNTIME = [
  ROOT.replace(/\/$/, ""),
  process.env.DENO_DIR ?? join(homedir(), ".cache/deno"),
  ...["/proc", "/sys", "/dev", "/etc", "/usr", "/lib"],
];

const reason = await whyUntraced();
let folder: TemporaryFolder;
let database: FreshDatabase;
let server: Traced | null = null;
let booter: BooterProcess | null = null;
let names: readonly string[] = [];
/** The address of the machine that sends the names. */
let address = "";
let amqpLogin: Login = { user: "", password: "" };
/** The length of each trace in bytes before the first name was sent. */
const began = { server: 0, booter: 0 };

type Traced = { readonly port: number; readonly url: string; kill(): Promise<void> };

const at = (name: string) => join(folder.path, name);

beforeAll(async () => {
  if (reason !== null) return console.log(`S-24 by strace is skipped: ${reason}`);
  folder = await temporaryFolder("file-paths");
  await stageFiles(folder.path);
  await mkdir(at("site/v1/distros/debian"), { recursive: true });
  await writeFile(at("site/v1/index.json"), "{}");
  await writeFile(at("site/v1/distros/debian/index.json"), "{}");
  for (const name of [MARK, `${MARK}.json`, "linked"]) await writeFile(at(name), "outside");
  await symlink(at("linked"), at("site/v1/images.json"));
  await symlink(at("linked"), at(`files/os/${STAMP}/platform/i86pc/amd64/boot_archive.manifest`));
  names = hostileNames(folder.path, ["undionly.kpxe", STAMP, `platform-${STAMP}.tgz`, "debian", HASH.slice(1)]);

  database = await freshDatabase();
  server = await startTraced();
  const ask = <T>(method: string, path: string, body: unknown) => must<T>(server!.url, { method, path, body });
  const policy = { ...POLICY, enrollment_pi: STAMP, admin_network: ADMIN_NETWORK };
  await ask("PUT", "/v2/cn-boot-policy", policy);
  const key = await ask<{ secret: string }>("POST", "/v1/auth/api-keys", { description: "booter", scope: "booter" });
  await writeFile(at("key"), `${key.secret}\n`, { mode: 0o600 });
  await writeFile(at("booter.toml"), loopbackConfig(folder.path, { server_url: server.url, more: SETUP_BLOCK }));
  booter = await startBooter({ config: at("booter.toml"), prefix: tracedInto(at("booter.trace")) });
  const relay = await openRelay({ booter });
  const offer = await relay.ask(discover(MAC));
  address = dotted(offer.yiaddr);
  relay.close();
  amqpLogin = loginIn((await httpAsk(booter.ports.http, scriptPath(offer), { from: address })).text);
  for (const name of ["server", "booter"] as const) began[name] = (await stat(at(`${name}.trace`))).size;
}, TEST_MS_MAX);
afterAll(async () => {
  await booter?.kill();
  await server?.kill();
  await database?.drop();
  await folder?.remove();
});
beforeEach((context) => context.skip(reason !== null, reason ?? ""));

/** Starts the server from source, with an index. */
async function startTraced(): Promise<Traced> {
  const { PATH = "", HOME = "", DENO_DIR } = process.env;
  const [program = "", ...argv] = [
    ...tracedInto(at("server.trace")),
    process.execPath,
    ...["run", "-A", "src/serve.ts"],
  ];
  const child = spawn(program, argv, {
    cwd: ROOT,
    env: {
      ...{ PATH, HOME, ...(DENO_DIR === undefined ? {} : { DENO_DIR }) },
      ...{ HOST: "127.0.0.1", PORT: "0", DATABASE_URL: database.url, INDEX_SITE: at("site") },
      ...{ BERTH_ROOT_KEY: ROOT_KEY, BERTH_SECRET_KEY: "5e".repeat(32), BERTH_REGISTER_PER_MINUTE: "1000000" },
      // One caller sends every name several times.
      BERTH_LIMITS_CALLER_REQUESTS_PER_MINUTE: "1000000000",
      BERTH_LIMITS_CALLER_WRITES_PER_MINUTE: "1000000000",
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  let log = "";
  const url = await new Promise<string>((listening, fail) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      const [, found] = /"listening".*"url":"([^"]+)"|"url":"([^"]+)".*"listening"/.exec(log) ?? [];
      if (found !== undefined) listening(found);
    });
    void ended.then(() => fail(new Error(`the server ended:\n${log}`)));
  });
  return {
    url,
    port: Number(new URL(url).port),
    async kill() {
      process.kill(child.pid!, "SIGKILL");
      await ended;
    },
  };
}

/**
 * Waits until the trace shows that this file was opened. The file was requested last, so the trace has all earlier
 * requests.
 */
async function traceUntil(name: "server" | "booter", path: string): Promise<FileTrace> {
  const read = () => readTrace(at(`${name}.trace`), { cwd: ROOT, from_byte: began[name] });
  await expect.poll(async () => (await read()).opened.includes(path), { timeout: PATIENCE_MS }).toBe(true);
  return await read();
}

/** Returns paths outside the roots: tried paths with the mark, opened files that are not in RUNTIME, and `linked`. */
function escapedPaths({ tried, opened }: FileTrace, roots: readonly string[]): readonly string[] {
  const named = tried.filter((path) => path.includes(MARK) && !isBelow(path, roots));
  const foreign = opened.filter((path) => !isBelow(path, [...roots, ...RUNTIME]));
  const linked = opened.filter((path) => path === at("linked"));
  return [...new Set([...named, ...foreign, ...linked])];
}

/** Percent-encodes only the characters that would end a request line. */
function inPath(name: string): string {
  return name.replace(/[\s\0]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

const asked = (method: string, path: string) => `${method} ${path} HTTP/1.1\r\nhost: berth\r\n\r\n`;
const sent = (method: string, path: string, body: unknown) => {
  const text = JSON.stringify(body).replace(/[\x80-\xff]/g, (byte) => `\\u00${byte.charCodeAt(0).toString(16)}`);
  return `${method} ${path} HTTP/1.1\r\nhost: berth\r\nauthorization: Bearer ${ROOT_KEY}\r\n` +
    `content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
};

type Target = Parameters<typeof sendRaw>[0];

async function statuses(target: Target, requests: readonly string[]): Promise<readonly number[]> {
  return [...new Set(await sendRaw(target, requests))].sort((a, b) => a - b);
}

/** Returns the paths that were not answered with 400, 404 or a closed connection (0). */
async function servedPaths(target: Target, paths: readonly string[]): Promise<readonly string[]> {
  const answers = await sendRaw(target, paths.map((path) => asked("GET", path)));
  return paths.filter((_, each) => ![0, 400, 404].includes(answers[each]!));
}

/** Requests each name over TFTP. Returns the opcodes of the answers. */
async function tftpAnswers(port: number): Promise<ReadonlySet<number>> {
  const opcodes = new Set<number>();
  const socket = createSocket("udp4");
  await new Promise<void>((bound) => socket.bind(0, address, bound));
  try {
    for (const name of names) {
      const packet = Uint8Array.from(`\0\x01${name}\0octet\0`, (each) => each.charCodeAt(0));
      const send = () => socket.send(packet, port, "127.0.0.1");
      const again = setInterval(send, RESEND_MS);
      send();
      const [bytes] = await once(socket, "message");
      clearInterval(again);
      opcodes.add(bytes[1]);
    }
  } finally {
    socket.close();
  }
  return opcodes;
}

/** Sends each short name over AMQP: in a queue name, in a routing key, and as the machine's host name. */
async function sendOverAmqp(port: number): Promise<void> {
  const client = await openClient(port, address);
  // Nagle's algorithm would delay small frames.
  client.socket.setNoDelay(true);
  const server_uuid = crypto.randomUUID();
  await login(client, amqpLogin);
  await actAsAgent(client, { server_uuid, mac: MAC });
  const refused = async (send: () => void) => {
    await openChannel(client, 4);
    send();
    await client.expect(CHANNEL_CLOSED);
    client.send(4, 20, 41);
  };
  // An AMQP short string has 255 bytes at most.
  for (const name of names.filter(({ length }) => length < 100)) {
    await refused(() => client.send(4, ...DECLARE, u16(0), shortText(`ur.request.${name}.${MAC}`), u8(0), u32(0)));
    await refused(() => client.publish(4, `ur.sysinfo.${name}.a1`, "{}"));
    const sysinfo = { ...sysinfoOf([MAC]), UUID: server_uuid, Hostname: name };
    client.publish(1, `ur.sysinfo.${server_uuid}.a1`, JSON.stringify(sysinfo));
  }
  // The broker answers this frame only after it has processed all earlier frames.
  await openChannel(client, 5);
  client.close();
}

test("S-24: there are at least 500 names, and the check finds a program that opens files outside its folders", async () => {
  expect(names.length).toBeGreaterThanOrEqual(500);
  expect(names.filter((name) => !name.includes(MARK))).toEqual([]);
  const [program = "", ...argv] = tracedInto(at("reader.trace"));
  const reader = spawn(program, [...argv, "cat", `../${MARK}`, at("linked")], { cwd: at("files"), stdio: "ignore" });
  await once(reader, "close");
  const trace = () => readTrace(at("reader.trace"), { cwd: at("files") });
  await expect.poll(async () => escapedPaths(await trace(), [at("files")]), { timeout: PATIENCE_MS })
    .toEqual([at(MARK), at("linked")]);
});

describe("S-24: no name reaches a file outside the served folder:", () => {
  test("of the booter, by HTTP, TFTP and AMQP", async () => {
    const target = { port: booter!.ports.http, from: address };
    const prefixes = ["/", "/os/", `/os/${STAMP}/`, "/firmware/", "/setup/files/", "/script/", "/bootfs/"];
    const paths = names.flatMap((name) => prefixes.map((prefix) => `${prefix}${inPath(name)}`));
    expect(await servedPaths(target, paths)).toEqual([]);
    expect(await servedPaths({ port: booter!.ports.metrics }, names.map((name) => `/${inPath(name)}`))).toEqual([]);
    const [, tftp] = / tftp=(\d+)/.exec(await booter!.line(/ booter\.started /)) ?? [];
    expect(await tftpAnswers(Number(tftp))).toEqual(new Set([5]));
    await sendOverAmqp(booter!.ports.bus);
    await expect.poll(() => booter!.text(), { timeout: PATIENCE_MS }).toMatch(/ announce\.accepted /);
    // A link to the outside is not followed, either.
    const linked = asked("GET", HASH.replace(".hash", ".manifest"));
    expect(await statuses(target, [linked, asked("GET", HASH)])).toEqual([200, 404]);
    const trace = await traceUntil("booter", at(`files${HASH}`));
    expect(escapedPaths(trace, [at("files"), at("state"), at("key"), at("booter.toml")])).toEqual([]);
  }, TEST_MS_MAX);

  test("of the control plane, by the index's paths and by request bodies", async () => {
    const target = { port: server!.port };
    const paths = names.map(inPath).flatMap((name) => [
      `/v1/${name}`,
      `/v1/distros/${name}/index.json`,
      `/v1/distros/debian/releases/${name}/archive.json`,
    ]);
    expect(await servedPaths(target, paths)).toEqual([]);
    const bodies = names.flatMap((name) => [
      sent("PUT", "/v2/platform-images", { stamps: [name] }),
      sent("POST", `/v2/cn-boot/${MAC}/assign`, { platform_image: name }),
      sent("POST", "/v1/agent/register", { server_uuid: name, hostname: name, sysinfo: {} }),
    ]);
    // A few of the names are valid stamps, so their requests get 200.
    expect(await statuses(target, bodies)).toEqual([200, 400]);
    const linked = asked("GET", "/v1/images.json");
    expect(await statuses(target, [linked, asked("GET", "/v1/index.json")])).toEqual([200, 404]);
    const trace = await traceUntil("server", at("site/v1/index.json"));
    expect(escapedPaths(trace, [at("site")])).toEqual([]);
    // Valid names are looked up inside the folder.
    expect(trace.tried.some((path) => path.includes(MARK))).toBe(true);
  }, TEST_MS_MAX);
});
