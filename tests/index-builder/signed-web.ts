// Provides a vendor for tests with responses in memory: one release, one image, and a checksum document that has a
// detached signature or is clear-signed.
import * as openpgp from "openpgp";
import { createHash } from "node:crypto";
import { VendorFault } from "../../index-builder/fault.ts";
import { runVendor, type VendorSetting } from "../../index-builder/build/vendor-run.ts";
import type { DocumentSignature, SigningKey, Vendor } from "../../index-builder/vendor.ts";
import type { Answer, Exchange } from "../../index-builder/web/exchange.ts";

export const NOW = new Date("2026-10-09T12:00:00Z");
export const SIGNED_AT = new Date("2026-10-09T06:00:00Z");
export const ROOT = "https://images.example/9/";
export const KEY_URL = "https://images.example/key.asc";

export type KeyPair = {
  readonly publicKey: openpgp.PublicKey;
  readonly privateKey: openpgp.PrivateKey;
  readonly revocationCertificate: string;
  readonly fingerprint: string;
};
export type Kind = DocumentSignature["kind"];

export async function makeKey(options: Partial<openpgp.KeyOptions> = {}): Promise<KeyPair> {
  const made = await openpgp.generateKey({
    userIDs: [{ name: "Vendor", email: "vendor@images.example" }],
    type: "curve25519",
    date: new Date("2026-01-01T00:00:00Z"),
    ...options,
    format: "object",
  });
  return { ...made, fingerprint: made.publicKey.getFingerprint().toUpperCase() };
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function sumsOf(hash: string): string {
  return `${hash}  image-9.qcow2\n`;
}

export async function detachedOf(text: string, by: KeyPair, more: object = {}): Promise<string> {
  const message = await openpgp.createMessage({ text });
  return await openpgp.sign({
    message,
    signingKeys: by.privateKey,
    detached: true,
    date: SIGNED_AT,
    ...more,
  }) as string;
}

/** Signs with SHA-1, which openpgp refuses to do by default. */
export async function sha1Signature(text: string, by: KeyPair): Promise<string> {
  const packet = new openpgp.SignaturePacket();
  const { keyPacket } = by.privateKey;
  Object.assign(packet, {
    signatureType: openpgp.enums.signature.binary,
    publicKeyAlgorithm: keyPacket.algorithm,
    hashAlgorithm: openpgp.enums.hash.sha1,
    issuerKeyID: keyPacket.getKeyID(),
    issuerFingerprint: keyPacket.getFingerprintBytes(),
    issuerKeyVersion: keyPacket.version,
  });
  const message = await openpgp.createMessage({ binary: new TextEncoder().encode(text) });
  // The types of openpgp lack these parameters.
  const sign = packet.sign.bind(packet) as unknown as (...rest: unknown[]) => Promise<void>;
  await sign(keyPacket, message.packets[0], SIGNED_AT, true, {
    ...openpgp.config,
    nonDeterministicSignaturesViaNotation: false,
  });
  const packets = new openpgp.PacketList();
  packets.push(packet);
  return new openpgp.Signature(packets as openpgp.PacketList<openpgp.SignaturePacket>).armor();
}

export async function clearSignedOf(text: string, by: KeyPair, more: object = {}): Promise<string> {
  const message = await openpgp.createCleartextMessage({ text: text.trimEnd() });
  return await openpgp.sign({ message, signingKeys: by.privateKey, date: SIGNED_AT, ...more }) as string;
}

/** @param pinned the fingerprints that the vendor's module pins */
export function signedVendor(kind: Kind, pinned: readonly string[]): Vendor {
  const key: SigningKey = { key_url: KEY_URL, fingerprints: pinned };
  const signature: DocumentSignature = kind === "pgp_detached"
    ? { kind, url: `${ROOT}SHA256SUMS.asc`, key }
    : { kind, key };
  return {
    id: "signed",
    name: "Signed",
    homepage: "https://images.example/",
    os_family: "linux",
    hosts: ["images.example"],
    end_of_life_product: null,
    list: () =>
      Promise.resolve([{
        token: "9",
        version: "9",
        title: "Signed 9",
        supported: true,
        eol_date: null,
        lts: false,
        dev: null,
        channel: false,
        resolve: () =>
          Promise.resolve({
            builds: [{
              build: "20261009",
              point_release: null,
              artifacts: [{
                url: `${ROOT}image-9.qcow2`,
                variant: "server",
                default_variant: true,
                arch: "x86_64",
                format: "qcow2" as const,
                compression: "none" as const,
                checksum: {
                  document: {
                    url: `${ROOT}SHA256SUMS`,
                    format: "gnu" as const,
                    algorithm: "sha256" as const,
                    signature,
                  },
                  filename: "image-9.qcow2",
                },
              }],
            }],
          }),
      }]),
  };
}

export type Bodies = Readonly<Record<string, string | Uint8Array | number>>;

/**
 * Answers each request with an entry of `bodies`, by the file name below ROOT or by "key" for the URL of the key. An
 * entry that is a number is a status. The image is not in `bodies`: its answer has a length and an empty body.
 */
export function webOf(bodies: Bodies): Exchange {
  return ({ method, url }) => {
    const name = url === KEY_URL ? "key" : url.slice(ROOT.length);
    const image = name === "image-9.qcow2";
    const body = image ? "" : bodies[name];
    if (body === undefined) return Promise.reject(new VendorFault("not_recorded", `${method} ${url}: not recorded`));
    const answer: Answer = {
      status: typeof body === "number" ? body : 200,
      url,
      headers: new Map(image ? [["content-length", "1000"]] : []),
      body: typeof body === "string"
        ? new TextEncoder().encode(body)
        : typeof body === "number"
        ? new Uint8Array()
        : body,
    };
    return Promise.resolve(answer);
  };
}

export function run(vendor: Vendor, exchange: Exchange, more: Partial<VendorSetting> = {}) {
  const wait = () => Promise.resolve();
  return runVendor(vendor, { exchange, signatures: "check", now: NOW, previous: null, trust: null, wait, ...more });
}
