// Tests the configuration file and `booter check`. The message about a wrong value names its key. An unknown key is an
// error. `booter check` reports each problem of a site.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, chown, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { check } from "../../booter/check.ts";
import { ownerFindings } from "../../booter/check-owner.ts";
import { portFindings } from "../../booter/check-ports.ts";
import { newCounters } from "../../booter/counters.ts";
import { openMetrics } from "../../booter/metrics.ts";
import { listenOn } from "../../booter/tcp-port.ts";
import { openUdp } from "../../booter/udp-socket.ts";
import { ConfigFault, readBooterConfig } from "../../booter/config.ts";
import { readTls } from "../../booter/private-file.ts";
import type { ApiClient } from "../../booter/api-client/client.ts";
import { ApiFault } from "../../booter/api-client/client.ts";
import { bootFacts } from "../../booter/api-client/wire.ts";
import { fakeEnvironment } from "../cli/fake-environment.ts";
import { runBooter } from "../../booter/program.ts";
import { needs } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { factsOf } from "./facts.ts";
import { IMAGES, SETUP_BLOCK, stageFiles, STAMP } from "./site.ts";
import { readText } from "../lint/sources.ts";

const BASE = `state_dir = "/var/lib/booter"
files_dir = "/srv/boot"
[control_plane]
url = "https://berth.example"
key_file = "/etc/berth/booter.key"
[[segment]]
address = "10.0.0.1"
prefix_len = 24
`;
function refusal(text: string): string[] {
  try {
    readBooterConfig(text, "booter.toml");
    return [];
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    return error.message.split("\n");
  }
}

test("with the shortest file, the booter answers only netboot clients, has no AMQP broker and uses well-known ports", () => {
  expect(readBooterConfig(BASE, "booter.toml")).toMatchObject({
    console: "text",
    dhcp: { listen: "0.0.0.0", port: 67, answer_only_pxe: true, relays: [], relay_reply: "giaddr" },
    tftp: { port: 69 },
    http: { port: 80 },
    control_plane: { cache_max_age_hours: 24 },
  });
  expect(readBooterConfig(BASE, "booter.toml").ur).toBeUndefined();
});

test("only the booter's user may read the HTTPS key, and both HTTPS files must be PEM", async () => {
  const folder = await temporaryFolder("tls");
  const [certificate_file, key_file] = ["cert", "key"].map((name) => join(folder.path, name)) as [string, string];
  const read = () => readTls({ certificate_file, key_file }).then(() => "read", (error) => error.message);
  try {
    expect(await read()).toMatch(/^https\.key_file: cannot read/);
    await writeFile(key_file, "-----BEGIN PRIVATE KEY-----\n", { mode: 0o644 });
    expect(await read()).toMatch(/^https\.key_file: .* is accessible to other users/);
    await chmod(key_file, 0o600);
    expect(await read()).toMatch(/^https\.certificate_file: cannot read/);
    await writeFile(certificate_file, "no certificate\n");
    expect(await read()).toMatch(/^https\.certificate_file: .* is not PEM$/);
    await writeFile(certificate_file, "-----BEGIN CERTIFICATE-----\n");
    expect(await read()).toBe("read");
  } finally {
    await folder.remove();
  }
});

