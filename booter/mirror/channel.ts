// Verifies and parses the channel.json of an install channel (docs/guides/channel.md), which the booter mirrors for
// machines without internet access. A channel is channel.json, a detached signature, and the files that channel.json
// lists with their SHA-256. mirror.ts checks the files and the channel's age.
import { type SignedDocument, type SignedFile, signedFiles, signingTimeOf } from "./signed-document.ts";

export type ChannelFile = SignedFile;
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

export class ChannelFault extends Error {}

/**
 * Verifies and parses a channel.
 * @throws ChannelFault if the signature is not good or the document is not a channel
 */
export async function verifiedChannel(signed: SignedDocument): Promise<Channel> {
  const { document, signature } = signed;
  try {
    const signed_at = await signingTimeOf(signed);
    return { files: filesOf(document), signed_at, document, signature };
  } catch (error) {
    throw new ChannelFault(`channel.json: ${error instanceof Error ? error.message : "cannot be verified"}`);
  }
}

function filesOf(document: Uint8Array): readonly ChannelFile[] {
  const { files } = JSON.parse(new TextDecoder().decode(document)) as { files?: unknown };
  const read = signedFiles(files, NAME);
  if (!read.some(({ name }) => name === INSTALL_SCRIPT)) throw new Error(`${INSTALL_SCRIPT} is not among its files`);
  return read;
}
