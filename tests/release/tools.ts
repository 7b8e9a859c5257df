// Runs system programs for tests.
import { execFile } from "node:child_process";
import process from "node:process";
import { pathOf } from "../support/optional-programs.ts";

export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

export function run(
  program: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((done) => {
    execFile(program, [...argv], { env: { ...process.env, ...env }, encoding: "utf8" }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      done({ code, stdout, stderr: stderr === "" && error !== null ? error.message : stderr });
    });
  });
}

/**
 * Returns the command prefix that runs a command as root, in a user namespace if necessary. Returns null if neither is
 * possible.
 */
export async function rootWords(): Promise<readonly string[] | null> {
  if (process.getuid?.() === 0) return [];
  const unshare = pathOf("unshare");
  if (unshare === null) return null;
  const argv = ["--map-root-user"];
  return (await run(unshare, [...argv, "true"])).code === 0 ? [unshare, ...argv] : null;
}
