// Compiles a program for a test with the code that builds a release.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { compile, entryOf, type NAMES } from "../../cli/compile.ts";
import { type Ended, run } from "../release/tools.ts";

export type Compiled = {
  readonly path: string;
  /** Runs the program and waits for its end. */
  run(...argv: string[]): Promise<Ended>;
};

/** Compiles the program into the folder. */
export async function compiled(name: (typeof NAMES)[number], folder: string): Promise<Compiled> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  await compile(entryOf(name), path);
  return { path, run: (...argv) => run(path, argv, { PATH: process.env.PATH ?? "" }) };
}
