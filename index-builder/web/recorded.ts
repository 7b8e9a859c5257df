// Answers requests with recorded responses. A recording is a folder with responses.json, which maps "GET https://..."
// to a status, headers and a body file. A request for any other URL fails as not recorded.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { VendorFault } from "../fault.ts";
import type { Exchange } from "./exchange.ts";

const RecordedAnswer = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()).optional(),
  content_type: z.string().optional(),
  /** The file with the body, by its name in the folder. */
  body: z.string().optional(),
  /** The body itself, for files written by hand. */
  text: z.string().optional(),
  final_url: z.string().optional(),
});
type RecordedAnswer = z.infer<typeof RecordedAnswer>;
export const RecordedWeb = z.record(z.string(), RecordedAnswer);
export type RecordedWeb = z.infer<typeof RecordedWeb>;

export const RESPONSES_FILE = "responses.json";

/**
 * Returns an exchange that answers from the first folder with the URL.
 * @throws Error if a folder has no valid responses.json
 */
export async function recordedExchange(folders: readonly string[]): Promise<Exchange> {
  const webs = await Promise.all(folders.map(async (folder) => ({ folder, answers: await readRecorded(folder) })));
  return async ({ method, url, bytes_max }) => {
    const key = `${method} ${url}`;
    const web = webs.find(({ answers }) => Object.hasOwn(answers, key));
    if (web === undefined) throw new VendorFault("not_recorded", `${key}: not recorded`);
    const { status, headers = {}, body, text = "", final_url } = web.answers[key]!;
    const bytes = body === undefined ? new TextEncoder().encode(text) : await readFile(join(web.folder, body));
    if (bytes.length > bytes_max) throw new VendorFault("unsafe", `${key}: more than ${bytes_max} bytes`);
    const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    return { status, url: final_url ?? url, headers: new Map(lower), body: bytes };
  };
}

async function readRecorded(folder: string): Promise<RecordedWeb> {
  return RecordedWeb.parse(JSON.parse(await readFile(join(folder, RESPONSES_FILE), "utf8")));
}
