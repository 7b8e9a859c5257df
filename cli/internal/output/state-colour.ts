// Colours the words of states. The palette of the terminal decides the shade, so that words are readable on dark and on
// light backgrounds.

const GREEN = 32;
const YELLOW = 33;
const RED = 31;

const COLOURS: Readonly<Record<string, number>> = {
  running: GREEN,
  approved: GREEN,
  succeeded: GREEN,
  done: GREEN,
  ready: GREEN,
  yes: GREEN,
  healthy: GREEN,
  pending: YELLOW,
  provisioning: YELLOW,
  starting: YELLOW,
  stopping: YELLOW,
  deleting: YELLOW,
  claimed: YELLOW,
  unwinding: YELLOW,
  awaiting_setup: YELLOW,
  setting_up: YELLOW,
  failed: RED,
  unwound: RED,
  stuck: RED,
  disabled: RED,
  no: RED,
};

/** Colours a state by its first word, as in `no (cordoned)`. */
export function colouredState(text: string): string {
  const code = COLOURS[/^[a-z_]+/.exec(text)?.[0] ?? ""];
  return code === undefined ? text : `\u001b[${code}m${text}\u001b[39m`;
}
