// Starts one server that publishes a vendor's files and an index of these files: two distributions, three image files,
// and unsigned lists of hashes.
import { createHash } from "node:crypto";
import type { Artifact, Image } from "../../../cli/image/model.ts";
import { artifactOf, buildOf, documentsOf, primary, releaseOf } from "../../../src/dev/image-tree.ts";
import { type FileServer, startFileServer } from "./file-server.ts";

export type Vendor = FileServer & {
  /** Publishes the documents of the index again, after a test changed an image. */
  publish(): void;
  readonly images: Image[];
  /** The first file of the first image. An assignment to this field also publishes the index again. */
  artifact: Artifact;
};

export const IMAGE_PATH = "/noble/20261001/noble-amd64.qcow2";
export const SUMS_PATH = "/noble/20261001/SHA256SUMS";
export const CONTENT = pattern(300_000, 7);

/** Returns pseudorandom bytes. They do not repeat, so that a test detects a wrong offset. */
export function pattern(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let i = 0; i < length; i++) bytes[i] = (state = (state * 1_103_515_245 + 12_345) & 0x7fffffff) >> 16;
  return bytes;
}

export function hexOf(algorithm: "sha256" | "sha512", body: Uint8Array): string {
  return createHash(algorithm).update(body).digest("hex");
}

export async function startVendor(): Promise<Vendor> {
  const server = await startFileServer();
  const url = server.put(IMAGE_PATH, CONTENT);
  const arm = pattern(5_000, 8);
  const arm_url = server.put("/noble/20261001/noble-arm64.qcow2", arm);
  const sums = [`${hexOf("sha256", CONTENT)} *noble-amd64.qcow2`, `${hexOf("sha256", arm)} *noble-arm64.qcow2`];
  const sums_url = server.put(SUMS_PATH, `${sums.join("\n")}\n`);
  const listed = (body: Uint8Array, filename: string) => ({
    algorithm: "sha256",
    value: hexOf("sha256", body),
    source: { url: sums_url, format: "gnu", filename },
  });
  const alpine = pattern(9_000, 9);
  const alpine_url = server.put("/alpine/alpine.qcow2", alpine);
  const alpine_sum = server.put("/alpine/alpine.qcow2.sha512", `${hexOf("sha512", alpine)}\n`);
  const noble = releaseOf({ distro: "ubuntu", release: "noble", aliases: ["latest", "lts"], version: "24.04" });
  const images: Image[] = [
    {
      ...noble,
      build: buildOf("20261001", [
        artifactOf({ arch: "x86_64", size: CONTENT.length, locations: [primary(url)] }, [
          listed(CONTENT, "noble-amd64.qcow2"),
        ]),
        artifactOf({ arch: "aarch64", size: arm.length, locations: [primary(arm_url)] }, [
          listed(arm, "noble-arm64.qcow2"),
        ]),
      ]),
    },
    {
      ...releaseOf({ distro: "alpine", release: "v3.24", aliases: ["latest"], version: "3.24.2" }),
      build: buildOf("3.24.2-r0", [
        artifactOf({ arch: "x86_64", size: null, locations: [primary(alpine_url)] }, [{
          algorithm: "sha512",
          value: hexOf("sha512", alpine),
          source: { url: alpine_sum, format: "bare", filename: null },
        }]),
      ]),
    },
  ];
  const vendor: Vendor = {
    ...server,
    images,
    publish: () => publish(server, images),
    get artifact() {
      return images[0]!.build.artifacts[0]!;
    },
    set artifact(next) {
      const [image] = images;
      images[0] = { ...image!, build: { ...image!.build, artifacts: [next, ...image!.build.artifacts.slice(1)] } };
      publish(server, images);
    },
  };
  vendor.publish();
  return vendor;
}

function publish(server: FileServer, images: readonly Image[]): void {
  for (const [path, document] of documentsOf(images)) {
    server.put(`/v1/${path}`, `${JSON.stringify(document, null, 2)}\n`);
  }
}
