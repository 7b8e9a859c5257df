// Starts the site of the guide to automatic failover on one machine: three members of etcd, two PostgreSQL servers with
// Patroni, three control planes and HAProxy. The site uses the settings of the guide with other addresses, ports, paths
// and passwords. HAProxy accepts plain HTTP.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { present } from "../support/optional-programs.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { sleep, until } from "../stress/waiting.ts";
import { settingsIn } from "./guide.ts";
import { type Haproxy, startHaproxy } from "./haproxy.ts";
import type { Postgres } from "./postgres.ts";
import { guidePort } from "./ports.ts";
import { replaced, ROOT } from "./run.ts";

const execFileAsync = promisify(execFile);

/** The machines of the guide. */
const MEMBERS = ["cp1", "cp2", "cp3"] as const;
const DATABASES = ["db1", "db2"] as const;
export type DatabaseName = (typeof DATABASES)[number];

/**
 * A long time limit, because the first start creates a cluster and copies it to the standby, possibly on a busy
 * machine.
 */
const START_LIMIT_MS = 120_000;
const LOOK_MS = 100;

export type FailoverSite = {
  /** The address of HAProxy. */
  readonly url: string;
  /** The URL of both servers, with the login of PostgreSQL's administrator. */
  readonly admin_url: string;
  /** The same URL with the database of the control plane. */
  readonly database_url: string;
  readonly servers: readonly ServerProcess[];
  /** Waits until one server is the primary and the other server is its synchronous standby. Returns the primary. */
  redundant(): Promise<DatabaseName>;
  /** Ends all processes of a database server, as a loss of power does. */
  killMachine(name: DatabaseName): Promise<void>;
  /** Ends only PostgreSQL on a database server. Patroni continues to run. */
  killPostgres(name: DatabaseName): Promise<void>;
  startMachine(name: DatabaseName): void;
  /** Returns the ends of the logs, for failure messages. */
  logs(): Promise<string>;
  close(): Promise<void>;
};

