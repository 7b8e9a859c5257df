// Writes a signing key for tests to a file.
import { writeFile } from "node:fs/promises";
import * as openpgp from "openpgp";

/** Writes the armored private key. Its creation time is in the past, so that no clock shows an earlier time. */
export async function writeReleaseKey(
  path: string,
  passphrase?: string,
  kind: "ed25519Legacy" | "curve25519" = "ed25519Legacy",
): Promise<void> {
  const { privateKey } = await openpgp.generateKey({
    ...kind === "curve25519" ? { type: kind } : { type: "ecc", curve: kind },
    userIDs: [{ name: "Berth release test", email: "release@berth.example" }],
    date: new Date("2026-01-01T00:00:00Z"),
    format: "armored",
    ...passphrase === undefined ? {} : { passphrase },
  });
  await writeFile(path, privateKey, { mode: 0o600 });
}
