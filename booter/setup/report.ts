// Parses a machine's setup report: a line with kind, step and percent, separated by tabs, then the text.
import { FAILURE_REPORT_BYTES_MAX } from "../../src/contract/limits.ts";
import type { SetupReport } from "../api-client/client.ts";

const STEP = /^[a-z0-9_]{1,64}$/;
const MESSAGE_CHARS_MAX = 2_048;

/** Parses a report. Returns null if it is malformed. */
export function readReport(body: Uint8Array): SetupReport | null {
  const text = new TextDecoder().decode(body);
  const end = text.indexOf("\n");
  if (end < 0) return null;
  const [kind = "", step = "", percent = "", ...more] = text.slice(0, end).split("\t");
  if (more.length > 0 || !STEP.test(step)) return null;
  const message = printable(text.slice(end + 1));
  switch (kind) {
    case "progress": {
      if (!/^[0-9]{1,3}$/.test(percent) || Number(percent) > 100) return null;
      return {
        kind,
        step,
        percent: Number(percent),
        message: message === "" ? null : message.slice(0, MESSAGE_CHARS_MAX),
      };
    }
    case "complete":
      return { kind };
    case "failed":
      return { kind, reason: cutToBytes(message === "" ? `${step} failed` : message, FAILURE_REPORT_BYTES_MAX) };
    default:
      return null;
  }
}

/**
 * Returns why the setup script ended, according to the reply of the machine's agent that ran the script. Used if the
 * script did not report its end.
 */
export function endingReason(reply: { exit_status?: unknown; stderr?: unknown }): string {
  const { exit_status, stderr } = reply;
  const status = typeof exit_status === "number" || typeof exit_status === "string"
    ? String(exit_status).slice(0, 64)
    : "?";
  const output = printable(typeof stderr === "string" ? stderr : "").slice(-300);
  const ended = exit_status === 0 ? "the setup script ended without a report" : `the setup script ended with ${status}`;
  return cutToBytes(output === "" ? ended : `${ended}: ${output}`, FAILURE_REPORT_BYTES_MAX);
}

/** Cuts text to at most `bytes_max` bytes of UTF-8, never inside a character. */
function cutToBytes(text: string, bytes_max: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytes_max) return text;
  let end = bytes_max;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

function printable(text: string): string {
  return text.toWellFormed().replace(/\p{Cc}+/gu, " ").trim();
}
