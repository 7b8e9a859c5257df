// Verifies and parses the channel.json of an install channel (docs/guides/channel.md), which the booter mirrors for
// machines without internet access. A channel is channel.json, a detached signature, and the files that channel.json
// lists with their SHA-256. mirror.ts checks the files and the channel's age.
import { armoredBlocks } from "../../src/lib/openpgp/armor.ts";
import { asDigest } from "../../src/lib/crypto/digest-hex.ts";
import { goodSignature } from "../../src/lib/openpgp/good-signature.ts";

export type ChannelFile = { readonly name: string; readonly sha256: string; readonly bytes: number };
export type Channel = {
  readonly files: readonly ChannelFile[];
  readonly signed_at: Date;
  readonly document: Uint8Array;
  /** The detached signature as published. Machines verify it again. */
  readonly signature: Uint8Array;
};

const INSTALL_SCRIPT = "install.sh";
/** Allowed file names: the install script and tarballs. */
const NAME = /^(?:install\.sh|[A-Za-z0-9][A-Za-z0-9._-]{0,127}\.(?:tar\.gz|tgz))$/;
const FILES_MAX = 64;
/** The largest file of a channel. An executable has some 100 MB. */
const CHANNEL_FILE_BYTES_MAX = 1_073_741_824;

export class ChannelFault extends Error {}

/**
 * Verifies and parses a channel.
 * @throws ChannelFault if the signature is not good or the document is not a channel
 */
export async function verifiedChannel(
  { document, signature, key, now }: { document: Uint8Array; signature: Uint8Array; key: Uint8Array; now: Date },
): Promise<Channel> {
  const openpgp = await import("openpgp");
  try {
    const blocks = armoredBlocks(key, "PGP PUBLIC KEY BLOCK");
    const keys = blocks === null
      ? await openpgp.readKeys({ binaryKeys: key })
      : (await Promise.all(blocks.map((armoredKeys) => openpgp.readKeys({ armoredKeys })))).flat();
    const armored = armoredBlocks(signature, "PGP SIGNATURE");
    const { signatures } = await openpgp.verify({
      message: await openpgp.createMessage({ binary: document }),
      signature: armored === null
        ? await openpgp.readSignature({ binarySignature: signature })
        : await openpgp.readSignature({ armoredSignature: armored.join("\n") }),
      verificationKeys: keys,
      format: "binary",
      date: now,
    });
    const { signed_at } = await goodSignature({ signatures, keys, now });
    return { files: filesOf(document), signed_at, document, signature };
  } catch (error) {
    throw new ChannelFault(`channel.json: ${error instanceof Error ? error.message : "cannot be verified"}`);
  }
}

function filesOf(document: Uint8Array): readonly ChannelFile[] {
  const { files } = JSON.parse(new TextDecoder().decode(document)) as { files?: unknown };
  if (!Array.isArray(files) || files.length > FILES_MAX) {
    throw new Error(`files must be a list of at most ${FILES_MAX} files`);
  }
  const read = files.map((each: unknown): ChannelFile => {
    const { name, sha256, bytes } = (each ?? {}) as Record<string, unknown>;
    const hash = typeof sha256 === "string" ? asDigest(sha256, "sha256") : null;
    if (typeof name !== "string" || !NAME.test(name)) throw new Error("a file has an invalid name");
    if (hash === null) throw new Error(`${name} has no valid SHA-256`);
    if (!Number.isSafeInteger(bytes) || Number(bytes) < 0 || Number(bytes) > CHANNEL_FILE_BYTES_MAX) {
      throw new Error(`${name} has no valid size in bytes`);
    }
    return { name, sha256: hash, bytes: Number(bytes) };
  });
  if (!read.some(({ name }) => name === INSTALL_SCRIPT)) throw new Error(`${INSTALL_SCRIPT} is not among its files`);
  if (new Set(read.map(({ name }) => name)).size !== read.length) throw new Error("it lists a file name twice");
  return read;
}
