// Shows short messages to the user, each for a few seconds.
import { signal } from "@preact/signals";

export const said = signal<readonly { readonly id: number; readonly text: string }[]>([]);
const SAID_MS = 6_000;
let saidCount = 0;

/** Shows a message to the user, for a few seconds. */
export function say(text: string): void {
  const id = ++saidCount;
  said.value = [...said.value, { id, text }];
  setTimeout(() => (said.value = said.value.filter((each) => each.id !== id)), SAID_MS);
}
