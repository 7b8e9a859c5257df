// Starts the control plane of the rack as an operator installs it: PostgreSQL, three processes of the package's server
// behind nginx, and the image index. docs/guides/install.md and docs/guides/proxy.md describe the same installation
// with commands.
import { randomBytes } from "node:crypto";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { API_URL, at, CONSOLE_URL, DEBIAN, EXTERNAL, PORTS, SITE } from "./plan.ts";
import { daemon, must, run, until } from "./processes.ts";

const DATABASE = "/var/lib/postgresql/rack";
const POSTGRES = "/usr/lib/postgresql/15/bin";
const ENV_FILE = "etc/berth/control-plane.env";
const KEYS_FILE = "etc/berth/control-plane.keys";
const CACHE = "/var/cache/berth-control-plane";
const STATE = "/var/lib/berth-control-plane";
/**
 * The shell script that starts a server process. It sets the variables that the systemd unit sets with Environment=,
 * and the variables of two files that only root may read.
 */
const START = `set -eu
set -a; . /${ENV_FILE}; . /${KEYS_FILE}; set +a
export DENO_DIR=${CACHE} DENO_NO_UPDATE_CHECK=1 NO_COLOR=1 PORT="$1" BERTH_RELAY_URL="$2"
umask 077
exec setpriv --reuid berth --regid berth --init-groups --no-new-privs --bounding-set=-all /usr/lib/berth/bin/start`;
const LIMIT_MS = 180_000;

/** A copy of the proxy's certificate in the rack's folder. Programs on this machine and the BMCs use this copy. */
export const CERTIFICATE = at("proxy.pem");

const AS_POSTGRES = { space: "control", user: "postgres" } as const;

/** Creates the database, and writes its address into the package's settings. */
export async function startPostgres(): Promise<void> {
  const auth = ["--auth-local=peer", "--auth-host=scram-sha-256", "--locale=C.UTF-8", "--encoding=UTF8"];
  await must([`${POSTGRES}/initdb`, "-D", DATABASE, ...auth], AS_POSTGRES);
  await servePostgres();
  const [owner, user] = [randomBytes(16).toString("hex"), randomBytes(16).toString("hex")];
  // Passes the statements on standard input, so that no command line contains a password.
  await must(["psql", "-h", "/tmp", "-q", "-v", "ON_ERROR_STOP=1"], {
    ...AS_POSTGRES,
    input: `create role berth_app nologin noinherit;
create role berth_reader nologin noinherit;
create role berth_owner login password '${owner}';
create role berth login password '${user}' in role berth_app;
create database berth owner berth_owner;
`,
  });
  await configure({
    DATABASE_URL: `postgres://berth:${user}@127.0.0.1:5432/berth`,
    BERTH_OWNER_DATABASE_URL: `postgres://berth_owner:${owner}@127.0.0.1:5432/berth`,
    HOST: SITE.control,
    BERTH_TRUSTED_PROXIES: SITE.control,
    INDEX_SITE: "/var/lib/berth-images/site",
    BERTH_IMAGE_DIR: `${STATE}/images`,
  });
}

/** Starts PostgreSQL, and waits until it is ready. */
export async function servePostgres(): Promise<void> {
  const settings = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=/tmp"];
  await daemon("postgres", [`${POSTGRES}/postgres`, "-D", DATABASE, ...settings], AS_POSTGRES);
  await until("PostgreSQL is ready", LIMIT_MS, async () => {
    const { code } = await run([`${POSTGRES}/pg_isready`, "-h", "127.0.0.1", "-q"], AS_POSTGRES);
    return code === 0 ? true : null;
  });
}

/**
 * Sets variables in the package's settings file: replaces the line of each variable, even if the line is commented out.
 * Also sets BERTH_BEHIND_PROXY. Throws an Error if the file has no line for a variable.
 */
async function configure(settings: Readonly<Record<string, string>>): Promise<void> {
  const path = join(DEBIAN, ENV_FILE);
  let text = await readFile(path, "utf8");
  for (const [name, value] of Object.entries(settings)) {
    const line = new RegExp(`^#?${name}=.*$`, "m");
    if (!line.test(text)) throw new Error(`${ENV_FILE} of the package has no line ${name}=`);
    text = text.replace(line, () => `${name}=${value}`);
  }
  await writeFile(path, `${text}\nBERTH_BEHIND_PROXY=1\n`, { mode: 0o600 });
}

const relayUrl = (port: number) => `http://${SITE.control}:${port}`;

/** Starts the server process of one port, and waits until it is ready. */
export async function startProcess(port: number): Promise<void> {
  const argv = ["sh", "-c", START, "sh", String(port), relayUrl(port)];
  await daemon(processName(port), argv, { space: "control", user: "root" });
  await ready(relayUrl(port), processName(port));
}

