// Reads the certificate and key again while the server runs, so that a renewed certificate needs no restart. The files
// are polled, because a file watcher does not see changed symbolic links, which certificate managers use. While only
// one of the two files has been replaced, the certificate and the key do not match, and both are ignored
// (docs/reliability.md, S-32).
import { TLS_FILES_READ_MS } from "../contract/limits.ts";
import { readTls, type TlsFiles, type TlsIdentity } from "./tls-files.ts";

export type TlsFollowing = {
  /** The certificate and key that the server started with. */
  readonly first: TlsIdentity;
  /** Called with each new certificate and key. */
  readonly use: (identity: TlsIdentity) => void;
  readonly log: {
    info(message: string, properties: Record<string, unknown>): void;
    warning(message: string, properties: Record<string, unknown>): void;
  };
  /** Default: TLS_FILES_READ_MS. */
  readonly every_ms?: number;
};

/**
 * Polls the files until stop() is called. Unusable files are ignored. The reason is logged when it differs from the
 * reason of the previous read.
 */
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
