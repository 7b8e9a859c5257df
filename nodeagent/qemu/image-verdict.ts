// Decides whether an image from outside may become a base image. The agent reads the format from the file's first
// bytes, and QEMU must then use this format. If QEMU guessed the format, a guest with a raw disk could write data that
// looks like another format and refers to files of the node.
import { RefusedImage } from "../refused-image.ts";

export type DiskFormat = "raw" | "qcow2" | "vmdk" | "vhdx";
export type Compression = "gzip" | "zstd" | "xz" | "bzip2";

/** Bytes from the start of a file that the functions below need. */
export const HEAD_BYTES = 4_096;

const COMPRESSIONS: readonly (readonly [Compression, readonly number[]])[] = [
  ["gzip", [0x1f, 0x8b]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ["bzip2", [0x42, 0x5a, 0x68]],
];
const FORMATS: readonly (readonly [DiskFormat, string])[] = [["qcow2", "QFI\xfb"], ["vmdk", "KDMV"], [
  "vhdx",
  "vhdxfile",
]];

export function compressionOf(head: Uint8Array): Compression | null {
  return COMPRESSIONS.find(([, bytes]) => startsWith(head, bytes))?.[0] ?? null;
}

/**
 * Returns the format; `raw` if the bytes show no other format. Throws a RefusedImage for a VMDK descriptor, which is a
 * text that refers to other files.
 */
export function formatOf(head: Uint8Array): DiskFormat {
  if (startsWith(head, codesOf("# Disk DescriptorFile"))) {
    throw new RefusedImage("it is a VMDK descriptor, which refers to other files; provide the disk as one file");
  }
  return FORMATS.find(([, mark]) => startsWith(head, codesOf(mark)))?.[0] ?? "raw";
}

/** The fields of `qemu-img info --output=json` that the verdict reads. */
export type ImageInfo = {
  readonly filename?: unknown;
  readonly format?: unknown;
  readonly "virtual-size"?: unknown;
  readonly "backing-filename"?: unknown;
  readonly "full-backing-filename"?: unknown;
  readonly encrypted?: unknown;
  readonly "format-specific"?: { readonly data?: Readonly<Record<string, unknown>> };
};

/**
 * Returns the size of the disk in bytes. Throws a RefusedImage if the image is not valid, refers to other files, is
 * encrypted, or has a disk that is larger than declared.
 */
export function judgeImage(info: ImageInfo, { format, bytes_max }: {
  readonly format: DiskFormat;
  readonly bytes_max: number;
}): number {
  const data = info["format-specific"]?.data ?? {};
  if (info.format !== format) throw new RefusedImage(`it is not a valid ${format} file`);
  if (info["backing-filename"] !== undefined || info["full-backing-filename"] !== undefined) {
    throw new RefusedImage("it has a backing file; flatten it with qemu-img convert");
  }
  if (data["data-file"] !== undefined || data["data-file-raw"] === true) {
    throw new RefusedImage("its data is in another file; flatten it with qemu-img convert");
  }
  if (info.encrypted === true) throw new RefusedImage("it is encrypted");
  const extents = Array.isArray(data.extents) ? data.extents : [];
  if (extents.length > 1 || extents.some((each) => each?.filename !== info.filename)) {
    throw new RefusedImage("its data is in other files; provide the disk as one file");
  }
  const bytes = info["virtual-size"];
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes <= 0) {
    throw new RefusedImage("it has no valid size");
  }
  if (bytes > bytes_max) {
    throw new RefusedImage(`its disk has ${bytes} bytes, more than the image's content_bytes of ${bytes_max}`);
  }
  return bytes;
}

function startsWith(head: Uint8Array, bytes: readonly number[]): boolean {
  return head.length >= bytes.length && bytes.every((byte, index) => head[index] === byte);
}

function codesOf(text: string): number[] {
  return [...text].map((character) => character.charCodeAt(0));
}
