// What must not leave the site with a bundle. Sections name the members they take, so that a secret which a later server
// adds to a view is not among them; here is the second wall: members with telling names are dropped at every depth, and
// texts are searched for what secrets look like.

const REDACTED = "[redacted]";

const SECRET_NAME =
  /password|passwd|passphrase|secret|shadow|rabbitmq|private_?key|^api_?key$|authorization|cookie|user_?data|claim_?code|(?:^|_)token|credential/i;

/**
 * Each finds a secret; what its first group holds, if it has one, stays. Those that begin with a run of characters begin
 * where the run does, so that no text makes them look at one run again from each of its places.
 */
const SECRETS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\bopsk_[\w-]{8,}/g,
  // A signed token, whatever it is for.
  /(?<![\w-])(?=[\w-]*eyJ)[\w-]{11,}\.[\w-]+\.[\w-]*/g,
  // A sealed text of the server's.
  /\bs1\.[\w-]{40,}/g,
  // A password as crypt(3) or Argon2 keeps it.
  /\$(?:1|2[abxy]?|5|6|7|y|gy|argon2\w{0,2}|scrypt)\$[^\s"',]+/g,
  // A claim code.
  /\b[0-9A-HJKMNP-TV-Z]{3}-[0-9A-HJKMNP-TV-Z]{3}\b/g,
  // Whoever an address logs in as.
  /(?<![a-z0-9+.-])([a-z0-9+.-]+:\/\/)[^\s/@"']+(?=@)/gi,
  /\b(authorization["']?\s*[:=]\s*["']?(?:bearer|basic)\s+)[^\s"',]+/gi,
  /(?<![\w-])([\w-]*(?:password|passwd|secret|token|shadow|api_?key|rabbitmq)["']?\s*[:=]\s*)(?:"[^"]*"?|'[^']*'?|[^\s"',;&]+)/gi,
];

/** A copy of a JSON value with nothing in it that is known or looks like a secret. */
export function redacted(value: unknown): unknown {
  if (typeof value === "string") return redactedText(value);
  if (Array.isArray(value)) return value.map(redacted);
  if (typeof value !== "object" || value === null) return value;
  // fromEntries defines members, so that one called "__proto__" is one like any other.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      redactedText(name),
      SECRET_NAME.test(name) && member !== null ? REDACTED : redacted(member),
    ]),
  );
}

export function redactedText(text: string): string {
  return SECRETS.reduce(
    (rest, pattern) => rest.replace(pattern, (_, kept) => (typeof kept === "string" ? kept : "") + REDACTED),
    text,
  );
}
