// Stores the node's key and certificate for connections from other nodes. The certificate is self-signed. The source of
// a migration gets the certificate from the control plane and accepts no other. The key stays the same after a restart,
// so that a source can connect again.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { readPrivateFile, writeFileDurably } from "../../cli/internal/private-file.ts";
import { runProgram } from "../qemu/run-program.ts";

export type Identity = {
  /** In PEM. */
  readonly key: string;
  /** In PEM. */
  readonly certificate: string;
  /** The port on which the node last listened; 0 if it has not listened yet. */
  readonly port: number;
};

/** The name in every node's certificate. Sources recognize the certificate itself, so the name has no meaning. */
export const NODE_NAME = "berth-node";
/** Ten years: the node's disks do not last longer. */
const CERTIFICATE_DAYS = 3_650;

const FILE = "migration-identity.json";

/** Reads the identity, or creates one. */
export async function readIdentity(state_dir: string): Promise<Identity> {
  const text = await readPrivateFile(join(state_dir, FILE));
  if (text !== null) return JSON.parse(text) as Identity;
  const folder = await mkdtemp(join(state_dir, "new-identity-"));
  try {
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    await runProgram([
      "openssl",
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-sha256",
      "-days",
      String(CERTIFICATE_DAYS),
      "-subj",
      `/CN=${NODE_NAME}`,
      "-addext",
      `subjectAltName=DNS:${NODE_NAME}`,
      "-keyout",
      key,
      "-out",
      certificate,
    ]);
    const identity = {
      key: await readFile(key, "utf8"),
      certificate: await readFile(certificate, "utf8"),
      port: 0,
    };
    await saveIdentity(state_dir, identity);
    return identity;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function saveIdentity(state_dir: string, identity: Identity): Promise<void> {
  await writeFileDurably(join(state_dir, FILE), `${JSON.stringify(identity)}\n`);
}
