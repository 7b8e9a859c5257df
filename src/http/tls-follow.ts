// Reads the certificate and its key again while the server runs, so that a renewed certificate needs no restart. Both
// files are read every few seconds: a file watcher does not see a changed symbolic link, which certificate managers use.
// Files that do not fit together (one of the two is written first) are left alone until they do. Reliability rule S-32.
import { TLS_FILES_READ_MS } from "../contract/limits.ts";
import { readTls, type TlsFiles, type TlsIdentity } from "./tls-files.ts";

export type TlsFollowing = {
  /** The identity that the server started with. */
  readonly first: TlsIdentity;
  /** Called with each new identity. */
  readonly use: (identity: TlsIdentity) => void;
  readonly log: {
    info(message: string, properties: Record<string, unknown>): void;
    warning(message: string, properties: Record<string, unknown>): void;
  };
  /** Default: TLS_FILES_READ_MS. */
  readonly every_ms?: number;
};

/** Follows the files until stop() is called. Files that cannot be used change nothing; each reason is logged once. */
export function followTls(files: TlsFiles, { first, use, log, every_ms = TLS_FILES_READ_MS }: TlsFollowing) {
  let current = first;
  let warned: string | null = null;
  let reading = false;

  async function look(): Promise<void> {
    if (reading) return;
    reading = true;
    try {
      const found = await readTls(files);
      warned = null;
      if (found.cert === current.cert && found.key === current.key) return;
      use(found);
      current = found;
      log.info("the TLS certificate changed; new connections use it", { cert: files.cert });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== warned) {
        log.warning("the TLS certificate was not read again; the previous one is used", { reason });
      }
      warned = reason;
    } finally {
      reading = false;
    }
  }

  const timer = setInterval(() => void look(), every_ms);
  return { stop: () => clearInterval(timer) };
}
