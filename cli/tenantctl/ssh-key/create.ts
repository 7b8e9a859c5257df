import type { SshKey, SshKeyBody } from "../../../src/contract/ssh-key.ts";
import { OPENSSH_KEY_CHARS_MAX } from "../../../src/contract/limits.ts";
import { type AnyCommand, command, option } from "../../framework.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { openToRead } from "../../internal/file-problem.ts";
import { Failure, usageFailure } from "../../internal/failure.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { withIo } from "../open-io.ts";
import { keyText, OWN_PATH } from "./ssh-key.ts";

export function create(): AnyCommand {
  return command("create", "Store your SSH public key", "--name laptop --public-key-file ~/.ssh/id_ed25519.pub")
    .requiredOption("--name <name>", "1 to 63 bytes; unique among your keys")
    .option("--description <text>", "free-form description")
    .option(...LABEL_OPTION)
    .option("--public-key <line>", "public key in OpenSSH form; pass this or --public-key-file")
    .addOption(option("--public-key-file <file>", "file with the public key").conflicts("publicKey"))
    .action(withIo(async (io, { name, description, label, publicKey, publicKeyFile }) => {
      const public_key = publicKey ?? (publicKeyFile === undefined ? undefined : await readKeyFile(publicKeyFile));
      if (public_key === undefined) throw usageFailure("pass the key with --public-key or --public-key-file");
      if (/PRIVATE KEY/.test(public_key)) {
        throw new Failure(
          "this is a private key, which must stay secret; pass the public key, a file that ends in .pub",
          EXIT.usage,
        );
      }
      const body: Partial<SshKeyBody> = { name, description, labels: label && parseLabels(label), public_key };
      const key = await io.post<SshKey>(OWN_PATH, body);
      io.print(key, keyText(key));
    }));
}

/** Reads at most as much as a key can have, even from an endless file. */
async function readKeyFile(path: string): Promise<string> {
  const file = await openToRead(path, "--public-key-file");
  try {
    const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(4 * OPENSSH_KEY_CHARS_MAX) });
    if (bytesRead === buffer.length) throw new Failure(`${path} is too long for a public key`, EXIT.failure);
    return new TextDecoder().decode(buffer.subarray(0, bytesRead)).trim();
  } finally {
    await file.close();
  }
}
