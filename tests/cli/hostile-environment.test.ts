// Runs the compiled programs with an attacker's environment variables in an attacker's working directory. The runtime
// must not run anything that a variable or a file of this directory names, and must always check certificates. The
// environment guard, machine code at the start of each program, removes the runtime's variables
// (cli/environment-guard.ts).
import { spawnSync } from "node:child_process";
import { access, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lacking, present } from "../support/optional-programs.ts";
import { BUN_VERSION, NAMES } from "../../cli/compile.ts";
import { guarded } from "../../cli/environment-guard.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { buildExecutables, type Ended, type Program, run, start } from "../processes/executables.ts";

const BUILD_LIMIT_MS = 300_000;
const END_LIMIT_MS = 20_000;
/** Arguments for which a program needs no server or file. index-builder has no --version. */
const WORDS: Readonly<Record<Program, readonly string[]>> = {
  opsctl: ["--version"],
  tenantctl: ["--version"],
  nodeagent: ["--version"],
  booter: ["--version"],
  "index-builder": ["vendors"],
};

let folder: TemporaryFolder;
let canary: string;
let hostile: string;
beforeAll(async () => {
  await buildExecutables(NAMES);
  folder = await temporaryFolder("hostile-environment");
  canary = join(folder.path, "canary");
  hostile = join(folder.path, "cwd");
  await mkdir(join(hostile, "node_modules/commander"), { recursive: true });
  const evil = `require("node:fs").writeFileSync(${JSON.stringify(canary)}, "was here");\n`;
  const files: Readonly<Record<string, string>> = {
    "evil.ts": evil,
    "evil.cjs": evil,
    ".env": "BUN_OPTIONS=--preload ./evil.ts\nBUN_BE_BUN=1\nOPSCTL_ENDPOINT=http://127.0.0.1:1\n",
    "bunfig.toml": 'preload = ["./evil.ts"]\n[run]\npreload = ["./evil.ts"]\n',
    "package.json": '{"name":"evil","version":"9.9.9","main":"./evil.cjs","bun":{"preload":["./evil.ts"]}}\n',
    "tsconfig.json": '{"compilerOptions":{"paths":{"*":["./evil.ts"]}}}\n',
    "node_modules/commander/index.js": evil,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(hostile, name), text);
}, BUILD_LIMIT_MS);
afterAll(() => folder?.remove());

/** Runs the program in the attacker's folder. Fails if the program runs a file of this folder. */
async function ended(name: Program, env: Readonly<Record<string, string>>, argv = WORDS[name]): Promise<Ended> {
  await rm(canary, { force: true });
  const running = start(name, argv, { env: { HOME: folder.path, ...env }, cwd: hostile });
  // Kills a program that waits for a debugger, because such a program would run longer than the test.
  const limit = setTimeout(() => running.signal("SIGKILL"), END_LIMIT_MS);
  const how = await running.ended.finally(() => clearTimeout(limit));
  await expect(access(canary), `${name} ran a file of the attacker's`).rejects.toThrow();
  return how;
}

describe.each(NAMES)("%s", (name) => {
  test("ignores files in its working directory", async () => {
    const how = await ended(name, {});
    expect(how).toEqual(await run(name, WORDS[name], { env: { HOME: folder.path } }));
    expect(how.code).toBe(0);
  });

  test.each<readonly [string, string]>([
    ["BUN_OPTIONS", "--preload ./evil.ts"],
    ["BUN_OPTIONS", "--require ./evil.cjs --print 1"],
    ["BUN_OPTIONS", "--inspect-brk=127.0.0.1:0"],
    ["BUN_BE_BUN", "1"],
    ["BUN_INSPECT", "ws://127.0.0.1:0/x?break=1"],
    ["BUN_INSPECT_PRELOAD", "./evil.ts"],
    ["BUN_JSC_dumpOptions", "1"],
    ["BUN_JSC_noSuchOption", "1"],
    ["NODE_OPTIONS", "--require ./evil.cjs"],
    ["NODE_DEBUG", "http,https,tls"],
  ])("behaves with %s=%s in the same way as without this variable", async (variable, value) => {
    expect(await ended(name, { [variable]: value })).toEqual(await ended(name, {}));
  });

  test("does not pass its arguments to the runtime as options", async () => {
    const how = await ended(name, {}, ["--preload", "./evil.ts", ...WORDS[name]]);
    expect(how.out).not.toContain(BUN_VERSION);
  });
});

