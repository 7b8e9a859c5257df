// An image index with one small image, and the vendor whose checksum list confirms it, both on loopback: what
// `opsctl image import` reads, and from where a node fetches.
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const IMAGE_BYTES = 300_000;
const FILE = "demo-amd64.qcow2";

export type ImageIndex = { readonly url: string; close(): Promise<void> };

export async function startImageIndex(): Promise<ImageIndex> {
  const image = randomBytes(IMAGE_BYTES);
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
  for (const [path, document] of documents(`${url}/vendor`, sha256)) files.set(`/v1/${path}`, JSON.stringify(document));
  return {
    url,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The tree of document 1, as far as one image fills it. */
function documents(vendor: string, sha256: string): [path: string, document: unknown][] {
  const distro = { id: "demo", name: "Demo", os_family: "linux", homepage: null };
  const release = { id: "one", version: "1", title: "Demo 1", aliases: ["latest"], eol_date: null, osinfo: null };
  const source = { url: `${vendor}/SHA256SUMS`, format: "gnu", filename: FILE };
  const artifact = {
    variant: "server",
    default_variant: true,
    arch: "x86_64",
    format: "qcow2",
    compression: "none",
    firmware: [],
    datasources: [],
    ssh_key_injection: null,
    size: IMAGE_BYTES,
    locations: [{ url: `${vendor}/${FILE}`, kind: "primary", redirects_off_host: false }],
    integrity: { digests: [{ algorithm: "sha256", value: sha256, source }], signatures: [], http: null },
  };
  const build = {
    build: "20261101",
    point_release: null,
    published_at: null,
    first_seen: "2026-11-01T00:00:00Z",
    osinfo: null,
    artifacts: [artifact],
  };
  return [
    ["index.json", { distros: [distro] }],
    ["images.json", { images: [{ distro, release, build }] }],
    ["distros/demo/index.json", { ...distro, dev_channel: null, releases: [release] }],
    ["distros/demo/releases/one/index.json", { distro: distro.id, release: release.id, builds: [build] }],
  ];
}
