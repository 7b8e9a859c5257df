import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseOpensshKey } from "../../src/lib/crypto/openssh-key.ts";

// Keys that ssh-keygen created for this test, with the fingerprints that it printed. The private keys were deleted.
const KEYS: [line: string, fingerprint: string][] = [
  [
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHNafuYmCfe59RfPYGjRMJhpwjayMEQQqtjAogGl9xTJ admin@example",
    "SHA256:etJ2473IO931aYvosxR/GW7H6SWGRc3+fE5E0q/k4TY",
  ],
  [
    "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBOCvC5qtVt0sIcxtFIjDWV8x6ykPbtSNS87Q1EwUQZ6lu/ZwkH3PnVZdw/xm5hvZc0MpAbLpyaYBz0YqlwsKCVw= ec 256",
    "SHA256:kfohxNUJGeXCRNKPA5496KvNpyGtScYQuI4LXInJifw",
  ],
  [
    "ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBORl41yXMnQC9lmX3/j6Z7KdiOV+YDwrhsVqdqnK8hxiBxa1f/ew/3rV08hal5RgQBXpmOxHSRHaG/wlmt8V9LymaTT4HDjDSTlvdKDKi8t6pE16jP0daosUfHtQ7lbWFA== ec 384",
    "SHA256:nYBNd3VB2k5oERYXUk71kfflGoc2fClodVNfH62Vcfs",
  ],
  [
    "ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAFg57eai5NEf289batCPu9B8JaT5Zpqvzoaj1dv7OWXHr2g25hNJ+nNVgk9q0DJ1Cy+ZTmlHCDr17lgp60XnX3N5QDpFNAz2llh0yPG+Lig3imN3aiDfTJ6fOGxntqRjCAd+YJEJkcwV+FDlbEJYFd6V43DvnHWZ8/6aRo/ZX2aF0s4TA== ec 521",
    "SHA256:YWbPdM9iLj/MHROmCxMlQRZc2jYd/nOxMC/jS1cAvro",
  ],
  [
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDbCbs8wOf0BlR6ffP30mllwADk70PzhYPz3+4yf2AmROYCyolr5ZB0EUHap2od7JoUQgRBuTkBftCrDQeqqDt+Z+2skAi4ifn4bitMLdUU8OzPtwmmPUMnKebwbG0b54Niy8VmAQ2VoRMBHvEMDazmP5XPUejGOVLwz1+f/zQtsuE/MbVBB4kOfFUBvt9D6umSIguljXJrjaWgGIcjPT4d0loSpkP0IKDqLaVzDJMHBwl7U/YoHCm0eF/40nrpWh/gCtca9X35r6AB+PHebDHsqS47EfOPTsZHCTSMSD2M41HZrb6agN//k70QYU/Ugr6CWTa5Nw64ZYEGbdUgwN83",
    "SHA256:IhGvukDBOYs2wD/FXAQty6Y88eBE9E5NhoEeaiRhij8",
  ],
];
const [ED25519] = KEYS[0]!;

const errorOf = (text: string) => {
  const result = parseOpensshKey(text);
  return "error" in result ? result.error : null;
};
const field = (bytes: Buffer | string) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(bytes));
  return Buffer.concat([length, Buffer.from(bytes)]);
};
const keyOf = (type: string, ...fields: (Buffer | string)[]) =>
  `${type} ${Buffer.concat([type, ...fields].map(field)).toString("base64")}`;

const modulus = (bits: number) => {
  const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  bytes[0] = 0xff >> (8 * bytes.length - bits);
  return bytes[0]! >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
};
const exponent = Buffer.from([1, 0, 1]);
const point = (coordinateBytes: number) => Buffer.concat([Buffer.from([4]), Buffer.alloc(2 * coordinateBytes, 7)]);

test.each(KEYS)("%s is parsed", (line, fingerprint) => {
  const [type, , ...comment] = line.split(" ");
  expect(parseOpensshKey(line)).toEqual({ type, fingerprint, comment: comment.join(" "), line });
});

test("white space around the line is removed, and the comment may be missing", () => {
  expect(parseOpensshKey(`  ${ED25519} \r\n`)).toEqual(parseOpensshKey(ED25519));
  const bare = ED25519.split(" ").slice(0, 2).join(" ");
  expect(parseOpensshKey(`${bare} `)).toMatchObject({ comment: "", line: bare });
});

test("keys of security tokens (sk-...) are parsed, and their application is part of the fingerprint", () => {
  for (
    const line of [
      keyOf("sk-ssh-ed25519@openssh.com", Buffer.alloc(32, 1), "ssh:"),
      keyOf("sk-ecdsa-sha2-nistp256@openssh.com", "nistp256", point(32), "ssh:work"),
    ]
  ) {
    const hash = createHash("sha256").update(Buffer.from(line.split(" ")[1]!, "base64")).digest("base64");
    expect(parseOpensshKey(line)).toMatchObject({ fingerprint: `SHA256:${hash.slice(0, 43)}` });
  }
});

