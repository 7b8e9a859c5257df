import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type TemporaryFolder = { readonly path: string; remove(): Promise<void> };

export async function temporaryFolder(subject: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), `berth-${subject}-`));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
