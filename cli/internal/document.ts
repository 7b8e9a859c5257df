// Reads documents for `apply`: JSON from a file or standard input, TOML from a file *.toml.
import { EXIT } from "./exit-code.ts";
import { Failure, usageFailure } from "./failure.ts";
import type { Io } from "./io.ts";
import { readPlainFile } from "./private-file.ts";

/** Reads a document; `-` is standard input. Throws a Failure if the document cannot be read or parsed. */
export async function readDocument(io: Io, path: string): Promise<unknown> {
  if (path === "-") return parseJson(await (await io.environment.keyboard()).readAll(), "standard input");
  const text = await readPlainFile(path);
  if (text === null) throw new Failure(`file ${path} does not exist`, EXIT.failure);
  return path.endsWith(".toml") ? await parseToml(text, path) : parseJson(text, path);
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageFailure(`${source} is not valid JSON: ${(error as Error).message}`);
  }
}

async function parseToml(text: string, source: string): Promise<unknown> {
  const { parse } = await import("smol-toml");
  try {
    return parse(text);
  } catch (error) {
    throw usageFailure(`${source} is not valid TOML: ${(error as Error).message.split("\n")[0]}`);
  }
}
