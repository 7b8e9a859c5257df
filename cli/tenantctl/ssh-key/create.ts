import { open } from "node:fs/promises";
import type { SshKey, SshKeyBody } from "../../../src/contract/ssh-key.ts";
import { OPENSSH_KEY_CHARS_MAX } from "../../../src/contract/limits.ts";
import { type AnyCommand, command, option } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure, usageFailure } from "../../internal/failure.ts";
import { withIo } from "../open-io.ts";
import { keyText, OWN_PATH } from "./ssh-key.ts";

export function create(): AnyCommand {
  return command("create", "Store an SSH public key of yours")
    .requiredOption("--name <name>", "1 to 63 bytes; no other key of yours has it")
    .option("--description <text>", "what it is for")
    .option("--public-key <line>", "the key as OpenSSH writes it; this or --public-key-file")
    .addOption(option("--public-key-file <file>", "the file that holds it").conflicts("publicKey"))
    .action(withIo(async (io, { name, description, publicKey, publicKeyFile }) => {
      const public_key = publicKey ?? (publicKeyFile === undefined ? undefined : await readKeyFile(publicKeyFile));
      if (public_key === undefined) throw usageFailure("pass the key as --public-key or --public-key-file");
      if (/PRIVATE KEY/.test(public_key)) {
        throw new Failure(
          "that is a private key, which nobody else may see; pass the file that ends in .pub",
          EXIT.usage,
        );
      }
      const body: Partial<SshKeyBody> = { name, description, public_key };
      const key = await io.post<SshKey>(OWN_PATH, body);
      io.print(key, keyText(key));
    }));
}

/** No more than a key can have, whatever the file is. */
async function readKeyFile(path: string): Promise<string> {
  const file = await open(path, "r").catch((error: Error) => {
    throw new Failure(`cannot read ${path}: ${error.message}`, EXIT.failure);
  });
  try {
    const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(4 * OPENSSH_KEY_CHARS_MAX) });
    if (bytesRead === buffer.length) throw new Failure(`${path} is too long for a public key`, EXIT.failure);
    return new TextDecoder().decode(buffer.subarray(0, bytesRead)).trim();
  } finally {
    await file.close();
  }
}
