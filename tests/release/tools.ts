// Programs of the system that a test uses where they are.
import { execFile } from "node:child_process";
import process from "node:process";

export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

export function run(
  program: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((done) => {
    execFile(program, [...words], { env: { ...process.env, ...env }, encoding: "utf8" }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      done({ code, stdout, stderr: stderr === "" && error !== null ? error.message : stderr });
    });
  });
}

export async function hasTool(name: string): Promise<boolean> {
  return (await run("sh", ["-c", 'command -v "$1"', "sh", name])).code === 0;
}

/** The words before a command that make it root in its own eyes, or null where that is not to be had. */
export async function rootWords(): Promise<readonly string[] | null> {
  if (process.getuid?.() === 0) return [];
  const words = ["unshare", "--map-root-user"];
  return (await run(words[0]!, [...words.slice(1), "true"])).code === 0 ? words : null;
}
