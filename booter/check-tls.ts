// Checks the certificate of HTTPS boot. Firmware refuses a certificate that has expired or does not name the booter's
// address. The firmware then shows that the boot failed, but not the reason.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { fail, type Finding, ok } from "./check-finding.ts";
import type { BooterConfig } from "./config.ts";
import { readTls } from "./private-file.ts";

export async function tlsFindings(
  https: NonNullable<BooterConfig["https"]>,
  segments: BooterConfig["segment"],
): Promise<Finding[]> {
  const { certificate_file, key_file } = https;
  try {
    const { cert, key } = await readTls(https);
    const certificate = parsed(() => new X509Certificate(cert), `${certificate_file} does not contain a certificate`);
    const own = parsed(() => createPrivateKey(key), `${key_file} does not contain a private key`);
    if (!certificate.checkPrivateKey(own)) return [fail(`https: ${key_file} is not the key of ${certificate_file}`)];
    const until = new Date(certificate.validTo);
    if (until.getTime() < Date.now()) {
      return [fail(`https: ${certificate_file} expired at ${until.toISOString()}; renew it`)];
    }
    return segments.map(({ address }) =>
      certificate.checkIP(address) === undefined
        ? fail(`https: ${certificate_file} does not name the address ${address}; add it as an IP subjectAltName`)
        : ok(`https: ${certificate_file} is valid for ${address} until ${until.toISOString()}`)
    );
  } catch (error) {
    return [fail(`https: ${error instanceof Error ? error.message : "unknown error"}`)];
  }
}

/** Throws an Error with this message if the value cannot be parsed, because the runtimes have different messages. */
function parsed<T>(parse: () => T, message: string): T {
  try {
    return parse();
  } catch {
    throw new Error(message);
  }
}
