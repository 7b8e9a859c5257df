// Handles keyboard shortcuts. A single key is a key without Ctrl, Alt or Meta. Single keys act only where the user is
// not typing and no dialog is open, and the user can switch them off (WCAG 2.1.4). A shortcut can also have two single
// keys in a row ("g n").
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const SWITCH = "single-keys";
/** Whether single keys are switched on, alone and in a row. */
export const singleKeys = signal(localStorage.getItem(SWITCH) !== "off");

export function setSingleKeys(on: boolean): void {
  singleKeys.value = on;
  localStorage.setItem(SWITCH, on ? "on" : "off");
}

/**
 * The previous key and the present key. All callers of `useKeys` share these variables, so that no handler takes the
 * second key of another handler's pair for a single key.
 */
let first = "";
let present = "";

// This module is loaded first, so its listener runs before the listeners of the pages. A pair of keys has no time
// limit: on a busy page, a timer could end before the second key arrives.
addEventListener("keydown", (event) => {
  if (event.key === "Shift") return;
  first = present;
  present = isBlocked(event) || isModified(event) ? "" : event.key;
});

/** @param isFor - Returns whether the keys act on an event. Without `isFor`, the keys act on the whole page. */
export function useKeys(keys: Keys, isFor?: (event: KeyboardEvent) => boolean): void {
  const latest = useRef({ keys, isFor });
  latest.current = { keys, isFor };
  useEffect(() => {
    const act = (event: KeyboardEvent) => {
      const isSingle = !isModified(event);
      const name = isSingle ? event.key : `mod+${event.key.toLowerCase()}`;
      if (isSingle && (isBlocked(event) || !singleKeys.value)) return;
      const { keys, isFor } = latest.current;
      const run = keys[`${first} ${name}`] ?? (first === "g" ? undefined : keys[name]);
      if (run === undefined || event.defaultPrevented || isFor?.(event) === false) return;
      event.preventDefault();
      run(event);
    };
    addEventListener("keydown", act);
    return () => removeEventListener("keydown", act);
  }, []);
}

function isModified(event: KeyboardEvent): boolean {
  return event.metaKey || event.ctrlKey || event.altKey;
}

function isBlocked({ target, key }: KeyboardEvent): boolean {
  if (document.querySelector("dialog[open]") !== null) return true;
  if (!(target instanceof Element)) return false;
  if (target.closest("input, textarea, select, [contenteditable]") !== null) return true;
  // Enter and Space press the focused button or link.
  return (key === "Enter" || key === " ") && target.closest("button, a, summary") !== null;
}
