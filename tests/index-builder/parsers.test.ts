import fc from "fast-check";
import { expect, test } from "vitest";
import { isFault } from "../../index-builder/fault.ts";
import { compareNatural, newest } from "../../index-builder/natural-order.ts";
import { type ListFormat, parseChecksums } from "../../index-builder/parse/checksums.ts";
import { clearSignedText } from "../../index-builder/parse/clear-signed.ts";
import { parseListing } from "../../index-builder/parse/listing.ts";
import { parseSizes } from "../../index-builder/parse/sizes.ts";
import { parseStanza } from "../../index-builder/parse/stanza.ts";

const A = "a".repeat(64);
const B = "B1".repeat(32);
const HTML = '<!DOCTYPE html>\n<html><body><a href="/login">Sign in</a></body></html>\n';

function sums(text: string, format: ListFormat = "gnu") {
  return parseChecksums("SUMS", text, { format, algorithm: "sha256" });
}

function kindOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isFault(error)) return error.kind;
    throw error;
  }
  return "accepted";
}

test.each([
  ["9.10", "9.9"],
  ["Build19.143", "Build19.99"],
  ["20260504.10", "20260504.9"],
  ["3.24.2-r10", "3.24.2-r9"],
  ["r151058", "r151054r"],
  ["10.2-20260817.0", "10.2-20260526.0"],
  ["100000000000000000000000001", "100000000000000000000000000"],
])("%s is newer than %s", (newer, older) => {
  expect(compareNatural(newer, older)).toBeGreaterThan(0);
  expect(compareNatural(older, newer)).toBeLessThan(0);
});

test("natural order is total: antisymmetric, transitive, and equal only for equal texts", () => {
  const text = fc.stringMatching(/^[0-9a.r-]{0,8}$/);
  fc.assert(fc.property(text, text, text, (a, b, c) => {
    expect(Math.sign(compareNatural(a, b))).toBe(-Math.sign(compareNatural(b, a)) + 0);
    expect(compareNatural(a, b) === 0).toBe(a === b);
    if (compareNatural(a, b) <= 0 && compareNatural(b, c) <= 0) expect(compareNatural(a, c)).toBeLessThanOrEqual(0);
  }));
});

test("the newest item of an empty list is null", () => expect(newest([], String)).toBeNull());

test("lines in gnu format may have two spaces, a star, or one space (openSUSE); hashes become lower case", () => {
  const found = sums(`# comment\n${A}  one.img\n${B} *two.img\r\n${A} three.img\n\n`);
  expect([...found]).toEqual([["one.img", A], ["two.img", B.toLowerCase()], ["three.img", A]]);
});

test("lists in bsd format return hashes of the requested algorithm and skip other hashes", () => {
  const found = sums(`# x.img: 12 bytes\nMD5 (x.img) = ${"0".repeat(32)}\nSHA256 (x.img) = ${A}\n`, "bsd");
  expect([...found]).toEqual([["x.img", A]]);
  expect([...parseSizes("# x.img: 12 bytes\nSHA256 (x.img) = 00\n# no size\n")]).toEqual([["x.img", 12]]);
});

test("a bare document is exactly one hash", () => {
  expect(sums(`${A}\n`, "bare").get("")).toBe(A);
  expect(kindOf(() => sums(`${A}  name\n`, "bare"))).toBe("unreadable");
});

test.each(
  [
    ["an HTML page", HTML],
    ["an empty document", ""],
    ["a truncated hash", `${A}  one.img\n${A.slice(0, 40)}`],
    ["a hash of another length", `${"a".repeat(128)}  one.img\n`],
    ["letters other than hex digits", `${"g".repeat(64)}  one.img\n`],
    ["prose", "The file has moved.\n"],
  ] as const,
)("%s is refused as a whole in every format", (_, text) => {
  for (const format of ["gnu", "bsd", "bare"] as const) expect(kindOf(() => sums(text, format))).toBe("unreadable");
});

