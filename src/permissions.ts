// What the server may do, as flags for `deno run`, from what the environment says: lists, each as short as this
// configuration allows (reliability rule S-38). On an operator's own PostgreSQL the server writes no file and starts no
// program; the one that it brings along needs both. The network is open, since tenants name the issuers of their tokens.
//
// `task start` runs this file and starts the server with what it prints, which begins with how its heap grows.
import process from "node:process";
import { type Environment, readConfig } from "./config.ts";
import { SHARED_PLACE } from "./db/embedded.ts";
import { tlsFiles } from "./db/tls.ts";

/**
 * V8 lets its heap grow to several times what lives in it before it looks. Thousands of held requests live long, so it
 * looks when the heap has doubled: 65 to 68 kB an agent where it was 127 to 172 (tests/bench/agents.ts). It costs some
 * processor time, how much was not measured on an equal footing.
 */
export const HEAP_FLAG = "--v8-flags=--heap-growing-percent=100";

/** What readConfig, the settings and the database driver look up. */
const VARIABLES = ["HOST", "PORT", "DATABASE_URL", "INDEX_SITE", "BERTH_*", "PG*", "USER", "USERNAME"];

/** And what starting a program looks up. */
const PROGRAM_VARIABLES = ["PATH", "NODE_V8_COVERAGE"];
/** What is read while it runs, beside the code that it is made of. */
const OWN_FILES = ["migrations", "src/auth/password-worker.ts"];

/** Throws an Error that names the variable when the environment holds what no configuration is. */
export function serverPermissions(env: Environment): string[] {
  const config = readConfig(env);
  const embedded = config.databaseUrl === null;
  const runs = embedded || config.labNodes > 0;
  const places = embedded ? [config.dataDir, SHARED_PLACE] : [];
  const urls = [config.databaseUrl, config.ownerUrl].filter((url) => url !== null);
  const files = [config.indexSite, config.tls?.cert ?? null, config.tls?.key ?? null, ...urls.flatMap(tlsFiles)].filter(
    (path) => path !== null,
  );
  return [
    "--allow-net",
    // Simulated nodes inherit the environment.
    config.labNodes > 0 ? "--allow-env" : list("env", [...VARIABLES, ...(embedded ? PROGRAM_VARIABLES : [])]),
    list("read", [...OWN_FILES, ...files, ...places, ...(embedded ? [".", "/proc"] : [])]),
    ...(embedded ? [list("write", places)] : []),
    ...(runs ? ["--allow-run"] : []),
    // PostgreSQL refuses to run as root.
    ...(embedded ? [list("sys", ["uid"])] : []),
  ];
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
    console.log([HEAP_FLAG, ...serverPermissions(process.env)].join(" "));
  } catch (error) {
    console.error(`berth: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  }
}
