// Creates certificates for tests without an external tool: X.509 version 3 (RFC 5280) with ECDSA P-256 and SHA-256, and
// only the fields that a verifier needs.
import { Buffer } from "node:buffer";
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

export type Identity = { readonly cert: string; readonly key: string };
export type Authority = Identity & {
  /** Issues a certificate for a server with this name or IPv4 address. */
  issue(host: string, validity?: Validity): Identity;
};
export type Validity = { readonly from: Date; readonly to: Date };

const DAY_MS = 24 * 60 * 60 * 1_000;
const ECDSA_WITH_SHA256 = "2a8648ce3d040302";
const COMMON_NAME = "550403";
const BASIC_CONSTRAINTS = "551d13";
const ALTERNATIVE_NAMES = "551d11";

export function newAuthority(name = "a test authority"): Authority {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const own = { name, key: keys.privateKey };
  const constraints = extension(BASIC_CONSTRAINTS, der(0x30, der(0x01, Buffer.from([0xff]))));
  const cert = certificate({ subject: name, publicKey: keys.publicKey, extensions: [constraints], by: own });
  return {
    cert,
    key: pem(keys.privateKey),
    issue: (host, validity) => identityOf(host, validity, own),
  };
}

/** Creates a self-signed certificate. */
export function selfSigned(host: string): Identity {
  return identityOf(host, undefined, null);
}

/** Returns a validity that ended yesterday. */
export function expired(): Validity {
  return { from: new Date(Date.now() - 10 * DAY_MS), to: new Date(Date.now() - DAY_MS) };
}

type Signer = { readonly name: string; readonly key: KeyObject };

function identityOf(host: string, validity: Validity | undefined, by: Signer | null): Identity {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = isIPv4(host) ? der(0x87, Buffer.from(host.split(".").map(Number))) : der(0x82, Buffer.from(host));
  const extensions = [extension(ALTERNATIVE_NAMES, der(0x30, name))];
  const signer = by ?? { name: host, key: keys.privateKey };
  const cert = certificate({ subject: host, publicKey: keys.publicKey, extensions, by: signer, validity });
  return { cert, key: pem(keys.privateKey) };
}

type Made = {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly by: Signer;
  readonly validity?: Validity;
};

function certificate({ subject, publicKey, extensions, by, validity }: Made): string {
  const { from, to } = validity ?? { from: new Date(Date.now() - DAY_MS), to: new Date(Date.now() + DAY_MS) };
  const algorithm = der(0x30, oid(ECDSA_WITH_SHA256));
  const signed = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(8)])),
    algorithm,
    named(by.name),
    der(0x30, time(from), time(to)),
    named(subject),
    publicKey.export({ format: "der", type: "spki" }),
    der(0xa3, der(0x30, ...extensions)),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", signed, by.key));
  const lines = der(0x30, signed, algorithm, signature).toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function named(name: string): Buffer {
  return der(0x30, der(0x31, der(0x30, oid(COMMON_NAME), der(0x0c, Buffer.from(name)))));
}

function extension(id: string, value: Buffer): Buffer {
  return der(0x30, oid(id), der(0x04, value));
}

/** Encodes UTCTime, YYMMDDhhmmssZ: two digits of the year are enough until 2049. */
function time(at: Date): Buffer {
  return der(0x17, Buffer.from(`${at.toISOString().replace(/[-:T]/g, "").slice(2, 14)}Z`));
}

function pem(key: KeyObject): string {
  return String(key.export({ format: "pem", type: "pkcs8" }));
}
