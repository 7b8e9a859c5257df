// What each process of `task start` may do, as flags for `deno run`, from what the environment says: lists, each as short as
// this configuration allows (reliability rule S-38). There are three. The server (serve.ts) meets every caller: it reaches
// its own address, its database and the process that fetches for it, writes no file and starts no program. The process that
// fetches (outbound/process.ts) may connect anywhere, since tenants name the issuers of their tokens, and nothing else. The
// process above them (start.ts) starts both, and PostgreSQL where the operator brings none; it meets no caller.
//
// `task start` runs this file and starts start.ts with what it prints.
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Config, type Environment, readConfig } from "./config.ts";
import { databasePlace } from "./db/database-address.ts";
import { SHARED_PLACE } from "./db/embedded.ts";
import { binariesIn, binariesRoot } from "./db/postgres-binaries.ts";
import { tlsFiles } from "./db/tls.ts";
import { parseIp } from "./lib/net/ip-address.ts";

/**
 * V8 lets its heap grow to several times what lives in it before it looks. Thousands of held requests live long, so it
 * looks when the heap has doubled: 65 to 68 kB an agent where it was 127 to 172 (tests/bench/agents.ts). It costs some
 * processor time, how much was not measured on an equal footing.
 */
export const HEAP_FLAG = "--v8-flags=--heap-growing-percent=100";

/** What readConfig, the settings and the database driver look up. */
const VARIABLES = ["HOST", "PORT", "DATABASE_URL", "INDEX_SITE", "BERTH_*", "PG*", "USER", "USERNAME"];
/** What is read while it runs, beside the code that it is made of. */
const OWN_FILES = ["migrations", "src/auth/password-worker.ts"];
const ROOT = fileURLToPath(new URL("../", import.meta.url));

export type ServerSurroundings = {
  /** Where the process that fetches for the server listens, on 127.0.0.1; null: it cannot read keys of issuers. */
  readonly fetcher_port: number | null;
};

/**
 * What the server may do. The environment is that of the server, DATABASE_URL of an embedded PostgreSQL included. Throws an
 * Error that names the variable when it holds what no configuration is.
 */
export function serverPermissions(
  env: Environment,
  { fetcher_port }: ServerSurroundings = { fetcher_port: null },
): string[] {
  const config = readConfig(env);
  const urls = [config.databaseUrl, config.ownerUrl].filter((url) => url !== null);
  const places = urls.map((url) => databasePlace(url, env));
  const sockets = places.flatMap((place) => place.kind === "socket" ? [place.path] : []);
  const hosts = places.flatMap((place) => place.kind === "tcp" ? [hostPort(place.host, place.port)] : []);
  const files = [config.indexSite, config.tls?.cert ?? null, config.tls?.key ?? null, ...urls.flatMap(tlsFiles)].filter(
    (path) => path !== null,
  );
  const fetcher = fetcher_port === null ? [] : [hostPort("127.0.0.1", fetcher_port)];
  return [
    list("net", [...listening(config), ...hosts, ...fetcher]),
    // Simulated nodes inherit the environment.
    config.labNodes > 0 ? "--allow-env" : list("env", VARIABLES),
    list("read", [...OWN_FILES, ...files, ...sockets, ...(config.labNodes > 0 ? ["dist/nodeagent"] : [])]),
    ...(sockets.length > 0 ? [list("write", sockets)] : []),
    // Only a laboratory has simulated nodes.
    ...(config.labNodes > 0 ? [list("run", [process.execPath, `${ROOT}dist/nodeagent`])] : []),
  ];
}

/** What PostgreSQL takes beside its own programs: who runs it, whose its files are, what stops it. */
const TOOLS = ["sh", "id", "unshare", "chown"];

/**
 * What the process above the server may do: start this Deno again and, where it brings PostgreSQL along, PostgreSQL's
 * programs and the tools beside them. It listens on nothing but a free port for a moment.
 */
export function starterPermissions(env: Environment): string[] {
  const config = readConfig(env);
  if (config.databaseUrl !== null) return ["--allow-env", list("run", [process.execPath])];
  const places = [config.dataDir, SHARED_PLACE];
  const { initdb, postgres } = binariesIn(binariesRoot(), "");
  return [
    "--allow-env",
    list("net", ["127.0.0.1:0"]),
    list("read", ["src", "node_modules", "package.json", ...places]),
    list("write", places),
    list("run", [process.execPath, initdb, postgres, ...toolsOf(env["PATH"] ?? "")]),
    // PostgreSQL refuses to run as root.
    list("sys", ["uid"]),
  ];
}

/** Those of this machine, since Deno warns of the others. */
function toolsOf(path: string): string[] {
  const folders = path.split(":").filter((folder) => folder.startsWith("/"));
  return TOOLS.flatMap((tool) => folders.map((folder) => `${folder}/${tool}`).find(existsSync) ?? []);
}

/** A name would have to be resolved, which Deno allows for all ports of it or for none. */
function listening({ host, port }: Config): string[] {
  if (parseIp(host) === null) throw new Error(`HOST must be an address such as 127.0.0.1, not the name ${host}`);
  return [hostPort(host, port)];
}

function hostPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function list(kind: string, values: readonly string[]): string {
  const odd = values.find((value) => /[\s,"'$]/.test(value));
  if (odd !== undefined) {
    throw new Error(`${JSON.stringify(odd)} cannot be granted: choose a path without spaces, commas and quotes`);
  }
  return `--allow-${kind}=${[...new Set(values)].join(",")}`;
}

if (import.meta.main) {
  try {
    console.log(starterPermissions(process.env).join(" "));
  } catch (error) {
    console.error(`berth: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  }
}