test("the removal of the runtime's variables does not remove the program's own variables", async () => {
  const env = {
    OPSCTL_ENDPOINT: "http://127.0.0.1:9",
    BUN_A: "1",
    X: "",
    BUNX: "2",
    NODE_EXTRA_CA_CERTSX: "3",
    JSC_B: "4",
  };
  // Nothing listens at the port, so the error names the endpoint, which comes from the environment.
  const how = await ended("opsctl", { ...env, OPSCTL_API_KEY: "opsk_x" }, ["cn", "list"]);
  expect(how.err).toContain("127.0.0.1:9");
  expect(how.code).not.toBe(0);
});

describe.skipIf(lacking("openssl") !== null)("a server with a self-signed certificate", () => {
  let server: Server;
  let endpoint: string;
  let certificate: string;
  beforeAll(async () => {
    certificate = join(folder.path, "server.crt");
    const key = join(folder.path, "server.key");
    const made = spawnSync(present("openssl"), [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
      ...["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
    ]);
    expect(made.status, String(made.stderr)).toBe(0);
    server = createServer({ key: await readFile(key), cert: await readFile(certificate) }, (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"items":[]}');
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((done) => server.close(done)));
  const asked = (env: Readonly<Record<string, string>>) =>
    ended("opsctl", { OPSCTL_API_KEY: "opsk_aaaaaaaaaaaa_secret", ...env }, ["--endpoint", endpoint, "cn", "list"]);

  test("is rejected, even with NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    for (const value of ["1", "0"]) {
      const how = await asked({ NODE_TLS_REJECT_UNAUTHORIZED: value });
      expect([how.code === 0, how.out]).toEqual([false, ""]);
      expect(how.err).toMatch(/certificate/i);
    }
  });

  test("is accepted if NODE_EXTRA_CA_CERTS names the certificate, and BUN_CONFIG_VERBOSE_FETCH does not print the key", async () => {
    const trusted = { NODE_EXTRA_CA_CERTS: certificate };
    const plain = await asked(trusted);
    expect([plain.code, plain.out]).toEqual([0, "(no compute nodes)\n"]);
    for (const value of ["1", "curl"]) {
      const how = await asked({ ...trusted, BUN_CONFIG_VERBOSE_FETCH: value });
      expect(how).toEqual(plain);
    }
  });
});

describe("the environment guard", () => {
  test("cannot be added to an executable without free space before its code, or for an unknown architecture", () => {
    expect(() => guarded(small(0x3e, TEXT_AT))).toThrow("no room");
    expect(() => guarded(small(0xf3, 0))).toThrow("no environment guard");
    expect(guarded(small(0x3e, TEXT_AT - 200))?.length).toBe(TEXT_AT + 100);
  });

  test("is not added to executables of other systems", () => {
    expect(guarded(Uint8Array.from([0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1]))).toBeNull();
  });
});

/** The offset of the code in the executable that `small` returns. */
const TEXT_AT = 0x800;

/** Returns an ELF file with two segments: one that ends at `end`, and an executable segment of 100 bytes. */
function small(machine: number, end: number): Buffer {
  const file = Buffer.alloc(TEXT_AT + 100);
  file.write("\x7fELF\x02\x01", "latin1");
  file.writeUInt16LE(machine, 18);
  file.writeBigUInt64LE(0x401800n, 24);
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(2, 56);
  for (const [at, flags, offset, size] of [[64, 4, 0, end], [120, 5, TEXT_AT, 100]] as const) {
    file.writeUInt32LE(1, at);
    file.writeUInt32LE(flags, at + 4);
    file.writeBigUInt64LE(BigInt(offset), at + 8);
    for (const field of [16, 24]) file.writeBigUInt64LE(BigInt(0x401000 + offset), at + field);
    file.writeBigUInt64LE(BigInt(size), at + 32);
  }
  return file;
}
