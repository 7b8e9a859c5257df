// Tests the parsing of the documents in which vendors list hashes.
import { expect, test } from "vitest";
import { listedHash } from "../../../cli/image/checksums.ts";

const A = "a".repeat(64);
const B = "b".repeat(64);
const LONG = "c".repeat(128);

test.each(
  [
    ["gnu", "sha256", `${B}  other\n${A}  image\n`],
    ["gnu", "sha256", `${B} *other\r\n${A} *image\r\n`],
    ["gnu", "sha256", `# comment\n\n${A.toUpperCase()} image\n`],
    ["bsd", "sha256", `# image: 12 bytes\nSHA256 (other) = ${B}\nSHA256 (image) = ${A}\n`],
    ["bsd", "sha256", `MD5 (image) = ${"d".repeat(32)}\nSHA512 (image) = ${LONG}\nSHA256 (image) = ${A}\n`],
    ["bare", "sha256", A],
    ["bare", "sha256", `${A}\n`],
    ["bare", "sha256", `${A}  images/image.qcow2\n`],
    [
      "gnu",
      "sha256",
      `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n- # dashed\n${A}  image\n-----BEGIN PGP SIGNATURE-----\n\nabcd\n-----END PGP SIGNATURE-----\n`,
    ],
  ] as const,
)("a %s document of %s is read: %j", (format, algorithm, text) => {
  expect(listedHash("x", text, { format, algorithm, filename: format === "bare" ? null : "image" })).toBe(A);
});

test.each(
  [
    ["gnu", `<html>\n${A}  image\n`],
    ["gnu", `${A}  image\n${B}  image\n`],
    ["gnu", `${A.slice(1)}  image\n`],
    ["gnu", `${LONG}  image\n`],
    ["gnu", `${A}  dir/image\n`],
    ["gnu", `SHA256 (image) = ${A}\n`],
    ["bsd", `${A}  image\n`],
    ["bsd", `SHA512 (image) = ${LONG}\n`],
    ["bsd", `SHA256 (image) = ${A}0\n`],
    ["bare", `${A}\n${B}\n`],
    ["bare", ""],
    ["bare", "not found"],
  ] as const,
)("a %s document is refused: %j", (format, text) => {
  const wanted = { format, algorithm: "sha256", filename: format === "bare" ? null : "image" } as const;
  expect(() => listedHash("x", text, wanted)).toThrow();
});
