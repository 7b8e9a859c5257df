// Tests the channel, which is a signed list of a release's tarballs, and its install.sh on a machine without Debian's
// tools. The script installs from a folder or over HTTP, and verifies with gpgv or only with OpenSSL. The script
// verifies the signature and the digests before it unpacks or runs anything.
import { access, chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verifiedChannel } from "../../booter/mirror/channel.ts";
import { EXECUTABLES } from "../../cli/release/packages.ts";
import { armoredPublicKey, readReleaseKey } from "../../cli/release/signature.ts";
import { lacking, onPath } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { writeReleaseKey } from "./release-key.ts";
import { flipBit, releaseKeyIn, smallRelease, TIME_S } from "./small-release.ts";
import { type Ended, run } from "./tools.ts";

const LIMIT_MS = 120_000;
const MACHINE = process.arch === "arm64" ? "arm64" : "amd64";
/** The programs on the script's PATH. */
const COMMON =
  "sh cat dirname uname curl mktemp rm mv mkdir cp sed awk od dd gzip tar find tr cut wc grep chmod head sleep";
/** The programs that verify the signature and the digests. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  "gpgv and sha256sum": ["gpgv", "base64", "sha256sum"],
  "OpenSSL alone": ["openssl"],
};
const usable = lacking("gpgv", "openssl", "curl") === null;

let folder: TemporaryFolder;
let key_path: string;
let server: Server;
let url: string;
/** Files of which the server sends only the first half. */
const cut = new Set<string>();
const at = (...parts: string[]) => join(folder.path, ...parts);
const channelOf = (release: string) => at(release, "channel");
const tarball = (name: string, version: string) => `${name}-${version}-linux-${MACHINE}.tar.gz`;

beforeAll(async () => {
  if (!usable) return;
  folder = await temporaryFolder("channel");
  key_path = await releaseKeyIn(folder.path);
  const common = { architecture: MACHINE, key_path } as const;
  await smallRelease({ ...common, folder: at("new"), version: "1.10.0", time_s: TIME_S + 86_400 });
  await smallRelease({ ...common, folder: at("old"), version: "1.9.0" });
  // A release with a lower version and a later date.
  await smallRelease({ ...common, folder: at("late"), version: "1.9.1", time_s: TIME_S + 2 * 86_400 });
  for (const [name, tools] of Object.entries(KINDS)) await pathOf(name, [...COMMON.split(" "), ...tools]);
  server = createServer((request, response) => {
    const name = (request.url ?? "/").slice(1);
    readFile(at(name)).then((bytes) => {
      response.end(cut.has(name) ? bytes.subarray(0, bytes.length / 2) : bytes);
    }, () => response.writeHead(404).end());
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, LIMIT_MS);
afterAll(async () => {
  if (!usable) return;
  await new Promise((done) => server.close(done));
  await folder.remove();
});
beforeEach(async () => {
  if (!usable) return;
  cut.clear();
  await rm(at("prefix"), { recursive: true, force: true });
});

/** Makes a folder with links to these programs only. */
async function pathOf(name: string, tools: readonly string[]): Promise<string> {
  const bin = at("bin", name);
  await mkdir(bin, { recursive: true });
  for (const tool of new Set(tools)) {
    await symlink(onPath(tool), join(bin, tool));
  }
  return bin;
}

type Install = { readonly kind?: string; readonly env?: Readonly<Record<string, string>> };

/** Runs the script of a release's channel in a clean environment. */
function install(release: string, argv: readonly string[], { kind = "gpgv and sha256sum", env = {} }: Install = {}) {
  const clean = ["-i", `PATH=${at("bin", kind)}`, `TMPDIR=${folder.path}`];
  const given = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return run("env", [...clean, ...given, "sh", join(channelOf(release), "install.sh"), ...argv]);
}
const intoPrefix = (release: string, argv: readonly string[], more: Install = {}) =>
  install(release, ["--prefix", at("prefix"), ...argv], more);

async function filesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name).slice(path.length + 1))
    .sort();
}

async function expectRefused(ended: Promise<Ended>, why: string): Promise<void> {
  const { code, stderr } = await ended;
  expect(stderr).toContain(why);
  expect(code).toBe(1);
  expect(await filesIn(at("prefix"))).toEqual([]);
}

