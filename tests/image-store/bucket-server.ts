// Starts a test server with an S3 bucket in memory. The server computes the signature of every request itself (AWS
// Signature Version 4) and compares it with the signature that the client sent.
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export type BucketServer = {
  readonly url: string;
  readonly objects: Map<string, { readonly bytes: Uint8Array; changed_at: Date }>;
  /** Answers this number of further requests with this status. */
  failNext(requests: number, status: number): void;
  close(): Promise<void>;
};

/** Objects on a page of a list: few, so that lists have several pages. */
const PAGE_ROWS = 3;

export async function serveBucket(
  credential: { key_id: string; secret: string; region: string },
): Promise<BucketServer> {
  const objects: BucketServer["objects"] = new Map();
  let failures = { left: 0, status: 500 };
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return response.destroy(); // The client ended during its upload.
    }
    const answer = (status: number, body: string | Uint8Array = "") => void response.writeHead(status).end(body);
    if (!isSigned(request, credential)) return answer(403, "<Error>SignatureDoesNotMatch</Error>");
    if (failures.left > 0) {
      failures = { ...failures, left: failures.left - 1 };
      return answer(failures.status);
    }
    const { pathname, searchParams } = new URL(request.url!, "http://bucket");
    const key = pathname.slice("/images/".length);
    if (searchParams.has("list-type")) return answer(200, listOf(objects, searchParams));
    if (request.method === "PUT" && request.headers["if-none-match"] === "*" && objects.has(key)) return answer(412);
    if (request.method === "PUT") objects.set(key, { bytes: concatenated(chunks), changed_at: new Date() });
    if (request.method === "DELETE") objects.delete(key);
    if (request.method !== "GET") return answer(request.method === "DELETE" ? 204 : 200);
    const found = objects.get(key);
    return found === undefined ? answer(404) : answer(200, found.bytes);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/images`,
    objects,
    failNext: (left, status) => failures = { left, status },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function listOf(objects: BucketServer["objects"], query: URLSearchParams): string {
  const prefix = query.get("prefix") ?? "";
  const after = query.get("continuation-token") ?? "";
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, PAGE_ROWS);
  const rows = page.map((key) =>
    `<Contents><Key>${key}</Key><LastModified>${objects.get(key)!.changed_at.toISOString()}</LastModified></Contents>`
  );
  const next = keys.length > page.length
    ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${page.at(-1)}</NextContinuationToken>`
    : "";
  return `<ListBucketResult>${rows.join("")}${next}</ListBucketResult>`;
}

function concatenated(chunks: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(chunks.flatMap((chunk) => [...chunk]));
}

function isSigned(request: IncomingMessage, { key_id, secret, region }: Parameters<typeof serveBucket>[0]): boolean {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;
  const found = pattern.exec(request.headers.authorization ?? "");
  if (found === null) return false;
  const [, id, day = "", at_region, names = "", signature] = found;
  const url = new URL(request.url!, "http://bucket");
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort().join("&");
  const headers = names.split(";").map((name) => `${name}:${String(request.headers[name] ?? "").trim()}\n`).join("");
  const canonical = [request.method, url.pathname, query, headers, names, request.headers["x-amz-content-sha256"]].join(
    "\n",
  );
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = [
    "AWS4-HMAC-SHA256",
    request.headers["x-amz-date"],
    scope,
    createHash("sha256").update(canonical).digest("hex"),
  ];
  const hmac = (key: string | Uint8Array, of: string) => createHmac("sha256", key).update(of).digest();
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), "s3"), "aws4_request");
  const expected = hmac(key, text.join("\n")).toString("hex");
  return id === key_id && at_region === region && expected === signature;
}
