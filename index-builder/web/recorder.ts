// Records the responses of a build.
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Answer, Exchange, Request } from "./exchange.ts";
import { RecordedWeb, RESPONSES_FILE } from "./recorded.ts";

/** The headers that a build reads. Other headers (dates, cookies, cache ages) would change with every recording. */
const KEPT_HEADERS = ["content-length", "last-modified", "etag"];

/**
 * Returns an exchange that sends its requests through `exchange` and records the responses. `save` adds them to the
 * responses in the folder.
 */
export function recorder(exchange: Exchange, folder: string): { exchange: Exchange; save(): Promise<void> } {
  const recorded: RecordedWeb = {};
  return {
    exchange: async (request) => {
      const answer = await exchange(request);
      recorded[`${request.method} ${request.url}`] = await keep(folder, request, answer);
      return answer;
    },
    save: async () => {
      const before = await readFile(join(folder, RESPONSES_FILE), "utf8").then(
        (text) => RecordedWeb.parse(JSON.parse(text)),
        () => ({}),
      );
      const all = Object.entries({ ...before, ...recorded }).sort(([a], [b]) => (a < b ? -1 : 1));
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, `${RESPONSES_FILE}.new`), `${JSON.stringify(Object.fromEntries(all), null, 1)}\n`);
      await rename(join(folder, `${RESPONSES_FILE}.new`), join(folder, RESPONSES_FILE));
    },
  };
}

async function keep(folder: string, request: Request, answer: Answer): Promise<RecordedWeb[string]> {
  const headers = Object.fromEntries(KEPT_HEADERS.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
  const moved = answer.url === request.url ? {} : { final_url: answer.url };
  if (request.method === "HEAD") return { status: answer.status, headers, ...moved };
  const body = `bodies/${bodyName(request.url)}`;
  await mkdir(join(folder, "bodies"), { recursive: true });
  await writeFile(join(folder, body), answer.body);
  return { status: answer.status, headers, body, ...moved };
}

/**
 * Returns the file name of a body: a readable part and a hash. The readable part alone may be the same for two URLs.
 */
function bodyName(url: string): string {
  const plain = url.replace(/^https?:\/\//, "").replaceAll(/[^A-Za-z0-9._-]+/g, "_").slice(0, 120);
  return `${plain}.${createHash("sha256").update(url).digest("hex").slice(0, 8)}`;
}
