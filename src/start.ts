// The program of `task start`, the parent of the server process. It first starts PostgreSQL, if DATABASE_URL is not
// set. It then starts the outbound process, and last the server with exactly the permissions that the server needs. On
// SIGTERM and SIGINT it asks the server to drain. It serves no port and reads no request. It passes secrets to the
// server on standard input, because other processes can read arguments and environment variables.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { secretOfFolder } from "./auth/secret.ts";
import { type Config, readConfig } from "./config.ts";
import { type EmbeddedPostgres, startEmbedded } from "./db/embedded.ts";
import { type Handover, HANDOVER_FLAG, STOP_LINE } from "./handover.ts";
import { HEAP_FLAG, serverPermissions } from "./permissions.ts";
import { startFailure } from "./start-failure.ts";
import { variableNames } from "./unknown-variables.ts";

const SECRET_BYTES = 32;
/**
 * The pause before the outbound process is restarted. Without a pause, a process that always fails at once would use a
 * whole core.
 */
const RESTART_MS = 1_000;
/** Matches the variables that Deno itself reads. The outbound process gets only these, and no secret. */
const RUNTIME_VARIABLES =
  /^(?:PATH|HOME|XDG_CACHE_HOME|DENO_(?:DIR|CERT|TLS_CA_STORE|NO_UPDATE_CHECK|AUDIT_PERMISSIONS)|SSL_CERT_.*|NODE_EXTRA_CA_CERTS|NO_COLOR|LANG|LC_.*|TZ)$/;

/**
 * The variables that are passed on standard input instead of in the environment, because simulated nodes inherit the
 * server's environment.
 */
const SECRET_VARIABLES = [
  "BERTH_ROOT_KEY",
  "BERTH_SECRET_KEY",
  "DATABASE_URL",
  "BERTH_DIRECT_DATABASE_URL",
  "BERTH_OWNER_DATABASE_URL",
  "BERTH_IDENTITY_CLIENT_SECRET",
  "BERTH_IMAGE_BUCKET_SECRET",
];

type Fetcher = { readonly port: number; readonly secret: string; stop(): Promise<void> };

/** Starts the outbound process, and restarts it on the same port when it exits by itself. */
async function startFetcher(flags: readonly string[]): Promise<Fetcher> {
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => RUNTIME_VARIABLES.test(name)));
  let stopping = false;
  let child: ChildProcess;

  function run(port: number): Promise<number> {
    const argv = ["run", ...flags, "--allow-net", "src/outbound/process.ts"];
    child = spawn(process.execPath, argv, { env, stdio: ["pipe", "pipe", "inherit"] });
    child.stdin!.on("error", () => {}); // The child exited before it read its input; the exit handler reports this.
    child.stdin!.write(`${JSON.stringify({ secret, port })}\n`);
    return new Promise((resolve, reject) => {
      createInterface({ input: child.stdout! }).once("line", (line) => resolve(Number(line)));
      child.once("exit", (code, signal) => reject(new Error(`the outbound process exited with ${signal ?? code}`)));
    });
  }

  const port = await run(0);
  const keep = () => void child.once("exit", () => stopping || again());
  function again(): void {
    console.error("berth: the outbound process exited and is started again");
    setTimeout(() => stopping || run(port).then(keep, again), RESTART_MS);
  }
  keep();
  return {
    port,
    secret,
    stop: async () => {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.stdin!.end();
      await ended;
    },
  };
}

/**
 * Returns the arguments of this process. They are flags of `deno run` for its children: load no code from the network,
 * and never prompt.
 */
function sharedFlags(): string[] {
  return process.argv.slice(2);
}

async function start(): Promise<void> {
  const config = readConfig(process.env);
  const flags = sharedFlags();
  const embedded = config.databaseUrl === null
    ? await startEmbedded({ dataDir: config.dataDir, note: (text) => console.error(`berth: ${text}`) })
    : null;
  try {
    const fetcher = await startFetcher(flags);
    const server = await startServer(config, { flags, embedded, fetcher });
    const code = await endOf(server, embedded);
    await fetcher.stop();
    await embedded?.stop();
    process.exit(code);
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

type Parts = {
  readonly flags: readonly string[];
  readonly embedded: EmbeddedPostgres | null;
  readonly fetcher: Fetcher;
};

async function startServer(config: Config, { flags, embedded, fetcher }: Parts): Promise<ChildProcess> {
  const inherited = { ...process.env };
  const secrets = SECRET_VARIABLES.flatMap((name) => inherited[name] === undefined ? [] : [[name, inherited[name]!]]);
  for (const name of SECRET_VARIABLES) delete inherited[name];
  const handover: Handover = {
    fetcher: { port: fetcher.port, secret: fetcher.secret },
    env: {
      ...Object.fromEntries(secrets),
      // The server may not read PostgreSQL's data folder, so it gets the secret that is stored there.
      ...(embedded !== null && {
        DATABASE_URL: embedded.url,
        BERTH_OWNER_DATABASE_URL: embedded.ownerUrl,
        BERTH_SECRET_KEY: process.env["BERTH_SECRET_KEY"] || await secretOfFolder(config.dataDir),
      }),
    },
    variables: variableNames(),
    embedded: embedded !== null,
  };
  const granted = serverPermissions({ ...process.env, ...handover.env }, { fetcher_port: fetcher.port });
  const argv = ["run", ...flags, HEAP_FLAG, ...granted, "src/serve.ts", HANDOVER_FLAG];
  const server = spawn(process.execPath, argv, { env: inherited, stdio: ["pipe", "inherit", "inherit"] });
  server.stdin!.on("error", () => {}); // The child exited before it read its input; the exit handler reports this.
  // The input stays open. When this process is killed, the server sees the end of its input and drains.
  server.stdin!.write(`${JSON.stringify(handover)}\n`);
  return server;
}

/**
 * Waits until the server exits, and asks it to stop on a signal or if PostgreSQL exits. Returns the exit status of this
 * process.
 */
function endOf(server: ChildProcess, embedded: EmbeddedPostgres | null): Promise<number> {
  let [lost, over] = [false, false];
  const stop = () => void server.stdin!.write(`${STOP_LINE}\n`);
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  const ended = new Promise<number>((done) => {
    server.once("error", () => done(1));
    server.once("exit", (code) => done(lost ? 1 : code ?? 1));
  }).finally(() => over = true);
  void embedded?.ended.then((why) => {
    if (over) return;
    lost = true;
    console.error(`berth: the embedded PostgreSQL exited: ${why}`);
    stop();
  });
  return ended;
}

try {
  await start();
} catch (error) {
  console.error(`berth: ${startFailure(error)}`);
  process.exit(1);
}
