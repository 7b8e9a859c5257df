// Reads the server's certificate and key from PEM files. The server does not start with unusable files
// (docs/reliability.md, S-32).
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";

export type TlsFiles = { readonly cert: string; readonly key: string };

/** The contents of the files. */
export type TlsIdentity = { readonly cert: string; readonly key: string };

/** Reads and checks the files. Throws an Error that names the variable and the problem, and never quotes a key. */
export async function readTls(files: TlsFiles): Promise<TlsIdentity> {
  const cert = await textOf("BERTH_TLS_CERT", files.cert);
  const key = await textOf("BERTH_TLS_KEY", files.key);
  if (((await stat(files.key)).mode & 0o007) !== 0) {
    throw new Error(`BERTH_TLS_KEY: ${files.key} may be read by everybody: chmod 640 ${files.key}`);
  }
  const certificate = parsed(() => new X509Certificate(cert));
  if (certificate === null) throw new Error(`BERTH_TLS_CERT: ${files.cert} does not contain a PEM certificate`);
  const secret = parsed(() => createPrivateKey(key));
  if (secret === null) {
    throw new Error(`BERTH_TLS_KEY: ${files.key} must contain a PEM private key that is not encrypted with a password`);
  }
  if (!certificate.checkPrivateKey(secret)) {
    throw new Error(`BERTH_TLS_KEY: ${files.key} is not the key of the certificate in ${files.cert}`);
  }
  return { cert, key };
}

async function textOf(variable: string, path: string): Promise<string> {
  return await readFile(path, "utf8").catch((error) => {
    throw new Error(`${variable}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "no code"})`);
  });
}

function parsed<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null; // The library's error text could quote the file.
  }
}
