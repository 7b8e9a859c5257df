// Parses the Idempotency-Key header (docs/wire.md, "Repeating a request").
import { type Fault, fault } from "../contract/fault.ts";
import { IDEMPOTENCY_KEY_CHARS_MAX } from "../contract/limits.ts";

export type IdempotencyKey = { readonly ok: true; readonly value: string } | {
  readonly ok: false;
  readonly fault: Fault;
};

/** Parses the header's value. Call it only if the header was sent. */
export function parseIdempotencyKey(value: string): IdempotencyKey {
  const wellFormed = /^[\x20-\x7e]+$/.test(value) && value.trim() !== "" && value.length <= IDEMPOTENCY_KEY_CHARS_MAX;
  if (wellFormed) return { ok: true, value };
  const rule = `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} printable ASCII characters`;
  return { ok: false, fault: fault("bad_request", rule) };
}