describe("the shipped configuration file", () => {
  const shipped = readText("booter/booter.toml");

  test("is valid, and configures no AMQP broker", () => {
    expect(readBooterConfig(shipped, "booter.toml").ur).toBeUndefined();
  });

  test("contains a complete [ur] block as a comment; the command in the file enables the block", async (context) => {
    needs(context, "sed");
    const folder = await temporaryFolder("shipped-config");
    const path = join(folder.path, "booter.toml");
    await writeFile(path, shipped);
    const command = /^# {3}(sed .*) \/etc\/berth\/booter\.toml$/m.exec(shipped)![1]!;
    await promisify(execFile)("sh", ["-c", `${command} "$1"`, "sh", path]);
    const config = readBooterConfig(await readFile(path, "utf8"), "booter.toml");
    await folder.remove();
    expect(config.ur).toEqual({
      port: 5_672,
      peers: [],
      setup: {
        install_sh_url: "https://install.example/install.sh",
        agent_endpoint: "https://berth.example",
        platform_stamp: "20260901T000000Z",
        platform_image_sha256: "0".repeat(64),
        boot_image_stamp: "20260901T000000Z",
        boot_image_sha256: "0".repeat(64),
      },
    });
  });

  test("shows the optional keys of [ur] and [ur.setup] in a valid form", () => {
    const optional = shipped.replace(/^#(?=[^ \n])/gm, "").replace(/^# (?=(ntp_server|upstream_\w+|peers) = )/gm, "");
    const { ur } = readBooterConfig(optional, "booter.toml");
    expect(ur?.peers).toEqual([{ address: "10.77.0.3", port: 80 }]);
    expect(ur?.setup).toMatchObject({
      ntp_server: "10.77.0.2",
      upstream_channel_url: "https://install.example/channel.json",
      upstream_key_file: "/etc/berth/release-key.asc",
    });
  });
});

describe("a file is refused if it has", () => {
  test.each([
    ["an unknown key", `colour = 1\n${BASE}`, /^booter\.toml: colour: unknown key/],
    [
      "an unknown key of a block",
      `${BASE}[dhcp]\nanswer_only_pex = true\n`,
      /^booter\.toml: dhcp\.answer_only_pex: unknown key/,
    ],
    [
      "an invalid address",
      BASE.replace("10.0.0.1", "10.0.0.256"),
      /^booter\.toml: segment\.0\.address: must be an IPv4/,
    ],
    ["a prefix length of 0", BASE.replace("= 24", "= 0"), /^booter\.toml: segment\.0\.prefix_len: /],
    ["no segment", BASE.slice(0, BASE.indexOf("[[segment")), /^booter\.toml: segment: /],
    [
      "a duplicate segment",
      `${BASE}[[segment]]\naddress = "10.0.0.1"\nprefix_len = 16\n`,
      /segment: 10\.0\.0\.1 is listed twice/,
    ],
    ["an invalid port", `${BASE}[http]\nport = 70000\n`, /^booter\.toml: http\.port: /],
    [
      "a password in an address",
      BASE.replace("https://", "https://user:secret@"),
      /^booter\.toml: control_plane\.url: /,
    ],
    ["a relay without a prefix length", `${BASE}[dhcp]\nrelays = ["10.0.0.0"]\n`, /^booter\.toml: dhcp\.relays\.0: /],
    [
      "an incomplete setup",
      `${BASE}[ur.setup]\nplatform_stamp = "a"\n`,
      /^booter\.toml: ur\.setup\.install_sh_url: /,
    ],
    [
      "a stamp that is a path",
      `${BASE}${SETUP_BLOCK.replace(`platform_stamp = "${STAMP}"`, 'platform_stamp = "../x"')}`,
      /^booter\.toml: ur\.setup\.platform_stamp: /,
    ],
    [
      "an invalid hash",
      BASE + SETUP_BLOCK.replace(/(boot_image_sha256 = ").{64}/, "$1short"),
      /^booter\.toml: ur\.setup\.boot_image_sha256: must be 64/,
    ],
    [
      "an upstream key without an upstream channel",
      `${BASE}${SETUP_BLOCK}upstream_key_file = "/etc/berth/channel.asc"\n`,
      /^booter\.toml: ur\.setup\.upstream_key_file: /,
    ],
    ["text that is not TOML", `${BASE}x = \n`, /^booter\.toml: /],
  ])("%s", (_name, text, message) => {
    expect(refusal(text)[0]).toMatch(message);
  });

  test("several problems, with one message for each", () => {
    expect(refusal(`a = 1\nb = 2\n${BASE}[http]\nport = -1\n`)).toHaveLength(3);
  });

  test("a password in an address, and the message does not contain the password", () => {
    expect(refusal(BASE.replace("https://", "https://user:secret@")).join()).not.toContain("secret");
  });
});

describe("booter check", () => {
  async function checked(more: string, api: Partial<ApiClient> = {}, mac: string | null = null) {
    const folder = await temporaryFolder("check");
    await stageFiles(folder.path);
    const text = BASE.replace("/srv/boot", join(folder.path, "files")).replace("10.0.0.1", "127.0.0.1");
    const config = readBooterConfig(
      `${text}[dhcp]\nport = 0\n[tftp]\nport = 0\n[http]\nport = 0\n[metrics]\nport = 0\n${more}`,
      "booter.toml",
    );
    const answers: Partial<ApiClient> = {
      policy: () => Promise.resolve({ enrollment_pi: STAMP, enrollment_kernel_args: [] }),
      records: () => Promise.resolve([bootFacts(factsOf())]),
      ...api,
    };
    const findings = await check({ config, mac, client: "ipxe", api: answers as ApiClient });
    await folder.remove();
    return findings.map((each) => `${each.level} ${each.text.replace(folder.path, "")}`);
  }

  test("accepts a correct site, and shows the image that each machine would boot", async () => {
    expect(await checked(SETUP_BLOCK, {}, "52:54:00:aa:00:01")).toEqual([
      "ok undionly.kpxe: found",
      "ok snponly.efi: found",
      `ok platform images: ${STAMP} (smartos)`,
      "ok DHCP: 127.0.0.1 UDP port 0 can be opened",
      "ok TFTP: 127.0.0.1 UDP port 0 can be opened",
      "ok HTTP: 127.0.0.1 TCP port 0 can be opened",
      "ok AMQP: 127.0.0.1 TCP port 0 can be opened",
      "ok metrics: 127.0.0.1 TCP port 0 can be opened",
      `ok setup/platform-${STAMP}.tgz: SHA-256 matches`,
      `ok setup/boot-${STAMP}.tgz: SHA-256 matches`,
      "ok control plane: https://berth.example knows 1 machine",
      `ok enrollment_pi ${STAMP}: is staged`,
      `ok 52:54:00:aa:00:01 as ipxe (enrolling): boots ${STAMP} (enrol)`,
    ]);
  });

  describe("names each port that it cannot open:", () => {
    const found = async (change: (text: string) => string) => {
      const base = BASE.replace("10.0.0.1", "127.0.0.1");
      const ports = ["dhcp", "tftp", "http", "metrics"].map((name) => `[${name}]\nport = 0\n`).join("");
      const config = readBooterConfig(change(`${base}${ports}`), "booter.toml");
      return (await portFindings(config)).filter(({ level }) => level !== "ok").map(({ level, text }) =>
        `${level} ${text}`
      );
    };

    test("an address that this machine does not have", async () => {
      expect(await found((text) => text.replace("127.0.0.1", "192.0.2.1"))).toEqual([
        "fail DHCP: 192.0.2.1 UDP port 0: 192.0.2.1 is not an address of this machine",
        "fail TFTP: 192.0.2.1 UDP port 0: 192.0.2.1 is not an address of this machine",
        "fail HTTP: 192.0.2.1 TCP port 0: 192.0.2.1 is not an address of this machine",
      ]);
    });

    test("a UDP port of another DHCP server, although that server allows sharing, and a TCP port of another program", async () => {
      const other = await openUdp({
        address: "127.0.0.1",
        port: 0,
        shared: true,
        received: () => {},
        failed: () => {},
      });
      const server = createServer();
      const taken = await listenOn(server, { address: "127.0.0.1", port: 0 });
      const change = (text: string) =>
        text.replace("[dhcp]\nport = 0", `[dhcp]\nport = ${other.port}`)
          .replace("[http]\nport = 0", `[http]\nport = ${taken}`);
      expect(await found(change)).toEqual([
        `fail DHCP: 127.0.0.1 UDP port ${other.port} is in use by another program`,
        `fail HTTP: 127.0.0.1 TCP port ${taken} is in use by another program`,
      ]);
      await other.close();
      await new Promise((resolve) => server.close(resolve));
    });

    test("a port of a running booter, but only as a warning", async () => {
      const metrics = await openMetrics({ port: 0, counters: newCounters(), healthy: () => true });
      expect(await found((text) => text.replace("[metrics]\nport = 0", `[metrics]\nport = ${metrics.port}`))).toEqual([
        `warn metrics: 127.0.0.1 TCP port ${metrics.port} is in use; a booter is running here`,
      ]);
      await metrics.close();
    });
  });

  test("names a key file that the service's user does not own", async () => {
    const folder = await temporaryFolder("check-owner");
    const state = join(folder.path, "state");
    await mkdir(state);
    if (process.getuid?.() === 0) await chown(state, 12_345, 12_345);
    const mine = join(folder.path, "booter.key");
    await writeFile(mine, "a key\n");
    const { uid, gid } = await stat(state);
    if (process.getuid?.() === 0) await chown(mine, uid, gid);
    const found = async (key_file: string, runs_as = 0) => {
      const text = BASE.replace("/var/lib/booter", state).replace("/etc/berth/booter.key", key_file);
      return await ownerFindings(readBooterConfig(text, "booter.toml"), runs_as);
    };
    expect(await found(mine)).toEqual([]);
    const [finding, ...others] = await found("/etc/passwd");
    expect([finding?.level, others]).toEqual(["fail", []]);
    expect(finding?.text).toContain("control_plane.key_file: the service cannot read /etc/passwd");
    expect(await found("/etc/passwd", uid)).toEqual([]);
    expect(await found(join(folder.path, "none"))).toEqual([]);
    await folder.remove();
  });

  test("shows why a machine gets no answer", async () => {
    const records = () =>
      Promise.resolve([bootFacts(factsOf({ state: "discovered", address: null, networking: null }))]);
    const mac = "52:54:00:aa:00:01";
    expect((await checked("", { records }, mac)).at(-1)).toBe(
      `warn ${mac} as ipxe (discovered): gets no answer: its record is discovered; authorize it with opsctl`,
    );
    expect((await checked("", { records }, "52:54:00:aa:00:02")).at(-1)).toContain("has no record of it");
  });

  test("reports a wrong archive, an image that is not staged, and an unreachable control plane", async () => {
    const wrong = SETUP_BLOCK.replace(createHash("sha256").update(IMAGES.boot).digest("hex"), "0".repeat(64));
    expect(await checked(wrong)).toContainEqual(
      expect.stringMatching(/^fail setup\/boot-.*: has SHA-256 [0-9a-f]{64}, not 0{64}$/),
    );
    const policy = () => Promise.resolve({ enrollment_pi: "other", enrollment_kernel_args: [] });
    expect(await checked("", { policy })).toContain(
      "fail enrollment_pi other: is not staged on this booter; no machine can enrol",
    );
    const away = () => Promise.reject(new ApiFault("GET /v2/cn-boot: no answer", null));
    expect((await checked("", { records: away })).at(-1)).toContain("fail control plane: https://berth.example: GET");
  });

  test("exits with 1 if it cannot read the configuration, and with 2 for wrong arguments", async () => {
    const folder = await temporaryFolder("check");
    const path = join(folder.path, "booter.toml");
    await writeFile(path, `x = 1\n${BASE}`);
    const { environment, err } = fakeEnvironment();
    expect(await runBooter(["check", "--config", path], environment)).toBe(1);
    expect(err()).toBe(`error: ${path}: x: unknown key\n`);
    expect(await runBooter(["check", "--config", join(folder.path, "none")], environment)).toBe(1);
    expect(err()).toContain("none: cannot be read: it does not exist");
    expect(await runBooter(["check", "--client", "toaster"], environment)).toBe(2);
    await folder.remove();
  });
});
