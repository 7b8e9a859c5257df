// Computes the permissions of the processes of `task start`, as flags for `deno run`. The flags are allow lists, each
// as short as the configuration permits (docs/reliability.md, S-38).
// - The server (serve.ts) handles requests. It listens on its own address, and connects only to its database, the
//   outbound process and the bucket of uploaded images. It writes no file except uploaded images (BERTH_IMAGE_DIR). It
//   starts no program, except simulated nodes in a dev environment.
// - The outbound process (outbound/process.ts) may connect anywhere, because tenants choose the issuers of their
//   tokens. It has no other permission.
// - start.ts starts both processes, and PostgreSQL if DATABASE_URL is not set. It handles no request.
// This file prints the flags of start.ts. `task start` first runs this file, and then start.ts with these flags.
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Config, type Environment, readConfig } from "./config.ts";
import { databaseLocation } from "./db/database-address.ts";
import { databaseUrls } from "./db/database-hosts.ts";
import { SHARED_FOLDER } from "./db/embedded.ts";
import { binariesIn, binariesRoot } from "./db/postgres-binaries.ts";
import { tlsFiles } from "./db/tls.ts";
import { parseIp } from "./lib/net/ip-address.ts";

/**
 * Makes V8 collect garbage when the heap has grown by 60 %. The server then needs 56 kB for each agent that polls; at
 * 100 % it needs 71 kB (tests/bench/agents.ts). At 50 % it needs 54 kB, but requests take 5 to 12 % more processor time
 * than at 100 % (tests/bench/requests.ts).
 */
export const HEAP_FLAG = "--v8-flags=--heap-growing-percent=60";

/** The variables that readConfig, the settings and the database driver read. */
const VARIABLES = [
  "HOST",
  "PORT",
  "DATABASE_URL",
  "INDEX_SITE",
  "BERTH_*",
  "PG*",
  "USER",
  "USERNAME",
  // With these variables, the package ws does not look for its native parts (src/http/ws-without-addons.ts).
  "WS_NO_BUFFER_UTIL",
  "WS_NO_UTF_8_VALIDATE",
];
/** Files that are read at run time, in addition to the code. */
const OWN_FILES = ["migrations", "src/auth/password-worker.ts", "console/dist"];
const HTTP_PORT = 80;
const HTTPS_PORT = 443;
const ROOT = fileURLToPath(new URL("../", import.meta.url));

export type ServerSurroundings = {
  /** The port of the outbound process on 127.0.0.1. Null: the server cannot use that process. */
  readonly fetcher_port: number | null;
};

/**
 * Returns the flags of the server. Throws an Error for an invalid variable, and for a path that contains a space, a
 * comma or a quote.
 * @param env the server's environment; for an embedded PostgreSQL it includes DATABASE_URL
 */
export function serverPermissions(
  env: Environment,
  { fetcher_port }: ServerSurroundings = { fetcher_port: null },
): string[] {
  const config = readConfig(env);
  const urls = [config.databaseUrl, config.directUrl, config.ownerUrl].filter((url) => url !== null);
  const places = urls.flatMap(databaseUrls).map((url) => databaseLocation(url, env));
  const sockets = places.flatMap((place) => place.kind === "socket" ? [place.path] : []);
  const hosts = places.flatMap((place) => place.kind === "tcp" ? [hostPort(place.host, place.port)] : []);
  const files = [config.indexSite, config.tls?.cert ?? null, config.tls?.key ?? null, ...urls.flatMap(tlsFiles)].filter(
    (path) => path !== null,
  );
  const store = config.imageStore;
  const images = store?.kind === "folder" ? [store.folder] : [];
  const bucket = store?.kind === "bucket" ? [originPort(store.url)] : [];
  const fetcher = fetcher_port === null ? [] : [hostPort("127.0.0.1", fetcher_port)];
  return [
    list("net", [...listening(config), ...hosts, ...fetcher, ...bucket]),
    // Simulated nodes inherit the whole environment.
    config.labNodes > 0 ? "--allow-env" : list("env", VARIABLES),
    list("read", [...OWN_FILES, ...files, ...sockets, ...images, ...(config.labNodes > 0 ? ["dist/nodeagent"] : [])]),
    ...(sockets.length + images.length > 0 ? [list("write", [...sockets, ...images])] : []),
    // Only dev environments have simulated nodes.
    ...(config.labNodes > 0 ? [list("run", [process.execPath, `${ROOT}dist/nodeagent`])] : []),
  ];
}

/** The tools that are needed to start PostgreSQL, in addition to PostgreSQL's own programs. */
const TOOLS = ["sh", "id", "unshare", "chown"];

/**
 * Returns the flags of start.ts. start.ts may run this Deno and, with an embedded PostgreSQL, PostgreSQL's programs and
 * `TOOLS`. It listens only to find a free port.
 */
export function starterPermissions(env: Environment): string[] {
  const config = readConfig(env);
  if (config.databaseUrl !== null) return ["--allow-env", list("run", [process.execPath])];
  const places = [config.dataDir, SHARED_FOLDER];
  const { initdb, postgres } = binariesIn(binariesRoot(), "");
  return [
    "--allow-env",
    list("net", ["127.0.0.1:0"]),
    list("read", ["src", "node_modules", "package.json", ...places]),
    list("write", places),
    list("run", [process.execPath, initdb, postgres, ...toolsOf(env["PATH"] ?? "")]),
    // PostgreSQL refuses to run as root, so start.ts must read its user id.
    list("sys", ["uid"]),
  ];
}

/**
 * Returns the paths of the tools that exist on this machine. Missing tools are left out, because Deno warns about them.
 */
function toolsOf(path: string): string[] {
  const folders = path.split(":").filter((folder) => folder.startsWith("/"));
  return TOOLS.flatMap((tool) => folders.map((folder) => `${folder}/${tool}`).find(existsSync) ?? []);
}

/**
 * Returns the address to listen on. Throws for a host name, because Deno's permission to listen on a name covers all
 * ports.
 */
function listening({ host, port }: Config): string[] {
  if (parseIp(host) === null) throw new Error(`HOST must be an address such as 127.0.0.1, not the name ${host}`);
  return [hostPort(host, port)];
}

function hostPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Returns the host and the port of a URL. */
function originPort(text: string): string {
  const { hostname, port, protocol } = new URL(text);
  return `${hostname}:${port || (protocol === "https:" ? HTTPS_PORT : HTTP_PORT)}`;
}

function list(kind: string, values: readonly string[]): string {
  const odd = values.find((value) => /[\s,"'$]/.test(value));
  if (odd !== undefined) {
    throw new Error(
      `${JSON.stringify(odd)} cannot be granted: choose a path without spaces, commas and quotes`,
    );
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
