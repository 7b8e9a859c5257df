// Compresses large JSON answers to reads. The size of a compressed answer depends on repetitions in the answer. If an
// answer contains a secret and a text that somebody else chose, the size can reveal whether the text contains a part of
// the secret. Therefore such an answer is not compressed (docs/wire.md, "Compression").
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context } from "hono";
import { acceptsGzip } from "./accepts-gzip.ts";
import type { HttpEnv } from "./env.ts";

const gzipBytes = promisify(gzip);
/** Smaller answers are not compressed, because compression would save only a few bytes. */
const ZIP_BYTES_MIN = 1_024;
/**
 * The paths of answers that contain both secrets and texts that others can choose:
 * - /v1/agent: keys, user data and passwords, with the names that tenants choose
 * - /v2: root password hashes, with the inventories that machines send
 * - /v1/search and /v1/system/cns: claim codes, with hostnames that anybody can register
 */
const WITH_SECRETS = /^\/(?:v1\/agent\/|v2\/|v1\/search$|v1\/system\/cns(?:\/|$))/;

/**
 * Compresses a JSON answer to a GET if its status is 200, the client accepts gzip, the answer is large enough, and the
 * path does not match WITH_SECRETS.
 */
export async function compressAnswer(c: Context<HttpEnv>): Promise<void> {
  const { headers, status } = c.res;
  const isJson = headers.get("content-type")?.startsWith("application/json") ?? false;
  if (c.req.method !== "GET" || status !== 200 || !isJson || headers.has("content-encoding")) return;
  if (WITH_SECRETS.test(c.req.path)) return;
  headers.append("vary", "accept-encoding");
  if (!acceptsGzip(c.req.header("accept-encoding"))) return;
  const bytes = new Uint8Array(await c.res.arrayBuffer());
  const zipped = bytes.length < ZIP_BYTES_MIN ? null : await gzipBytes(bytes);
  const sent = new Headers(headers);
  sent.delete("content-length");
  if (zipped !== null) sent.set("content-encoding", "gzip");
  // Drops the headers of the replaced answer, which hono would otherwise merge.
  c.res = undefined;
  c.res = new Response(zipped === null ? bytes : new Uint8Array(zipped), { status, headers: sent });
}