test("two hashes for one name are refused as untrusted", () => {
  expect(kindOf(() => sums(`${A}  one.img\n${"c".repeat(64)}  one.img\n`))).toBe("untrusted");
});

test("every accepted hash is hexadecimal and has the right length", () => {
  fc.assert(fc.property(fc.string(), fc.constantFrom("gnu", "bsd", "bare"), (text, format) => {
    try {
      for (const hash of sums(text, format as ListFormat).values()) expect(hash).toMatch(/^[0-9a-f]{64}$/);
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }));
});

test("a listing returns the names in its own folder, and no links to other places", () => {
  const html = `<a href="../">up</a><a href="?C=N;O=D">Name</a><a href="9.8/">9.8/</a><a href='a%20b.img'>a..&gt;</a>
    <a href="https://evil.example/x.img">x</a><a href="/etc/passwd">y</a><a href="./c.img">c</a><a href="a%2Fb">z</a>`;
  expect(parseListing("listing", html)).toEqual(["9.8/", "a b.img", "c.img"]);
});

test("a page without links is refused as a listing", () => {
  expect(kindOf(() => parseListing("listing", "<html><body>Be right back</body></html>"))).toBe("unreadable");
});

test("the fields of a Release file end at the first indented line", () => {
  const fields = parseStanza("Release", "Suite: stable\nVersion: 13.4\nMD5Sum:\n Codename: evil\nCodename: evil\n");
  expect([...fields]).toEqual([["Suite", "stable"], ["Version", "13.4"], ["MD5Sum", ""]]);
  expect(kindOf(() => parseStanza("Release", HTML))).toBe("unreadable");
});

const FRAME = [
  "-----BEGIN PGP SIGNED MESSAGE-----",
  "Hash: SHA256",
  "",
  "one",
  "- --two",
  "-----BEGIN PGP SIGNATURE-----",
  "",
  "AAAA",
  "-----END PGP SIGNATURE-----",
  "",
];
const framed = (change: (lines: string[]) => string[]) => change([...FRAME]).join("\n");

test("the signed text has its dashes unescaped", () => {
  expect(clearSignedText("doc", framed((lines) => lines))).toBe("one\n--two");
});

test.each([
  ["text before the frame", framed((lines) => [`${A}  evil.img`, ...lines])],
  ["text after the frame", framed((lines) => [...lines, `${A}  evil.img`])],
  ["a second frame", framed((lines) => [...lines.slice(0, -1), ...FRAME])],
  ["a header other than Hash", framed((lines) => lines.map((line) => line === "Hash: SHA256" ? "Comment: x" : line))],
  ["text hidden as a header behind a form feed", framed((lines) => lines.toSpliced(2, 1, "\f", "evil", ""))],
  ["a separator line that contains a space", framed((lines) => lines.toSpliced(2, 1, " "))],
  ["an unescaped dash", framed((lines) => lines.toSpliced(4, 1, "-two"))],
  ["a carriage return inside a line", framed((lines) => lines.toSpliced(3, 1, "one\revil"))],
  ["no signature", framed((lines) => lines.slice(0, 5))],
])("a clear-signed document with %s is refused", (_, document) => {
  expect(kindOf(() => clearSignedText("doc", document))).toBe("unreadable");
});

test("every pattern takes linear time: 100 KB of hostile text are parsed within the test's time limit", () => {
  for (
    const text of [
      "a".repeat(100_000),
      " ".repeat(100_000),
      `${A}  ${" x".repeat(50_000)}`,
      "SHA256 (".repeat(12_500),
      "# ".repeat(50_000),
    ]
  ) {
    for (const format of ["gnu", "bsd", "bare"] as const) kindOf(() => sums(text, format));
    parseSizes(text);
    compareNatural(text, `${text}1`);
    kindOf(() => parseStanza("s", text));
  }
});
