import { open } from "node:fs/promises";
import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import type { Image } from "../../../src/contract/image.ts";
import type { ImageUpload, ImageUploadBody } from "../../../src/contract/image-upload.ts";
import { INSTANCE_BRANDS } from "../../../src/contract/enums.ts";
import { IMAGE_PART_BYTES } from "../../../src/contract/limits.ts";
import { type AnyCommand, command, oneOf } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { openToRead } from "../../internal/file-problem.ts";
import { Failure, usageFailure } from "../../internal/failure.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { parseByteSize } from "../../internal/byte-size.ts";
import { statusLine } from "../../internal/status-line.ts";
import { blockText } from "../../internal/table.ts";
import { type TenantIo, withIo } from "../open-io.ts";

/**
 * Time limit of the request that finishes an upload. A server process that did not receive the parts reads all of them
 * from its store to compute the digest, which takes long.
 */
const FINISH_LIMIT_MS = 30 * 60 * 1_000;
const PATH = "/v1/image-uploads";

export function upload(): AnyCommand {
  return command(
    "upload",
    "Upload an image file for the instances of the tenant",
    "debian-13.qcow2 --os debian --image-version 13 --content-size 3GiB",
  )
    .argument("<file>", "a disk image")
    .option("--name <name>", "name of the image; by default the file's name")
    .requiredOption("--os <os>", "operating system, such as debian")
    .requiredOption("--image-version <version>", "version of the operating system, such as 13")
    .option("--description <text>", "description of the image")
    .option(...LABEL_OPTION)
    .option(
      "--content-size <size>",
      "size of the disk in a compressed file",
      (text) => parseByteSize(text, "--content-size"),
    )
    .addOption(oneOf("--brand <brand>", "brand of the instances that the image is for", INSTANCE_BRANDS))
    .option("--arch <arch>", "architecture that the image is for; only together with --brand")
    .addHelpText(
      "after",
      "\nAfter an interruption, run the same command again within a day: it continues where it stopped.",
    )
    .action(withIo(async (io, file, given) => {
      if ((given.brand === undefined) !== (given.arch === undefined)) {
        throw usageFailure("pass both --brand and --arch, or neither");
      }
      const tenant = await io.tenant();
      if (tenant === undefined) throw usageFailure("pass --tenant or set TENANTCTL_TENANT");
      const source = await openToRead(file, "<file>");
      try {
        const stat = await source.stat();
        if (!stat.isFile()) throw usageFailure(`<file>: ${file} is not a regular file`);
        const { size, mtimeMs } = stat;
        if (size === 0) throw usageFailure(`<file>: ${file} is empty`);
        const body: ImageUploadBody = {
          name: given.name ?? basename(file),
          description: given.description ?? "",
          labels: given.label && parseLabels(given.label),
          os: given.os,
          version: given.imageVersion,
          size_bytes: size,
          ...(given.contentSize === undefined ? {} : { content_bytes: given.contentSize }),
          ...(given.brand === undefined ? {} : { compatibility: { brand: given.brand, arch: given.arch! } }),
        };
        // The same file and the same options continue the same upload.
        const identity = JSON.stringify([tenant, resolve(file), mtimeMs, body]);
        const image = await send(io, { tenant, body, source, identity });
        io.print(
          image,
          blockText([["id", image.id], ["name", image.name], ["size", image.size], ["sha256", image.sha256]]),
        );
      } finally {
        await source.close();
      }
    }));
}

type Source = Pick<Awaited<ReturnType<typeof open>>, "read">;
type Sending = {
  readonly tenant: string;
  readonly body: ImageUploadBody;
  readonly source: Source;
  readonly identity: string;
};

async function send(io: TenantIo, sending: Sending): Promise<Image> {
  const { source } = sending;
  const line = statusLine(io);
  const begun = await begin(io, sending);
  if ("sha256" in begun) return begun;
  let { received_bytes } = begun;
  const { size_bytes, part_bytes } = begun;
  // Reads the whole file, including the bytes that the server already has, to compute the file's digest. The server
  // must compute the same digest.
  const digest = createHash("sha256");
  try {
    for (let at = 0; at < size_bytes;) {
      const bytes = await readAt(source, at, Math.min(part_bytes, size_bytes - at));
      digest.update(bytes);
      if (at >= received_bytes) {
        const path = `${PATH}/${begun.id}/parts`;
        ({ received_bytes } = await io.send<ImageUpload>({ method: "PUT", path, query: { from: at }, bytes }));
      }
      at += bytes.length;
      line.show(`uploaded ${Math.floor(at * 100 / size_bytes)} %`);
    }
    line.show("the server computes the digest");
    const end = { sha256: digest.digest("hex") };
    const path = `${PATH}/${begun.id}/finish`;
    return await orIfMissing(
      () => io.send<Image>({ method: "POST", path, body: end, limit_ms: FINISH_LIMIT_MS }),
      // An earlier run may have sent this request and ended before the answer. The server then finished the upload and
      // created the image.
      async (missing) => {
        const made = (await imagesLike(io, sending)).find(({ sha256 }) => sha256 === end.sha256);
        if (made === undefined) throw missing;
        return made;
      },
    );
  } finally {
    line.clear();
  }
}

/**
 * Begins an upload, or continues an unfinished upload of the same file. If an earlier upload of the file is finished,
 * returns its image.
 */
async function begin(io: TenantIo, sending: Sending): Promise<ImageUpload | Image> {
  const { tenant, body, identity, source } = sending;
  const path = `/v1/tenants/${tenant}/image-uploads`;
  for (let nth = 1;; nth++) {
    const digest = createHash("sha256").update(nth === 1 ? identity : `${identity} ${nth}`).digest("hex");
    const { id } = await io.send<ImageUpload>({
      method: "POST",
      path,
      body,
      headers: { "idempotency-key": `upload-${digest}` },
    });
    const begun = await orIfMissing(() => io.get<ImageUpload>(`${PATH}/${id}`), () => Promise.resolve(null));
    if (begun !== null) return begun;
    // The upload with this Idempotency-Key was finished or cancelled, or it has expired.
    const images = nth === 1 ? await imagesLike(io, sending) : [];
    const sha256 = images.length === 0 ? null : await digestOf(source, body.size_bytes);
    const made = images.find((image) => image.sha256 === sha256);
    if (made !== undefined) return made;
  }
}

/** Returns the images of the tenant that have the name and the size of the upload. */
async function imagesLike(io: TenantIo, { tenant, body }: Sending): Promise<Image[]> {
  const images = await io.get<Image[]>(`/v1/tenants/${tenant}/images`);
  return images.filter(({ name, size_bytes }) => name === body.name && size_bytes === body.size_bytes);
}

async function orIfMissing<T, U>(work: () => Promise<T>, missing: (failure: Failure) => Promise<U>): Promise<T | U> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 404) throw error;
    return await missing(error);
  }
}

async function digestOf(source: Source, size_bytes: number): Promise<string> {
  const digest = createHash("sha256");
  for (let at = 0; at < size_bytes; at += IMAGE_PART_BYTES) {
    digest.update(await readAt(source, at, Math.min(IMAGE_PART_BYTES, size_bytes - at)));
  }
  return digest.digest("hex");
}

async function readAt(source: Source, position: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const { bytesRead } = await source.read(bytes, at, length - at, position + at);
    if (bytesRead === 0) throw new Failure("the file became shorter while it was uploaded", EXIT.failure);
    at += bytesRead;
  }
  return bytes;
}
