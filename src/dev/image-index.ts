// Runs a server on loopback. It serves an image index with one small image, and the vendor's files: the image and its
// checksum list. `opsctl image import` reads the index, and a node fetches the image.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Image } from "../../cli/image/model.ts";
import { artifactOf, buildOf, documentsOf, primary, releaseOf } from "./image-tree.ts";
import { tinyGuest } from "./tiny-guest.ts";

/** The size of the image. The image is a disk from which QEMU can boot. */
const IMAGE_BYTES = 2 ** 20;
const FILE = "demo-amd64.raw";

export type ImageIndex = { readonly url: string; close(): Promise<void> };

export async function startImageIndex(): Promise<ImageIndex> {
  const image = tinyGuest(IMAGE_BYTES);
  const sha256 = createHash("sha256").update(image).digest("hex");
  const files = new Map<string, Uint8Array | string>();
  const server = createServer((request, response) => {
    const body = files.get(request.url ?? "");
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  files.set(`/vendor/${FILE}`, image);
  files.set("/vendor/SHA256SUMS", `${sha256} *${FILE}\n`);
  for (const [path, document] of documentsOf([imageAt(`${url}/vendor`, sha256)])) {
    files.set(`/v1/${path}`, JSON.stringify(document));
  }
  return {
    url,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function imageAt(vendor: string, sha256: string): Image {
  const source = { url: `${vendor}/SHA256SUMS`, format: "gnu", filename: FILE };
  const artifact = artifactOf({ arch: "x86_64", size: IMAGE_BYTES, locations: [primary(`${vendor}/${FILE}`)] }, [
    { algorithm: "sha256", value: sha256, source },
  ]);
  return {
    ...releaseOf({ distro: "demo", release: "one", aliases: ["latest"], version: "1" }),
    build: buildOf("20261101", [artifact]),
  };
}
