// Stores uploaded images in an S3-compatible bucket: one object for each part, `ID/PART`. Therefore each part needs
// only one request. Multipart uploads are not used, because a bucket keeps and charges for interrupted multipart
// uploads but does not list them among its objects.
import { AwsClient } from "aws4fetch";
import { isEqual } from "./folder.ts";
import type { BucketConfig, ImageStore, StoredImage } from "./store.ts";

const REQUEST_LIMIT_MS = 30_000;
/** The number of attempts after the first attempt if the answer is 5xx or 429. */
const RETRIES = 3;
const PART_DIGITS = 8;
/** The maximum number of objects that are deleted at the same time. */
const DELETES_AT_ONCE = 8;
/** The statuses of a PUT for an object that exists, or that another request creates at the same time. */
const EXISTS = [412, 409];
const OBJECT = "<Contents>";
const KEY = /<Key>(?:[^<]*\/)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/([0-9]{8})<\/Key>/;
const MODIFIED = /<LastModified>([^<]+)<\/LastModified>/;
const NEXT = /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/;

/** The error for an answer that was not expected. It does not contain the answer's text, which may contain the key. */
function refused({ status }: Response, method: string): Error {
  return new Error(`the bucket of uploaded images answered ${status} to ${method}`);
}

type Listed = { readonly id: string; readonly part: string; readonly changed_at_ms: number };

/** Returns the store without sending a request to the bucket. */
export function openBucketStore({ url, region, key_id, secret }: BucketConfig): ImageStore {
  const client = new AwsClient({
    accessKeyId: key_id,
    secretAccessKey: secret,
    region,
    service: "s3",
    retries: RETRIES,
  });
  const { origin, pathname } = new URL(url);
  const [, bucket = "", prefix = ""] = /^\/([^/]+)(?:\/(.+))?$/.exec(pathname) ?? [];
  const keyPrefix = prefix === "" ? "" : `${prefix}/`;

  async function ask(
    method: string,
    at: string,
    body?: Uint8Array<ArrayBuffer>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    // A signed request must not follow a redirect to another host.
    return await client.fetch(at, { method, headers, signal, redirect: "manual", ...(body !== undefined && { body }) });
  }

  /** Returns the answer. Throws an Error that does not contain the answer's text, which may contain the key. */
  async function must(method: string, at: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> {
    const answer = await ask(method, at, body);
    if (answer.ok) return answer;
    await answer.body?.cancel();
    throw refused(answer, method);
  }

  const partUrl = (id: string, part: number | string) => `${url}/${id}/${String(part).padStart(PART_DIGITS, "0")}`;

  async function* objects(below: string): AsyncGenerator<Listed> {
    for (let token: string | null = "";;) {
      const query = new URLSearchParams({ "list-type": "2", prefix: keyPrefix + below });
      if (token !== "") query.set("continuation-token", token);
      const text = await (await must("GET", `${origin}/${bucket}?${query}`)).text();
      for (const object of text.split(OBJECT).slice(1)) {
        const [, id, part] = KEY.exec(object) ?? [];
        const changed_at_ms = Date.parse(MODIFIED.exec(object)?.[1] ?? "");
        if (id !== undefined && part !== undefined) yield { id, part, changed_at_ms };
      }
      token = NEXT.exec(text)?.[1] ?? null;
      if (token === null) return;
    }
  }

  async function read(id: string, part: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const answer = await ask("GET", partUrl(id, part));
    if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
    await answer.body?.cancel();
    if (answer.status === 404) return null;
    throw refused(answer, "GET");
  }

  return {
    write: async (id, part, bytes) => {
      // A bucket that ignores If-None-Match replaces the stored part.
      const answer = await ask("PUT", partUrl(id, part), bytes, { "if-none-match": "*" });
      await answer.body?.cancel();
      if (answer.ok) return true;
      if (!EXISTS.includes(answer.status)) throw refused(answer, "PUT");
      return isEqual(await read(id, part), bytes);
    },
    read,
    remove: async (id) => {
      const parts: string[] = [];
      for await (const { part } of objects(`${id}/`)) parts.push(part);
      for (let at = 0; at < parts.length; at += DELETES_AT_ONCE) {
        const some = parts.slice(at, at + DELETES_AT_ONCE);
        await Promise.all(some.map(async (part) => await (await must("DELETE", partUrl(id, part))).body?.cancel()));
      }
    },
    list: async () => {
      const found = new Map<string, StoredImage>();
      for await (const { id, changed_at_ms } of objects("")) {
        found.set(id, { id, changed_at_ms: Math.max(changed_at_ms, found.get(id)?.changed_at_ms ?? 0) });
      }
      return [...found.values()];
    },
  };
}
