import type { CnView } from "../../../src/contract/cn.ts";
import { type AnyCommand, command, option } from "../../framework.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { NODE_ARGUMENT, resolveNode } from "../node-name.ts";

export function rootPassword(): AnyCommand {
  return command("root-password", "Set the root password of a node; the password changes at the next netboot", "cn-17")
    .argument(...NODE_ARGUMENT)
    .addOption(option("--hash <hash>", "sha512-crypt hash ($6$salt$hash), used unchanged").conflicts("passwordStdin"))
    .addOption(option("--clear", "clear the stored hash").conflicts(["hash", "passwordStdin"]))
    .option("--password-stdin", "read the password from standard input")
    .action(withIo(async (io, name, { hash, clear, passwordStdin }) => {
      const server_uuid = await resolveNode(io, name);
      const password_hash = clear === true ? "" : hash ?? await hashed(await readPassword(io, passwordStdin === true));
      // An empty hash would make the server clear the stored hash. Only --clear may do that.
      if (password_hash === "" && clear !== true) {
        throw usageFailure("--hash is empty; to clear the hash, pass --clear");
      }
      const body = password_hash === "" ? {} : { password_hash };
      const node = await io.post<CnView>(`/v1/cns/${server_uuid}/root-password`, body);
      const done = password_hash === "" ? "Cleared the root password of CN" : "Set the root password of CN";
      io.print(node, `${done} ${plainText(node.server_uuid)} (next netboot)`);
    }));
}

async function readPassword(io: Io, from_stdin: boolean): Promise<string> {
  const keyboard = await io.environment.keyboard();
  if (from_stdin) return checked((await keyboard.readAll()).replace(/\r?\n$/, ""));
  if (!keyboard.isTTY) {
    throw usageFailure(
      "standard input is not a terminal, so there is no prompt for the password; pass --password-stdin",
    );
  }
  const password = checked(await keyboard.readSecret("New root password: "));
  if (await keyboard.readSecret("Again: ") !== password) throw usageFailure("the two passwords differ");
  return password;
}

function checked(password: string): string {
  if (password === "") throw usageFailure("the password is empty; to clear the stored hash, pass --clear");
  if (/[\r\n]/.test(password)) throw usageFailure("the password must be one line");
  return password;
}

/** Hashes the password on this machine, so that the password itself is not sent. */
async function hashed(password: string): Promise<string> {
  const { cryptPasswordError, saltFromBytes, sha512Crypt } = await import("../../../src/lib/crypto/sha512-crypt.ts");
  const error = cryptPasswordError(password);
  if (error !== null) throw usageFailure(error);
  return sha512Crypt(password, saltFromBytes(crypto.getRandomValues(new Uint8Array(16))));
}