test("an RSA key has 2,048 to 16,384 bits", () => {
  expect(errorOf(keyOf("ssh-rsa", exponent, modulus(2_047)))).toBe("an RSA key needs at least 2048 bits");
  expect(errorOf(keyOf("ssh-rsa", exponent, modulus(2_048)))).toBeNull();
  expect(errorOf(keyOf("ssh-rsa", exponent, modulus(16_384)))).toBeNull();
  expect(errorOf(keyOf("ssh-rsa", exponent, modulus(16_385)))).toBe("an RSA key has at most 16384 bits");
});

const [type, base64] = ED25519.split(" ") as [string, string];
const padded = Buffer.from(base64, "base64");
const UNKNOWN_TYPE =
  "the type must be one of ssh-ed25519, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521, " +
  "ssh-rsa, sk-ssh-ed25519@openssh.com, sk-ecdsa-sha2-nistp256@openssh.com";
test.each([
  ["", UNKNOWN_TYPE],
  [keyOf("ssh-dss", "a", "b", "c", "d"), UNKNOWN_TYPE],
  [keyOf("ssh-ed25519-cert-v01@openssh.com", "x"), UNKNOWN_TYPE],
  [`constructor ${base64}`, UNKNOWN_TYPE],
  [`command="sh" ${ED25519}`, UNKNOWN_TYPE],
  [`${ED25519}\n${ED25519}`, "it must be one line without control characters"],
  [`${ED25519}\x1b[2J`, "it must be one line without control characters"],
  [`${type}\t${base64}`, "it must be one line without control characters"],
  [type, "the second word is not base64"],
  [`${type}  ${base64}`, "the second word is not base64"],
  [`${type} ${base64}=`, "the second word is not base64"],
  [`${type} ${base64.replace(/.$/, "*")}`, "the second word is not base64"],
  [`ssh-rsa ${base64}`, "the type inside the key differs from the type before it"],
  [`${type} ${padded.subarray(0, -1).toString("base64")}`, "the lengths inside the key do not add up"],
  [
    `${type} ${Buffer.concat([padded, Buffer.alloc(3)]).toString("base64")}`,
    "the lengths inside the key do not add up",
  ],
  [`${type} ${Buffer.concat([padded, Buffer.alloc(4)]).toString("base64")}`, "a key of this type has 2 fields"],
  [`${type} ${Buffer.alloc(4, 0xff).toString("base64")}`, "the lengths inside the key do not add up"],
  [keyOf("ssh-ed25519"), "a key of this type has 2 fields"],
  [keyOf("ssh-ed25519", Buffer.alloc(31)), "an Ed25519 key has 32 bytes"],
  [keyOf("ecdsa-sha2-nistp256", "nistp384", point(48)), "the curve inside the key is not nistp256"],
  [keyOf("ecdsa-sha2-nistp256", "nistp256", point(48)), "the point is not of this curve's size"],
  [
    keyOf("ecdsa-sha2-nistp256", "nistp256", Buffer.concat([Buffer.from([2]), Buffer.alloc(64)])),
    "the point is not of this curve's size",
  ],
  [keyOf("sk-ssh-ed25519@openssh.com", Buffer.alloc(32), ""), "the application is not printable text"],
  [keyOf("sk-ssh-ed25519@openssh.com", Buffer.alloc(32), "a\nb"), "the application is not printable text"],
  [keyOf("ssh-rsa", Buffer.from([1]), modulus(2_048)), "the RSA exponent is not usable"],
  [keyOf("ssh-rsa", Buffer.from([2]), modulus(2_048)), "the RSA exponent is not usable"],
  [keyOf("ssh-rsa", Buffer.from([0, 3]), modulus(2_048)), "the RSA exponent is not usable"],
  [keyOf("ssh-rsa", "", modulus(2_048)), "the RSA exponent is not usable"],
  [keyOf("ssh-rsa", exponent, Buffer.alloc(256, 0xff)), "the RSA modulus is not usable"],
  [keyOf("ssh-rsa", exponent, Buffer.concat([Buffer.alloc(1), modulus(2_048)])), "the RSA modulus is not usable"],
  [keyOf("ssh-rsa", exponent, Buffer.alloc(257)), "the RSA modulus is not usable"],
  [`${ED25519}${" x".repeat(5_000)}`, "it is longer than 8192 characters"],
])("%.60j is rejected: %s", (text, error) => expect(errorOf(text)).toBe(error));

test("a key is rejected if one byte of its structure is changed", () => {
  const structure = 4 + type.length + 4;
  fc.assert(fc.property(fc.nat(structure - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
    const changed = Buffer.from(padded);
    changed[at] = changed[at]! ^ flip;
    expect(errorOf(`${type} ${changed.toString("base64")}`)).not.toBeNull();
  }));
});

test("random text is rejected without an exception", () => {
  fc.assert(fc.property(fc.string(), fc.uint8Array({ maxLength: 80 }), (text, bytes) => {
    expect(errorOf(text)).not.toBeNull();
    expect(errorOf(`ssh-rsa ${Buffer.from(bytes).toString("base64")}`)).not.toBeNull();
  }));
});
