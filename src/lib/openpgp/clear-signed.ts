// Extracts the signed text of an OpenPGP clear-signed document (RFC 9580, 7). The text that we use must be exactly the
// text that was signed. Therefore every deviation is rejected: text before or after the signed message, a second
// message, and an armor header other than Hash. A separator line that contains a space or a form feed is also rejected.

/** The first line of a clear-signed document. */
export const CLEAR_SIGNED_BEGIN = "-----BEGIN PGP SIGNED MESSAGE-----";
const SIGNATURE = "-----BEGIN PGP SIGNATURE-----";
const END = "-----END PGP SIGNATURE-----";

/**
 * Returns the signed text without dash escapes, with lines joined by \n. Does not verify the signature.
 * @throws Error with the reason
 */
export function clearSignedText(document: string): string {
  const lines = document.split("\n").map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
  while (lines.at(-1) === "") lines.pop();
  const signature_at = lines.indexOf(SIGNATURE);
  if (lines[0] !== CLEAR_SIGNED_BEGIN || lines.at(-1) !== END || signature_at < 0) {
    throw new Error("the document is not a single clear-signed message");
  }
  for (const line of lines) {
    // With control characters other than a tab, two programs could disagree about where lines end.
    // deno-lint-ignore no-control-regex
    const control = /[\u0000-\u0008\u000b-\u001f\u007f\u0085\u2028\u2029]/;
    if (control.test(line)) throw new Error("the document contains a control character");
  }
  const frames = lines.filter((line) => /^-----/.test(line));
  if (frames.length !== 3) throw new Error("the document contains another armored message");
  const blank_at = lines.indexOf("");
  const headers = lines.slice(1, blank_at);
  if (blank_at < 1 || blank_at > signature_at || headers.some((line) => !/^Hash: [A-Za-z0-9, -]{1,64}$/.test(line))) {
    throw new Error("the document has armor headers other than Hash");
  }
  return lines.slice(blank_at + 1, signature_at).map(undash).join("\n");
}

function undash(line: string): string {
  if (line.startsWith("- ")) return line.slice(2);
  if (line.startsWith("-")) throw new Error("a line that begins with a dash is not escaped");
  return line;
}
