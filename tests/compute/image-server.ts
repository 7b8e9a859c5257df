// Starts an HTTP server for one file. The server supports range requests and can interrupt a response.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";

export type ImageServer = {
  readonly url: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
  /** The Range header of each request, or null for a request without the header. */
  readonly asked: (string | null)[];
  /** Ends the next response after this number of bytes. */
  cutNext(bytes: number): void;
  close(): Promise<void>;
};

export async function serveImage(bytes: Uint8Array, host = "127.0.0.1"): Promise<ImageServer> {
  const asked: (string | null)[] = [];
  let cut: number | null = null;
  const server = createServer((request, response) => {
    const { range } = request.headers;
    asked.push(range ?? null);
    const from = Number(/^bytes=([0-9]+)-$/.exec(range ?? "")?.[1] ?? 0);
    const body = bytes.subarray(from);
    response.writeHead(range === undefined ? 200 : 206, {
      etag: '"one"',
      "content-length": body.length,
      ...(range !== undefined && { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    });
    if (cut === null) return void response.end(body);
    const part = body.subarray(0, cut);
    cut = null;
    response.write(part, () => response.destroy());
  });
  server.listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}/image.raw`,
    bytes,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    asked,
    cutNext: (count) => void (cut = count),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
