// Builds names that try to leave their folder. Each contains MARK, so that a trace shows every use of a name in the
// file system. Each character is one byte.
import { Buffer } from "node:buffer";

export const MARK = "canary-7f3a";

const CLIMBS = [
  "../",
  "..\\",
  "/../",
  "./../",
  "....//",
  "..;/",
  ".. /",
  "..\0/",
  "..%00/",
  "%2e%2e/",
  ".%2e/",
  "%2E./",
  "..%2f",
  "..%5c",
  "%2e%2e%2f",
  "%252e%252e%252f",
  "..%c0%af",
  "%c0%ae%c0%ae/",
  "..\xc0\xaf",
  bytesOf("．．／"),
  bytesOf("‥/"),
  "..%ef%bc%8f",
  "..%u2215",
];
const DEPTHS = [1, 2, 3, 5, 9];
const ENDS = ["", ".json", "/", "\0.kpxe", "%00.tgz"];

/**
 * Builds the names. `home` is the folder that contains the roots and the marked files; `inside` are names that exist.
 */
export function hostileNames(home: string, inside: readonly string[]): readonly string[] {
  const climbing = CLIMBS.flatMap((climb) =>
    DEPTHS.flatMap((depth) => ENDS.map((end) => `${climb.repeat(depth)}${MARK}${end}`))
  );
  const absolute = ["", "/", "file://", "file:", "/proc/self/root", "/proc/self/cwd/../../..", "/dev/fd/../../.."].map(
    (before) => `${before}${home}/${MARK}`,
  );
  const foreign = ["~/", "~root/", "C:\\", "\\\\?\\", "\\\\127.0.0.1\\", "$HOME/", "`pwd`/", "nul:", "data:,"].map(
    (before) => `${before}${MARK}`,
  );
  const beyond = inside.flatMap((name) =>
    ["/../", "/../../", "/../../../../", "%2f..%2f..%2f", "\\..\\..\\", "\0/../", "#/../", ""].map((way) =>
      `${name}${way}${MARK}`
    )
  );
  const lengths = [64, 127, 128, 129, 255].map((length) => MARK.padEnd(length, "a"));
  return [...new Set([...climbing, ...absolute, ...foreign, ...beyond, ...lengths])];
}

function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}