describe.skipIf(!usable)("the channel", { timeout: LIMIT_MS }, () => {
  test("lists every program and the installer, and the booter's verification accepts it", async () => {
    const read = (name: string) => readFile(join(channelOf("new"), name));
    const channel = await verifiedChannel({
      document: await read("channel.json"),
      signature: await read("channel.json.asc"),
      key: new TextEncoder().encode(armoredPublicKey(await readReleaseKey(key_path, null))),
      now: new Date(),
    });
    expect(channel.files.map(({ name }) => name).sort())
      .toEqual(["install.sh", ...EXECUTABLES.map((name) => tarball(name, "1.10.0"))].sort());
    expect(channel.signed_at.getTime()).toBe((TIME_S + 86_400) * 1_000);
    const document = JSON.parse((await read("channel.json")).toString());
    expect(document).toMatchObject({ version: "1.10.0", released_at: "2026-01-03T00:00:00Z" });
  });

  test("a tarball built elsewhere is listed, too; a tarball of another version is refused", async () => {
    await writeFile(at("x"), "bytes");
    const given = { folder: at("extra"), version: "1.10.0", key_path, packages: ["opsctl"] } as const;
    const name = "nodeagent-1.10.0-sunos-amd64.tar.gz";
    expect(await smallRelease({ ...given, tarballs: [{ name, path: at("x") }] })).toContain(`channel/${name}`);
    expect(await readFile(at("extra/channel/channel.json"), "utf8")).toContain(name);
    const wrong = { ...given, folder: at("wrong") };
    await expect(smallRelease({ ...wrong, tarballs: [{ name: "nodeagent-1.9.0-sunos-amd64.tar.gz", path: at("x") }] }))
      .rejects.toThrow("must be PROGRAM-1.10.0-SYSTEM-MACHINE.tar.gz");
    await expect(smallRelease({ ...wrong, tarballs: [{ name, path: at("nowhere") }] })).rejects.toThrow(
      "cannot be read",
    );
  });
});

