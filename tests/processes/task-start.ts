// The flags that `deno task start` gives the server in this environment, as src/permissions.ts prints them.
import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ALWAYS = ["--no-prompt", "--cached-only", "--frozen"] as const;

export async function taskStartFlags(env: Readonly<Record<string, string>>): Promise<string[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["run", ...ALWAYS, "--allow-env", "src/permissions.ts"],
    { cwd: ROOT, env: { ...process.env, ...env } },
  );
  return [...ALWAYS, ...stdout.trim().split(" ")];
}