export async function openFailoverSite(folder: string, postgres: Postgres): Promise<FailoverSite> {
  const plan = await makePlan(folder, postgres);
  const running = new Map<string, ChildProcess>();
  const servers: ServerProcess[] = [];
  let haproxy: Haproxy | undefined;

  function run(name: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}): void {
    const [program, ...rest] = argv;
    const log = createWriteStream(join(folder, `${name}.log`), { flags: "a" });
    const child = spawn(program!, rest, { cwd: folder, env: { ...bare(), ...env }, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout!.pipe(log, { end: false });
    child.stderr!.pipe(log, { end: false });
    running.set(name, child);
  }

  const startMachine = (name: DatabaseName) =>
    run(name, postgres.wrap([present("python3 with Patroni"), present("patroni"), join(folder, `${name}.yml`)]));

  async function states(): Promise<ReadonlyMap<string, string>> {
    const port = plan.patroni[0];
    for (const each of [port, plan.patroni[1]]) {
      const answer = await fetch(`http://127.0.0.1:${each}/cluster`, { signal: AbortSignal.timeout(2_000) })
        .then((response) => response.json() as Promise<{ members: { name: string; role: string; state: string }[] }>)
        .catch(() => null);
      if (answer !== null) return new Map(answer.members.map(({ name, role, state }) => [name, `${role} ${state}`]));
    }
    return new Map();
  }

  const site: FailoverSite = {
    url: `http://127.0.0.1:${plan.haproxy}`,
    admin_url: plan.admin_url,
    database_url: plan.database_url,
    servers,
    async redundant() {
      let primary: DatabaseName | undefined;
      const found = await until(async () => {
        const known = await states();
        primary = DATABASES.find((name) => known.get(name) === "leader running");
        const standby = DATABASES.find((name) => /^sync_standby (?:running|streaming)$/.test(known.get(name) ?? ""));
        return primary !== undefined && standby !== undefined && primary !== standby;
      }, { limit_ms: START_LIMIT_MS, look_ms: LOOK_MS });
      if (!found) throw new Error(`no synchronous standby: ${[...await states()]}\n${await site.logs()}`);
      return primary!;
    },
    async killMachine(name) {
      const postgres_pid = await postmaster(join(folder, name));
      const patroni = running.get(name)!;
      // Ends Patroni first, so that Patroni does not notice the end of PostgreSQL.
      patroni.kill("SIGKILL");
      if (postgres_pid !== null) await killTree(postgres_pid);
      if (patroni.exitCode === null && patroni.signalCode === null) {
        await new Promise((ended) => patroni.once("exit", ended));
      }
    },
    async killPostgres(name) {
      const pid = await postmaster(join(folder, name));
      if (pid !== null) await killTree(pid);
    },
    startMachine,
    async logs() {
      const names = (await readdir(folder)).filter((name) => name.endsWith(".log"));
      const texts = await Promise.all(names.map(async (name) => `-- ${name}\n${await tail(join(folder, name))}`));
      return [...texts, ...servers.map((server) => `-- ${server.url}\n${server.log().slice(-LOG_CHARS)}`)].join("\n");
    },
    async close() {
      await haproxy?.close();
      await Promise.all(servers.map((server) => server.kill()));
      for (const name of DATABASES) if (running.has(name)) await site.killMachine(name);
      for (const child of running.values()) child.kill("SIGKILL");
    },
  };

  try {
    for (const member of MEMBERS) run(`etcd-${member}`, [present("etcd")], plan.etcd(member));
    await writeFile(join(folder, "db1.yml"), plan.patroniYaml("db1"), { mode: 0o600 });
    await writeFile(join(folder, "db2.yml"), plan.patroniYaml("db2"), { mode: 0o600 });
    startMachine("db1");
    await until(async () => (await states()).get("db1") === "leader running", {
      limit_ms: START_LIMIT_MS,
      look_ms: LOOK_MS,
    });
    startMachine("db2");
    await site.redundant();
    await createDatabase(plan.password, {
      argv: postgres.wrap([join(postgres.folder, "psql"), "-h", folder, "-p", plan.ports.db1, "-U", "postgres"]),
      cwd: folder,
    });
    // The first control plane applies the migrations.
    for (const [index] of MEMBERS.entries()) {
      const env = { PORT: String(plan.api[index]), DATABASE_URL: plan.url, BERTH_OWNER_DATABASE_URL: plan.owner_url };
      servers.push(await startServer({ env: { ...env, ...plan.settings(index) }, as_task: true }));
    }
    haproxy = await startHaproxy({ folder, port: plan.haproxy, api: plan.api });
    return site;
  } catch (error) {
    const logs = await site.logs();
    await site.close();
    throw new Error(`${(error as Error).message}\n${logs}`, { cause: error });
  }
}

const LOG_CHARS = 3_000;

async function tail(file: string): Promise<string> {
  return (await readFile(file, "utf8")).slice(-LOG_CHARS);
}

function bare(): Record<string, string> {
  const { PATH = "", HOME = "", LANG = "C.UTF-8" } = process.env;
  return { PATH, HOME, LANG };
}

/** Reads the guide's settings and puts this machine's addresses, paths and passwords into them. */
async function makePlan(folder: string, postgres: Postgres) {
  const guide = await readFile(join(ROOT, "docs/guides/automatic-failover.md"), "utf8");
  const block = (language: string) => {
    const [found, ...others] = settingsIn(guide, language);
    if (found === undefined || others.length > 0) throw new Error(`the guide must have one ${language} block`);
    return found;
  };
  const ports = (count: number) => Promise.all(Array.from({ length: count }, guidePort));
  const [client, peer, api] = [await ports(3), await ports(3), await ports(3)];
  const [database, patroni] = [await ports(2), await ports(2)];
  const [haproxy] = await ports(1);
  const passwords = Object.fromEntries(
    ["change-this-1", "change-this-2", "change-this-3"].map((name) => [name, crypto.randomUUID()]),
  );
  const password = crypto.randomUUID();
  const members = Object.fromEntries(MEMBERS.flatMap((_, index) => [
    [`10.0.0.${index + 1}:2379`, `127.0.0.1:${client[index]}`],
    [`10.0.0.${index + 1}:2380`, `127.0.0.1:${peer[index]}`],
  ]));
  const databases = {
    "10.0.0.11:5432": `127.0.0.1:${database[0]}`,
    "10.0.0.12:5432": `127.0.0.1:${database[1]}`,
  };
  const variables = Object.fromEntries(
    [...block("toml").matchAll(/^(\w+)="(.*)"$/gm)].map(([, name, value]) => [name!, value!]),
  );
  const { DATABASE_URL = "", ...others } = variables;
  const url = replaced(DATABASE_URL, { ...databases, "change-this": password });
  const of = (user: string, secret: string, path: string) =>
    url.replace(/\/\/[^@]*@/, `//${user}:${secret}@`).replace("/berth?", `/${path}?`);
  return {
    patroni: patroni as [number, number],
    ports: { db1: String(database[0]) },
    api,
    haproxy: haproxy!,
    password,
    url,
    owner_url: of("berth_owner", password, "berth"),
    admin_url: of("postgres", passwords["change-this-1"]!, "postgres"),
    database_url: of("postgres", passwords["change-this-1"]!, "berth"),
    settings: (index: number) =>
      replaceValues(others, { "10.0.0.1:8080": `127.0.0.1:${api[index]}`, "10.0.0.1": "127.0.0.1" }),
    etcd(member: (typeof MEMBERS)[number]): Record<string, string> {
      const index = MEMBERS.indexOf(member);
      const own = Object.fromEntries(
        block("ini").split("\n").filter((line) => line !== "").map((line) => line.split(/=(.*)/s) as [string, string]),
      );
      const cluster = own["ETCD_INITIAL_CLUSTER"]!;
      // The guide shows the settings of cp1. The list of all members is the same on each machine.
      const mine = replaceValues(own, { "10.0.0.1:": `10.0.0.${index + 1}:`, cp1: member });
      const data = { "/var/lib/etcd/berth": join(folder, `etcd-${member}`) };
      return replaceValues({ ...mine, ETCD_INITIAL_CLUSTER: cluster }, { ...members, ...data });
    },
    patroniYaml(name: DatabaseName): string {
      const index = DATABASES.indexOf(name);
      return replaced(block("yaml"), {
        ...members,
        ...passwords,
        "name: db1": `name: ${name}`,
        "10.0.0.11:8008": `127.0.0.1:${patroni[index]}`,
        "10.0.0.11:5432": `127.0.0.1:${database[index]}`,
        "10.0.0.0/24": "127.0.0.0/8",
        // The user who runs PostgreSQL here may have no name.
        "local all postgres peer": "local all postgres trust",
        "/var/lib/postgresql/15/berth": join(folder, name),
        "/var/lib/postgresql/patroni.pgpass": join(folder, `${name}.pgpass`),
        // The default folder for the socket belongs to another user.
        "max_connections: 200": `max_connections: 200\n        unix_socket_directories: ${folder}`,
        // Turns the watchdog off, because a test must not restart this machine.
        "mode: automatic": "mode: off",
      }).replace(/bin_dir: .*/, `bin_dir: ${postgres.folder}`);
    },
  };
}

function replaceValues(values: Readonly<Record<string, string>>, instead: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, replaced(value, instead)]));
}

/** Runs the statements of the guide to the installation with psql over the socket, as that guide does. */
async function createDatabase(
  password: string,
  { argv: [program, ...argv], cwd }: { readonly argv: readonly [string, ...string[]]; readonly cwd: string },
): Promise<void> {
  const install = await readFile(join(ROOT, "docs/guides/install.md"), "utf8");
  const [statements = ""] = settingsIn(install, "sql");
  const own = replaced(statements, { "'change-this'": `'${password}'`, "'change-this-owner'": `'${password}'` });
  const psql = execFileAsync(program, [...argv, "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1"], {
    cwd,
    env: bare(),
  });
  psql.child.stdin!.end(own);
  await psql;
}

async function postmaster(data: string): Promise<number | null> {
  const pid = Number((await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n")[0]);
  return Number.isSafeInteger(pid) && pid > 1 ? pid : null;
}

/** Ends a process and its children at once, so that no child completes a commit. */
async function killTree(pid: number): Promise<void> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  const children = text.split(" ").map(Number).filter((each) => each > 1);
  for (const each of [pid, ...children]) {
    try {
      process.kill(each, "SIGKILL");
    } catch {
      // The process has ended already.
    }
  }
  await sleep(LOOK_MS);
}
