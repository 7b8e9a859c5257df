// Checks the systemd units: their programs are in the packages, and their privileges are minimal.
import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONNECTIONS_MAX } from "../../src/contract/limits.ts";
import { serverPermissions } from "../../src/permissions.ts";
import { run } from "../../nodeagent/run.ts";
import { PACKAGES } from "../../cli/release/packages.ts";
import { DOCUMENTS, textOf } from "../guides/documents.ts";
import { settingsIn } from "../guides/guide.ts";
import { needs, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { readDeb } from "./read-deb.ts";
import { releaseKeyIn, smallRelease } from "./small-release.ts";
import { parseUnit, type Unit } from "./unit.ts";

const UNITS = "usr/lib/systemd/system/";
/** The file that the control plane's postinst creates. */
const MADE_AT_INSTALLATION = "etc/berth/control-plane.keys";
/** Targets to which the units refer. */
const TARGETS = ["sysinit", "basic", "shutdown", "multi-user", "network-online", "timers", "time-sync", "time-set"];
const AGENT = "berth-nodeagent.service";

let folder: TemporaryFolder;
const files = new Map<string, { readonly mode: string; readonly text: string }>();
const units = new Map<string, Unit>();

beforeAll(async () => {
  folder = await temporaryFolder("units");
  const out = join(folder.path, "release");
  await smallRelease({ folder: out, version: "1.2.3", key_path: await releaseKeyIn(folder.path) });
  for (const name of PACKAGES) {
    const { data } = readDeb(await readFile(join(out, `${name}_1.2.3_amd64.deb`)));
    for (const { path, mode, isFolder, bytes } of data.values()) {
      if (isFolder || path.startsWith("usr/lib/berth/node_modules/")) continue;
      files.set(path, { mode, text: bytes.toString("utf8") });
      if (path.startsWith(UNITS)) units.set(path.slice(UNITS.length), parseUnit(bytes.toString("utf8")));
    }
  }
});
afterAll(() => folder.remove());

const services = () => [...units].filter(([name]) => name.endsWith(".service"));

test("the packages have these units", () => {
  expect([...units.keys()].sort()).toMatchSnapshot();
});

test("a unit runs a program of its package and reads existing settings", () => {
  for (const [name, unit] of services()) {
    const [program = ""] = unit.one("ExecStart").split(" ");
    expect(files.get(program.slice(1))?.mode, name).toBe("755");
    const settings = unit.all("EnvironmentFile").map((path) => path.slice(1));
    expect(settings.filter((path) => path !== MADE_AT_INSTALLATION && !files.has(path)), name).toEqual([]);
  }
});

test("the documents name only units of the packages", () => {
  const named = DOCUMENTS.flatMap((document) =>
    [...textOf(document).matchAll(/systemctl (?:enable --now|start|stop|restart) ([\w.-]+)/g)].map(([, unit = ""]) =>
      [document, unit.includes(".") ? unit : `${unit}.service`] as const
    )
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(([, unit]) => !units.has(unit))).toEqual([]);
});

test("the node agent's unit passes the options in NODEAGENT_OPTIONS, such as the options in its example", () => {
  const [example = ""] = settingsOf("etc/berth/nodeagent.env", "#NODEAGENT_OPTIONS");
  expect(parsedAgent(example)).toMatchObject({
    endpoint: "https://berth.example",
    driver: "auto",
    nicTags: "admin,external:ext",
    underlayAddress: "10.78.0.11",
  });
  expect(parsedAgent("")).toMatchObject({ nicTags: "admin,external" });
});

test("the guides name the bridge of the external network, and the option to register again", () => {
  const [bridge = "", options = ""] = settingsIn(textOf("docs/guides/networks.md"), "ini");
  const [, name] = /^auto (\S+)$/m.exec(bridge)!;
  expect(parsedAgent(options.replace("NODEAGENT_OPTIONS=", "").trim())).toMatchObject({
    nicTags: `admin,external:${name}`,
  });
  const [, again = ""] = /`([^`]+)` to `NODEAGENT_OPTIONS`/.exec(textOf("docs/guides/rotating-keys.md"))!;
  expect(parsedAgent(again)).toMatchObject({ reRegister: true });
});

/** Returns the values of a setting in a file of the packages. */
function settingsOf(path: string, name: string): readonly string[] {
  return files.get(path)!.text.split("\n").filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1));
}

/** Parses the agent's command line as its unit starts it with these NODEAGENT_OPTIONS. Returns the agent's options. */
function parsedAgent(given: string): unknown {
  const unit = units.get(AGENT)!;
  const set = unit.one("Environment").split(" ").map((each) => each.split(/=(.*)/s) as [string, string]);
  const values = new Map([...set, ["BERTH_ENDPOINT", settingsOf("etc/berth/nodeagent.env", "BERTH_ENDPOINT")[0]!]]);
  values.set("NODEAGENT_OPTIONS", given);
  // systemd splits the value of $NAME at spaces, and omits an empty value. ${NAME} is one word.
  const words = unit.one("ExecStart").split(" ").flatMap((word) => {
    if (/^\$\w+$/.test(word)) return values.get(word.slice(1))!.split(" ").filter((each) => each !== "");
    return [word.replace(/\$\{(\w+)\}/, (_, name) => values.get(name)!)];
  });
  expect(words[1]).toBe("run");
  const command = run();
  expect(command.parseOptions(words.slice(2))).toMatchObject({ operands: [], unknown: [] });
  return command.opts();
}

test("only root can read settings that may contain secrets", () => {
  const open = services().flatMap(([, unit]) => unit.all("EnvironmentFile").map((path) => path.slice(1)))
    .filter((path) => files.has(path) && files.get(path)!.mode !== "600");
  expect(open).toEqual([]);
});

test("a unit runs as a user of its package, or as a dynamic user of systemd", () => {
  for (const [name, unit] of services()) {
    // The node agent is root: it creates processes of other users, network namespaces and taps.
    if (name === AGENT) continue;
    const user = unit.all("User")[0];
    const made = [...files].filter(([path]) => path.startsWith("usr/lib/sysusers.d/")).map(([, { text }]) =>
      text.split(" ")[1]
    );
    if (user === undefined) expect(unit.one("DynamicUser"), name).toBe("yes");
    else expect(made, name).toContain(user);
  }
});

test("only the booter, for ports 67, 69 and 80, and the node agent, for VMs, have capabilities", () => {
  const bounds = Object.fromEntries(services().map(([name, unit]) => [name, unit.one("CapabilityBoundingSet")]));
  const { "berth-booter.service": booter, [AGENT]: agent, ...others } = bounds;
  expect(agent!.split(" ")).toEqual([
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_KILL",
    "CAP_NET_ADMIN",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_RAW",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_ADMIN",
    "CAP_SYS_RESOURCE",
  ]);
  expect(booter).toBe("CAP_NET_BIND_SERVICE");
  expect(units.get("berth-booter.service")!.one("AmbientCapabilities")).toBe("CAP_NET_BIND_SERVICE");
  expect(Object.values(others)).toEqual(["", ""]);
});

test("the node agent stays in the machine's mount namespace, so that the services of VMs see its mounts", () => {
  const unit = units.get(AGENT)!;
  const mounting = [
    "ProtectSystem",
    "ProtectHome",
    "PrivateTmp",
    "PrivateDevices",
    "ProtectKernelModules",
    "DynamicUser",
  ];
  expect(mounting.flatMap((key) => unit.all(key))).toEqual([]);
  expect([unit.one("NoNewPrivileges"), unit.one("SystemCallArchitectures"), unit.one("KillMode")])
    .toEqual(["yes", "native", "mixed"]);
});

// tests/networks/guests.test.ts runs the agent's child process with the capabilities of this unit.
test("the node agent's child processes may send ARP packets", () => {
  expect(units.get(AGENT)!.one("RestrictAddressFamilies").split(" ")).toContain("AF_PACKET");
});

test("every other unit has a read-only system and cannot gain privileges", () => {
  const wanted = {
    ProtectSystem: "strict",
    NoNewPrivileges: "yes",
    ProtectHome: "yes",
    PrivateTmp: "yes",
    PrivateDevices: "yes",
    RestrictNamespaces: "yes",
    ProtectKernelTunables: "yes",
    ProtectKernelModules: "yes",
    ProtectControlGroups: "yes",
    SystemCallArchitectures: "native",
  };
  for (const [name, unit] of services().filter(([name]) => name !== AGENT)) {
    const found = Object.fromEntries(Object.keys(wanted).map((key) => [key, unit.one(key)]));
    expect(found, name).toEqual(wanted);
  }
});

describe("the control plane's Deno", () => {
  const start = () => files.get("usr/lib/berth/bin/start")!.text;

  test("gets the permissions of its configuration, never all permissions", () => {
    expect(start().split("\n").filter((line) => /deno|\$@|src\//.test(line) && !line.startsWith("#"))).toEqual([
      "set -- bin/deno run --no-prompt --no-remote --no-lock --config=deno.json",
      'permissions=$("$@" --allow-env --allow-read src/permissions.ts)',
      'exec "$@" $permissions src/start.ts --no-prompt --no-remote --no-lock --config=deno.json',
    ]);
  });

  /** The file with the memory limit in cgroup v2 and in cgroup v1, each with its text if there is no limit. */
  const MEMORY_LIMITS = [["memory.max", "max"], ["memory/memory.limit_in_bytes", "9223372036854771712"]] as const;

  /** The memory limits are in GiB; 256 MiB are for the server itself, and 60 KB for each connection. */
  test.each([
    [65_536, "max", "64536"],
    [2_000, "max", "none"],
    [1_000_000, "max", "999000"],
    [1_048_576, "max", "none"],
    [1_000_000, 1, "13421"],
    [1_048_576, 1, "13421"],
    [1_048_576, 2, "none"],
    [65_536, 2, "31317"],
    [65_536, 8, "64536"],
    [65_536, 0.25, "1000"],
    [2_000, 0.5, "4473"],
  ])(
    "with a limit of %i open files and of %s GiB of memory, the script sets BERTH_CONNECTIONS_MAX to %s, unless the variable is set",
    async (files, memory, connections) => {
      const place = join(folder.path, `start-${files}-${memory}`);
      await mkdir(join(place, "bin"), { recursive: true });
      await writeFile(join(place, "bin/deno"), '#!/bin/sh\necho "${BERTH_CONNECTIONS_MAX:-none}"\n', { mode: 0o755 });
      for (const [file, none] of MEMORY_LIMITS) {
        const cgroup = join(place, file.replaceAll("/", "-"));
        await mkdir(dirname(join(cgroup, file)), { recursive: true });
        await writeFile(join(cgroup, file), `${typeof memory === "number" ? memory * 2 ** 30 : none}\n`);
        // Replaces the limits of the machine, which an ordinary user cannot raise.
        const script = start().replace("/usr/lib/berth", place).replace("$(ulimit -Hn)", String(files))
          .replaceAll("/sys/fs/cgroup", cgroup);
        expect(script).toContain(`files=${files}\n`);
        const env = { PATH: "/usr/bin:/bin" };
        expect(execFileSync("sh", ["-c", script], { encoding: "utf8", env }).trim(), file).toBe(connections);
        const given = execFileSync("sh", ["-c", script], {
          encoding: "utf8",
          env: { ...env, BERTH_CONNECTIONS_MAX: "20" },
        });
        expect(given.trim()).toBe("20");
      }
    },
  );

  test("the script knows the server's default number of connections", () => {
    expect(start()).toContain(`[ "$room" -lt ${CONNECTIONS_MAX} ]`);
  });

  test("runs files of the package", () => {
    expect(files.has("usr/lib/berth/src/permissions.ts")).toBe(true);
    expect(files.has("usr/lib/berth/src/start.ts")).toBe(true);
    expect(files.has("usr/lib/berth/src/outbound/process.ts")).toBe(true);
    expect(files.has("usr/lib/berth/src/serve.ts")).toBe(true);
  });

  test("with the installed configuration, may use only listed addresses and variables, and read only its own files", () => {
    const settings = files.get("etc/berth/control-plane.env")!.text.split("\n").filter((line) => /^\w+=/.test(line))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]);
    const addresses = {
      DATABASE_URL: "postgres://berth@db.example:5433/berth",
      BERTH_OWNER_DATABASE_URL: "postgres://berth_owner@db.example:5433/berth",
    };
    const env = { ...Object.fromEntries(settings), ...addresses };
    expect(serverPermissions(env, { fetcher_port: 40_000 })).toEqual([
      expect.stringMatching(/^--allow-net=[0-9.]+:[0-9]+,db\.example:5433,127\.0\.0\.1:40000$/),
      expect.stringMatching(/^--allow-env=[A-Z0-9_,*]+$/),
      "--allow-read=migrations,src/auth/password-worker.ts,console/dist",
    ]);
  });
});

test("systemd-analyze reports no problem in any unit", async (context) => {
  needs(context, "systemd-analyze");
  const root = join(folder.path, "root");
  const place = async (path: string, text: string, mode: number) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text, { mode });
  };
  for (const [path, { text, mode }] of files) await place(path, text, parseInt(mode, 8));
  for (const name of TARGETS) {
    await place(`${UNITS}${name}.target`, "[Unit]\nDescription=placeholder\n", 0o644);
  }
  const paths = [...units.keys()].map((name) => join(root, UNITS, name));
  // systemd-analyze prints problems and ends with 1.
  const output = execFileSync(present("systemd-analyze"), ["verify", "--man=no", `--root=${root}`, ...paths], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(output).toBe("");
});