/** Returns the name of the daemon that serves one port. */
export const processName = (port: number): string => `control-plane-${port}`;

/** Waits until the server at an address answers that it is ready. */
export async function ready(url: string, log: string): Promise<void> {
  await until(`${url} is ready`, LIMIT_MS, async () => {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(LIMIT_MS) }).catch(() => null);
    return answer?.ok === true ? true : null;
  }, async () => (await readFile(at("log", `${log}.log`), "utf8").catch(() => "")).slice(-LOG_CHARS));
}

/** The number of characters of a log that an error contains. */
const LOG_CHARS = 4_000;

export async function startControlPlane(): Promise<void> {
  for (const folder of [CACHE, STATE, `${STATE}/images`]) {
    await must(["install", "-d", "-o", "berth", "-g", "berth", "-m", "700", folder], { user: "root" });
  }
  // Starts the processes one after another, because the first process migrates the database.
  for (const port of PORTS.processes) await startProcess(port);
}

/** Starts nginx with the configuration of docs/guides/proxy.md, and serves the install channel. */
export async function startProxy(): Promise<void> {
  await must([
    ...[
      "openssl",
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "30",
    ],
    ...["-subj", `/CN=${SITE.control}`, "-addext", `subjectAltName=IP:${SITE.control}`],
    ...["-keyout", "/etc/ssl/rack.key", "-out", "/etc/ssl/rack.pem"],
  ], { user: "root" });
  await cp(join(DEBIAN, "etc/ssl/rack.pem"), CERTIFICATE);
  await cp(join(DEBIAN, "root/release/channel"), join(DEBIAN, "srv/channel"), { recursive: true });
  await writeFile(join(DEBIAN, "etc/nginx/rack.conf"), nginx(proxyServers()));
  await serveProxy();
}

export async function serveProxy(): Promise<void> {
  await startNginx("control", "rack.conf");
  await ready(API_URL, "nginx-control");
}

/** Starts a web server on the external network, which answers with the address of the caller. */
export async function startInternet(): Promise<void> {
  const server = `server { listen ${EXTERNAL.router}:80; location / { return 200 "$remote_addr\\n"; } }`;
  await writeFile(join(DEBIAN, "etc/nginx/internet.conf"), nginx(server));
  await startNginx("internet", "internet.conf");
}

async function startNginx(space: "control" | "internet", config: string): Promise<void> {
  const argv = ["nginx", "-c", `/etc/nginx/${config}`, "-g", "daemon off;"];
  await daemon(`nginx-${space}`, argv, { space, user: "root" });
}

function nginx(servers: string): string {
  return `user www-data;
worker_processes 1;
pid /tmp/nginx.pid;
error_log stderr;
events { worker_connections 1024; }
http {
access_log off;
${servers}
}
`;
}

function proxyServers(): string {
  const upstream = PORTS.processes.map((port) => `server ${SITE.control}:${port} max_fails=0;`);
  return `upstream berth { ${upstream.join(" ")} }
map $http_upgrade $connection_upgrade { default upgrade; "" ""; }
server {
  listen ${SITE.control}:${PORTS.api};
  listen ${SITE.control}:${PORTS.https} ssl;
  ssl_certificate /etc/ssl/rack.pem;
  ssl_certificate_key /etc/ssl/rack.key;
  ssl_protocols TLSv1.2 TLSv1.3;
  location / {
    proxy_pass http://berth;
    proxy_http_version 1.1;
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $connection_upgrade;
    proxy_connect_timeout 2s;
    proxy_read_timeout 75s;
    proxy_next_upstream error timeout non_idempotent;
    proxy_buffering off;
  }
}
server { listen ${SITE.control}:${PORTS.channel}; root /srv/channel; }`;
}

/** Returns the key of the first operator, which the package's installation created. */
export async function rootKey(): Promise<string> {
  const keys = await readFile(join(DEBIAN, KEYS_FILE), "utf8");
  return /^BERTH_ROOT_KEY=(.*)$/m.exec(keys)?.[1] ?? "";
}

/** Runs opsctl of the package on this machine, as an operator does. */
export async function opsctl(argv: readonly string[]) {
  return await run(["opsctl", ...argv], { user: "root", env: await operator() });
}

export async function operator(): Promise<Readonly<Record<string, string>>> {
  return { OPSCTL_ENDPOINT: CONSOLE_URL, OPSCTL_API_KEY: await rootKey(), NODE_EXTRA_CA_CERTS: "/etc/ssl/rack.pem" };
}
