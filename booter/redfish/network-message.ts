// Explains why a connection to a BMC failed. Node.js, Bun and Deno report the same failure with different codes and
// texts, so each pattern lists the words of all three runtimes.

const ACCEPT = "to accept it, use --accept-invalid-certs";

const WORDS: readonly { readonly pattern: RegExp; readonly words: string }[] = [
  { pattern: /CERT_HAS_EXPIRED|certificate has expired|: Expired/i, words: `its certificate has expired; ${ACCEPT}` },
  {
    pattern: /CERT_NOT_YET_VALID|not yet valid|NotValidYet/i,
    words: `its certificate is not valid yet: the clock of the BMC or of this machine may be wrong; ${ACCEPT}`,
  },
  {
    pattern: /ALTNAME|NotValidForName|does not match certificate/i,
    words: `its certificate is for another name; use that name in --host; ${ACCEPT}`,
  },
  {
    pattern: /WRONG_VERSION_NUMBER|InvalidContentType|packet length too long|PACKET_LENGTH_TOO_LONG/i,
    words: "the port does not use TLS; for HTTP without TLS, give --host as http://HOST:PORT",
  },
  {
    pattern:
      /UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|ProtocolVersion|HANDSHAKE_FAILURE|HandshakeFailure|NO_CIPHER|PeerIncompatible/i,
    words: "no TLS version and cipher that both sides support (TLS 1.2 or later is needed); update the BMC's firmware",
  },
  {
    pattern: /(DH|EE|CA)_KEY_TOO_SMALL|MD_TOO_WEAK/i,
    words: "the key or the signature of its certificate is too weak; install a new certificate on the BMC",
  },
  { pattern: /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UnknownIssuer/i, words: `its certificate is not trusted; ${ACCEPT}` },
  { pattern: /ECONNREFUSED|connection refused/i, words: "the connection was refused: no service uses this port" },
  { pattern: /EHOSTUNREACH|ENETUNREACH|no route to host|unreachable/i, words: "there is no route to this address" },
  { pattern: /ENOTFOUND|EAI_|name or service not known|failed to lookup/i, words: "the host name is unknown" },
  { pattern: /ETIMEDOUT/i, words: "no answer to the connection" },
  {
    pattern: /ECONNRESET|EPIPE|socket hang up|connection reset|socket is closed|EOF/i,
    words: "the BMC closed the connection without an answer",
  },
];

export function networkMessage(error: Error & { readonly code?: string | undefined }): string {
  const text = `${error.code ?? ""} ${error.message}`;
  return WORDS.find(({ pattern }) => pattern.test(text))?.words ?? error.message;
}
