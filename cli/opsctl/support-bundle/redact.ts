// Removes secrets from a support bundle. The sections about settings, nodes, operations and jobs copy only listed
// members. So if a later server adds a member with a secret, the bundle does not contain the secret. As a second
// protection, this file replaces the values of members with suspicious names at every depth, and text that looks like a
// secret.

const REDACTED = "[redacted]";

const SECRET_NAME =
  /password|passwd|passphrase|secret|shadow|rabbitmq|private_?key|^api_?key$|authorization|cookie|user_?data|claim_?code|(?:^|_)token|credential/i;

/**
 * Each pattern matches a secret. The text of its first group, if it has one, is kept. A pattern that begins with a run
 * of characters matches only at the start of the run, which avoids quadratic time.
 */
const SECRETS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\bopsk_[\w-]{8,}/g,
  // A signed token.
  /(?<![\w-])(?=[\w-]*eyJ)[\w-]{11,}\.[\w-]+\.[\w-]*/g,
  // A text sealed by the server.
  /\bs1\.[\w-]{40,}/g,
  // A password hash of crypt(3) or Argon2.
  /\$(?:1|2[abxy]?|5|6|7|y|gy|argon2\w{0,2}|scrypt)\$[^\s"',]+/g,
  // A claim code.
  /\b[0-9A-HJKMNP-TV-Z]{3}-[0-9A-HJKMNP-TV-Z]{3}\b/g,
  // The user and password in a URL.
  /(?<![a-z0-9+.-])([a-z0-9+.-]+:\/\/)[^\s/@"']+(?=@)/gi,
  /\b(authorization["']?\s*[:=]\s*["']?(?:bearer|basic)\s+)[^\s"',]+/gi,
  /(?<![\w-])([\w-]*(?:password|passwd|secret|token|shadow|api_?key|rabbitmq)["']?\s*[:=]\s*)(?:"[^"]*"?|'[^']*'?|[^\s"',;&]+)/gi,
];

/** Returns a copy of a JSON value in which secrets, and text that looks like a secret, are replaced. */
export function redacted(value: unknown): unknown {
  if (typeof value === "string") return redactedText(value);
  if (Array.isArray(value)) return value.map(redacted);
  if (typeof value !== "object" || value === null) return value;
  // fromEntries defines members, so a member named "__proto__" is safe.
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
