// Pushes an image of a release with the command in kubernetes.yaml. The manifest names the image by the digest in the
// release, so the push must not change the image.
import { Buffer } from "node:buffer";
import { createHash, randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ociArchive } from "../../cli/release/container/oci.ts";
import { tarArchive } from "../../cli/internal/tar.ts";
import { needs, present } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ROOT } from "./small-release.ts";
import { run } from "./tools.ts";

const VERSION = "1.2.3";

test("the push keeps the digest, even if the registry has the layers in another compression", async (context) => {
  needs(context, "skopeo");
  const folder = await temporaryFolder("image-push");
  context.onTestFinished(() => folder.remove());
  const registry = await openRegistry();
  context.onTestFinished(registry.close);
  const skopeo = async (...argv: string[]) => {
    const { code, stderr } = await run(present("skopeo"), ["--insecure-policy", ...argv]);
    expect(code, stderr).toBe(0);
  };
  const { bytes, digest } = await smallImage();
  const archive = join(folder.path, `berth-control-plane_${VERSION}_amd64.oci.tar`);
  await writeFile(archive, bytes);
  const image = `docker://${registry.host}/berth-control-plane`;

  // Podman keeps the layers of a loaded image without compression, and compresses them when it pushes the image.
  const loaded = `dir:${join(folder.path, "loaded")}`;
  await skopeo("copy", "--dest-decompress", `oci-archive:${archive}`, loaded);
  await skopeo("copy", "--dest-tls-verify=false", loaded, `${image}:earlier`);
  expect(registry.digestOf("earlier")).not.toBe(digest);

  const manifest = await readFile(join(ROOT, "cli/release/container/kubernetes.yaml"), "utf8");
  const [, options = "", from = "", to = ""] =
    /^# +skopeo copy ((?:--\S+ )*)oci-archive:(\S+)(?: \\\n#)? +docker:\/\/registry\.example(\S+)$/m.exec(manifest) ??
      [];
  const named = (text: string) => text.replaceAll("@VERSION@", VERSION);
  expect(named(from)).toBe(`berth-control-plane_${VERSION}_amd64.oci.tar`);
  const words = options.split(" ").filter((word) => word !== "");
  await skopeo(
    "copy",
    "--dest-tls-verify=false",
    ...words,
    `oci-archive:${archive}`,
    `docker://${registry.host}${named(to)}`,
  );
  expect(registry.digestOf(VERSION)).toBe(digest);
});

async function smallImage() {
  const file = { path: "motd", bytes: Buffer.from(`${randomUUID()}\n`.repeat(500)), mode: 0o644 };
  return await ociArchive({
    name: "berth-control-plane",
    version: VERSION,
    architecture: "amd64",
    time_s: 1_700_000_000,
    layers: [{ tar: tarArchive([file], 1_700_000_000), comment: "one file" }],
    config: {
      User: "65532",
      Env: [],
      Entrypoint: ["/motd"],
      WorkingDir: "/",
      ExposedPorts: {},
      StopSignal: "SIGTERM",
      Labels: {},
    },
  });
}

/** Starts a registry with one repository (https://github.com/opencontainers/distribution-spec), in memory. */
async function openRegistry() {
  const blobs = new Set<string>();
  const manifests = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const { method = "", url = "" } = request;
    const { pathname, searchParams } = new URL(url, "http://registry");
    const body = await buffer(request);
    const [, kind, name = ""] = /\/(blobs|uploads|manifests)\/([^/]*)$/.exec(pathname) ?? [];
    const answer = (status: number, headers: Record<string, string> = {}) => response.writeHead(status, headers).end();
    if (pathname === "/v2/") return answer(200);
    if (method === "HEAD" && kind === "blobs" && blobs.has(name)) return answer(200, { "content-length": "1" });
    if (method === "POST" || method === "PATCH") {
      return answer(202, { location: `/v2/berth-control-plane/blobs/uploads/${randomUUID()}` });
    }
    if (method === "PUT" && kind === "uploads") {
      blobs.add(searchParams.get("digest") ?? "");
      return answer(201);
    }
    if (method === "PUT" && kind === "manifests") {
      manifests.set(name, `sha256:${createHash("sha256").update(body).digest("hex")}`);
      return answer(201);
    }
    return answer(404);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Returns the digest of the manifest with the tag. */
    digestOf: (tag: string) => manifests.get(tag),
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
