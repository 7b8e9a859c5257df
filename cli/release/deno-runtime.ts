// Fetches the Deno executable for a package: a fixed version, verified by its digest.
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Architecture } from "./deb.ts";

export const DENO_VERSION = "2.9.6";

type Pin = {
  /** Name of the npm package with the executable; `cpu` is npm's name of the architecture. */
  readonly name: string;
  readonly cpu: string;
  /** Digest of the executable. */
  readonly sha256: string;
};

/** Architectures with a verified and pinned Deno. The control plane is packaged for these only. */
export const DENO_PINS: Partial<Readonly<Record<Architecture, Pin>>> = {
  amd64: {
    name: "@deno/linux-x64-glibc",
    cpu: "x64",
    sha256: "bceb5b6a6239b0b010418406d8c77a508f67cf4337d94288f1c19fe71304aab0",
  },
};

/**
 * Returns the running Deno if it has the pinned digest, else the executable from npm. Throws an Error if no Deno is
 * pinned for the architecture, or if npm's file has another digest.
 */
export async function denoExecutable(architecture: Architecture): Promise<Uint8Array> {
  const pin = DENO_PINS[architecture];
  if (pin === undefined) throw new Error(`no Deno is pinned for ${architecture}`);
  const running = await readFile(process.execPath);
  if (sha256(running) === pin.sha256) return running;
  const folder = await mkdtemp(join(tmpdir(), "berth-deno-"));
  try {
    await fetchPackage(pin, folder);
    const bytes = await readFile(join(folder, "node_modules", pin.name, "deno"));
    if (sha256(bytes) !== pin.sha256) {
      throw new Error(`${pin.name}@${DENO_VERSION} has the digest ${sha256(bytes)}, not ${pin.sha256}`);
    }
    return bytes;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function fetchPackage({ name, cpu }: Pin, folder: string): Promise<void> {
  const argv = ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
  const machine = ["--os", "linux", "--cpu", cpu, "--libc", "glibc"];
  return new Promise((resolve, reject) => {
    const child = spawn("npm", [...argv, ...machine, `${name}@${DENO_VERSION}`], { stdio: ["ignore", 2, 2] });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`npm could not fetch ${name}@${DENO_VERSION}: ${signal ?? code}`));
    });
  });
}
