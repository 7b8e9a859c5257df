// Opens a text in the user's editor.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./environment.ts";
import { EXIT } from "./exit-code.ts";
import { Failure } from "./failure.ts";

const DEFAULT_EDITOR = "vi";

/**
 * Returns the text as it is when the editor ends. The editor is VISUAL, else EDITOR, else vi; it may have arguments.
 * Throws a Failure if the editor fails.
 */
export async function edited({ env }: Environment, text: string, name: string): Promise<string> {
  const editor = env.VISUAL || env.EDITOR || DEFAULT_EDITOR;
  const folder = await mkdtemp(join(tmpdir(), "berth-edit-"));
  try {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600 });
    const code = await new Promise<number | null>((resolve, reject) => {
      // The shell splits the editor's arguments, as git does.
      const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", path], { env: { ...env }, stdio: "inherit" });
      child.on("error", reject).on("close", resolve);
    });
    if (code !== 0) throw new Failure(`${editor} ended with exit code ${code}; nothing was changed`, EXIT.failure);
    return await readFile(path, "utf8");
  } finally {
    await rm(folder, { recursive: true });
  }
}
