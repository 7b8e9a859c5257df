// Prepares files and QEMU arguments for machines with ARM64 firmware, with Secure Boot, or with boot by HTTPS. Secure
// Boot uses the test keys of OVMF. Their private key is public.
import { execFile } from "node:child_process";
import { Buffer } from "node:buffer";
import { chmod, copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Optional, present } from "../support/optional-programs.ts";

const run = promisify(execFile);

export const ARM64_NEEDS = [
  "qemu-system-aarch64",
  "UEFI firmware for ARM64",
  "UEFI variables for ARM64",
  "iPXE for ARM64",
] as const satisfies readonly Optional[];

export const SECURE_NEEDS = [
  "sbsign",
  "openssl",
  "shim",
  "iPXE for Secure Boot",
  "UEFI firmware with Secure Boot",
  "UEFI variables with test keys",
  "the certificate of the test keys",
  "the key of the test keys",
] as const satisfies readonly Optional[];

/** The password of OVMF's private test key. */
const TEST_KEY_PASSWORD = "snakeoil";

/** Signs the shim and iPXE with the test keys, as a site does with its own keys. */
export async function stageSecure(files: string): Promise<void> {
  const key = join(files, "..", "secure-boot.key");
  const source = present("the key of the test keys");
  await run(present("openssl"), ["rsa", "-in", source, "-passin", `pass:${TEST_KEY_PASSWORD}`, "-out", key]);
  const cert = present("the certificate of the test keys");
  for (const [program, name] of [["shim", "shimx64.efi"], ["iPXE for Secure Boot", "grubx64.efi"]] as const) {
    await run(present("sbsign"), ["--key", key, "--cert", cert, "--output", join(files, name), present(program)]);
  }
}

export async function stageArm64(files: string): Promise<void> {
  await copyFile(present("iPXE for ARM64"), join(files, "ipxe-arm64.efi"));
}

/** Two GUIDs of a signature list (UEFI 2.10, 32.4.1): the type "X.509 certificate", and an arbitrary owner. */
const X509 = "a159c0a5e494a74a87b5ab155c2bf072";
const OWNER = "00112233445566778899aabbccddeeff";

/**
 * Makes a certificate for this address, and a file for QEMU that makes OVMF trust the certificate. Returns the path of
 * the file.
 */
export async function stageHttps(folder: string, address: string): Promise<string> {
  const [cert, key, der] = ["https.pem", "https.key", "https.der"].map((name) => join(folder, name));
  const subject = ["-subj", "/CN=booter", "-addext", `subjectAltName=IP:${address}`, "-days", "2"];
  // OVMF of Debian 12 does not support elliptic curves in certificates, so this key is RSA.
  const openssl = present("openssl");
  await run(openssl, ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key!, "-out", cert!, ...subject]);
  await chmod(key!, 0o600);
  await run(openssl, ["x509", "-in", cert!, "-outform", "DER", "-out", der!]);
  const certificate = await readFile(der!);
  const sizes = Buffer.alloc(12);
  sizes.writeUInt32LE(16 + 12 + 16 + certificate.length, 0);
  sizes.writeUInt32LE(16 + certificate.length, 8);
  const trusted = join(folder, "https.trusted");
  await writeFile(trusted, Buffer.concat([Buffer.from(X509, "hex"), sizes, Buffer.from(OWNER, "hex"), certificate]));
  return trusted;
}

/** Returns QEMU's arguments for a machine's flash: the firmware `code`, and the file with the machine's `variables`. */
export function flash(code: string, variables: string): string[] {
  return [
    "-drive",
    `if=pflash,format=raw,unit=0,readonly=on,file=${code}`,
    "-drive",
    `if=pflash,format=raw,unit=1,file=${variables}`,
  ];
}