describe.skipIf(!usable)("a release that cannot be written", { timeout: LIMIT_MS }, () => {
  test("removes neither an existing release nor another folder", async () => {
    const kept = await filesIn(at("old"));
    const given = { folder: at("old"), version: "1.9.0", architecture: MACHINE, key_path } as const;
    const tarballs = [{ name: "x.tar.gz", path: at("x") }];
    await expect(smallRelease({ ...given, tarballs })).rejects.toThrow("must be PROGRAM-1.9.0");
    expect(await filesIn(at("old"))).toEqual(kept);
    await mkdir(at("home"), { recursive: true });
    await writeFile(at("home/diary.txt"), "mine");
    await expect(smallRelease({ ...given, folder: at("home") })).rejects.toThrow("contains diary.txt");
    expect(await filesIn(at("home"))).toEqual(["diary.txt"]);
  });

  test("has an error that names the wrong option, and --help shows the usage", async () => {
    const release = (...argv: string[]) => run(process.execPath, ["run", "-A", "cli/release/main.ts", ...argv]);
    const wrong = [
      [["--bogus"], 2, "Unknown option '--bogus'"],
      [[], 1, "--key FILE is required"],
      [["--key", at("nowhere")], 1, "nowhere: cannot be read (ENOENT)"],
      [["--key", at("old/release-key.asc")], 1, "release-key.asc: not an armored private key"],
      [["--key", key_path, "--package", "foo"], 1, "--package foo: must be one of berth-control-plane, opsctl"],
      [["--key", key_path, "--architecture", "sparc"], 1, "--architecture sparc: must be one of amd64, arm64"],
    ] as const;
    for (const [argv, code, why] of wrong) {
      const how = await release(...argv);
      expect([how.code, how.stderr]).toEqual([code, expect.stringContaining(why)]);
      expect(how.stderr).not.toMatch(/\n\s+at /);
    }
    expect(await release("--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("--tarball FILE") });
  });
});

describe.skipIf(!usable).each(Object.keys(KINDS))(
  "install.sh of the channel, with %s",
  { timeout: LIMIT_MS },
  (kind) => {
    test("installs every program with its manual, example settings and units", async () => {
      const how = await intoPrefix("new", [...EXECUTABLES], { kind });
      expect([how.stderr.includes("fail"), how.code]).toEqual([false, 0]);
      for (const name of EXECUTABLES) {
        expect((await run(at("prefix/bin", name), [])).stdout).toBe(`${name} 1.10.0\n`);
      }
      expect(await filesIn(at("prefix"))).toMatchSnapshot("files");
      expect(await readFile(at("prefix/lib/systemd/system/berth-nodeagent.service"), "utf8"))
        .toContain(`\nExecStart=${at("prefix/bin/nodeagent")} run `);
      expect((await readdir(at("prefix"))).filter((name) => name.startsWith("."))).toEqual([]);
    });

    test("S-42: refuses channel.json with a changed bit", async () => {
      const bytes = await readFile(join(channelOf("old"), "channel.json"));
      await copyOf("old", "broken");
      for (let place = 0; place < bytes.length; place += Math.ceil(bytes.length / 8)) {
        await flipBit(at("broken/channel/channel.json"), bytes, place);
        await expectRefused(intoPrefix("broken", ["opsctl"], { kind }), "is not valid");
      }
    });

    test("S-42: refuses a signature with a changed byte, except in its unsigned fields", async () => {
      const name = "broken/channel/channel.json.asc";
      const text = await readFile(join(channelOf("old"), "channel.json.asc"), "utf8");
      await copyOf("old", "broken");
      const [body = ""] = /\n\n([\s\S]*?)\n(?:=|-----END)/.exec(text)!.slice(1);
      const begin = text.indexOf(body);
      for (let place = 0; place < body.length; place += 29) {
        if (body[place] === "\n") continue;
        const other = body[place] === "A" ? "B" : "A";
        await writeFile(at(name), text.slice(0, begin + place) + other + text.slice(begin + place + 1));
        const { code } = await intoPrefix("broken", ["opsctl"], { kind });
        // A few bytes are not signed: the fields that help to find the key, and the copy of the digest's first two
        // bytes.
        if (code === 0) expect(place, "an unsigned field").toBeGreaterThan(50);
        else expect(await filesIn(at("prefix"))).toEqual([]);
        await rm(at("prefix"), { recursive: true, force: true });
      }
    });

    test("S-42: refuses a tarball with a changed bit, even if another requested tarball is intact", async () => {
      const name = tarball("opsctl", "1.9.0");
      const bytes = await readFile(join(channelOf("old"), name));
      await copyOf("old", "broken");
      for (let place = 0; place < bytes.length; place += Math.ceil(bytes.length / 8)) {
        await flipBit(at("broken/channel", name), bytes, place);
        await expectRefused(
          intoPrefix("broken", ["tenantctl", "opsctl"], { kind }),
          `${name} does not have the signed digest`,
        );
      }
    });

    test("refuses a channel signed by another key", async () => {
      await writeReleaseKey(at("other.key"));
      await smallRelease({
        folder: at("stranger"),
        version: "1.9.0",
        architecture: MACHINE,
        key_path: at("other.key"),
      });
      await copyOf("stranger", "broken");
      await writeFile(at("broken/channel/install.sh"), await readFile(at("old/channel/install.sh")));
      await expectRefused(intoPrefix("broken", ["opsctl"], { kind }), "is not valid");
    });

    test("installs over HTTP from CHANNEL_URL, and refuses half a file", async () => {
      const env = { CHANNEL_URL: `${url}/old/channel/channel.json` };
      expect((await intoPrefix("new", ["opsctl"], { kind, env })).code).toBe(0);
      expect((await run(at("prefix/bin/opsctl"), [])).stdout).toBe("opsctl 1.9.0\n");
      await rm(at("prefix"), { recursive: true });
      cut.add(`old/channel/${tarball("opsctl", "1.9.0")}`);
      await expectRefused(intoPrefix("new", ["opsctl"], { kind, env }), "does not have the signed digest");
      cut.add("old/channel/channel.json");
      await expectRefused(intoPrefix("new", ["opsctl"], { kind, env }), "is not valid");
      const nowhere = { CHANNEL_URL: `${url}/nowhere/channel.json` };
      await expectRefused(intoPrefix("new", ["opsctl"], { kind, env: nowhere }), "cannot fetch");
    });
  },
);

describe.skipIf(!usable)("install.sh of the channel", { timeout: LIMIT_MS }, () => {
  test("S-42: refuses a release with a lower version or an earlier date, except with --allow-downgrade", async () => {
    expect((await intoPrefix("new", ["opsctl"])).code).toBe(0);
    for (const release of ["old", "late"]) {
      const refused = await intoPrefix(release, ["opsctl", "tenantctl"]);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("opsctl 1.10.0 of 2026-01-03")]);
      await expect(access(at("prefix/bin/tenantctl"))).rejects.toThrow();
    }
    expect((await run(at("prefix/bin/opsctl"), [])).stdout).toBe("opsctl 1.10.0\n");
    expect((await intoPrefix("new", ["opsctl"])).code).toBe(0);
    expect((await intoPrefix("old", ["--allow-downgrade", "opsctl"])).code).toBe(0);
    expect((await run(at("prefix/bin/opsctl"), [])).stdout).toBe("opsctl 1.9.0\n");
    expect((await intoPrefix("new", ["opsctl"])).code).toBe(0);
  });

  test("refuses unknown programs and invalid options, and shows its usage without arguments", async () => {
    await expectRefused(intoPrefix("new", ["berth-control-plane"]), "unknown program berth-control-plane");
    await expectRefused(intoPrefix("new", ["../opsctl"]), "unknown program ../opsctl");
    await expectRefused(install("new", ["--prefix", "here", "opsctl"]), "--prefix must be an absolute path");
    await expectRefused(install("new", ["--prefix", "/tmp/a|b", "opsctl"]), "--prefix may contain");
    await expectRefused(intoPrefix("new", ["opsctl"], { env: { CHANNEL_URL: "file:///x" } }), "CHANNEL_URL is not");
    await expectRefused(intoPrefix("extra", ["nodeagent", "opsctl"]), "has no nodeagent for");
    const usage = await install("new", []);
    expect([usage.code, usage.stderr]).toEqual([2, expect.stringContaining("--allow-downgrade")]);
  });

  test("refuses a program that does not run on this machine", async () => {
    await smallRelease({
      folder: at("foreign"),
      version: "2.0.0",
      architecture: MACHINE,
      packages: ["opsctl"],
      key_path,
      program: "#!/nowhere/sh\n",
    });
    await expectRefused(intoPrefix("foreign", ["opsctl"]), "does not run on this machine");
  });

  test("installs the agent's service without running its settings as shell code, and refuses invalid settings", async () => {
    const env = {
      NODEAGENT_PREFIX: at("prefix/opt/nodeagent"),
      NODEAGENT_ENDPOINT: "https://berth.example/$(touch${IFS}x)",
      NODEAGENT_STATE_DIR: "/var/lib/a state `reboot`",
      NODEAGENT_SERVER_UUID: "6f1c2a52-0d5e-4c7e-9a3b-5a3d7f0b9c11",
      NODEAGENT_HOSTNAME: "node-7",
    };
    expect(await install("new", ["nodeagent"], { env })).toMatchObject({ code: 0 });
    await writeFile(at("prefix/opt/nodeagent/bin/nodeagent"), '#!/bin/sh\nprintf "%s|" "$@"\n');
    const { stdout } = await run(at("prefix/opt/nodeagent/lib/nodeagent/start"), []);
    expect(stdout).toBe(
      `run|--endpoint|${env.NODEAGENT_ENDPOINT}|--state-dir|${env.NODEAGENT_STATE_DIR}|` +
        `--server-uuid|${env.NODEAGENT_SERVER_UUID}|--hostname|node-7|`,
    );
    await rm(at("prefix"), { recursive: true });
    for (
      const [name, value, why] of [
        ["NODEAGENT_ENDPOINT", "ftp://x", "must be an http or https URL"],
        ["NODEAGENT_STATE_DIR", "here", "must be an absolute path"],
        ["NODEAGENT_SERVER_UUID", "7", "is not a UUID"],
        ["NODEAGENT_HOSTNAME", "a\nendpoint\thttp://evil", "more than one line"],
      ] as const
    ) {
      await expectRefused(install("new", ["nodeagent"], { env: { ...env, [name]: value } }), why);
    }
  });

  test("on SmartOS, installs the agent's manifest into the folder that every boot imports", async () => {
    const bin = await pathOf("SmartOS", [...COMMON.split(" ").filter((each) => each !== "uname"), "openssl"]);
    const uname = "#!/bin/sh\ncase $1 in -s) echo SunOS ;; -m) echo i86pc ;; esac\n";
    const digest = '#!/bin/sh\n[ "$1 $2" = "-a sha256" ] && openssl dgst -sha256 -r "$3" | cut -c1-64\n';
    for (const [name, text] of [["uname", uname], ["digest", digest]] as const) {
      await writeFile(join(bin, name), text);
      await chmod(join(bin, name), 0o755);
    }
    const [name, path] = [
      "nodeagent-1.10.0-sunos-amd64.tar.gz",
      join(channelOf("new"), tarball("nodeagent", "1.10.0")),
    ];
    const given = { folder: at("smartos"), version: "1.10.0", architecture: MACHINE, key_path } as const;
    await smallRelease({ ...given, packages: ["nodeagent"], tarballs: [{ name, path }] });
    const env = {
      NODEAGENT_PREFIX: at("prefix/opt/nodeagent"),
      NODEAGENT_ENDPOINT: "https://berth.example",
      NODEAGENT_STATE_DIR: at("prefix/opt/nodeagent/state"),
    };
    const how = await install("smartos", ["nodeagent"], { kind: "SmartOS", env });
    expect(how).toMatchObject({ code: 0 });
    expect(await readFile(at("prefix/opt/custom/smf/nodeagent.xml"), "utf8"))
      .toContain(`exec="${at("prefix/opt/nodeagent/lib/nodeagent/start")}"`);
    await expectRefusedOnSmartOs(install("new", ["--prefix", at("other"), "nodeagent"], { kind: "SmartOS" }));
  });
});

async function expectRefusedOnSmartOs(ended: Promise<Ended>): Promise<void> {
  const { code, stderr } = await ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining("has no nodeagent for sunos-amd64; it has: ")]);
  expect(stderr).toContain(tarball("nodeagent", "1.10.0"));
}

async function copyOf(from: string, to: string): Promise<void> {
  await rm(at(to), { recursive: true, force: true });
  await run("cp", ["-r", at(from), at(to)]);
}
