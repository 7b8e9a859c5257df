// Shows the list of keyboard shortcuts.
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { singleKeys } from "../core/keys.ts";
import type { PageRow } from "../core/page-row.ts";

const isOpen = signal(false);

export function openKeyHelp(): void {
  isOpen.value = true;
}

const KEYS: readonly (readonly [string, string])[] = [
  ["Ctrl K", "Find anything, do anything"],
  [".", "Actions of the row and of the page"],
  ["/", "Filter the list"],
  ["j k", "Next and previous row"],
  ["Enter", "Open the row, or do its first action"],
  ["x", "Select the row"],
  ["y", "Copy the row's id"],
  ["c", "Create"],
  ["e", "Edit"],
  ["Ctrl Enter", "Send the form"],
  ["?", "This list"],
];

export function KeyHelp({ pages }: { readonly pages: readonly PageRow[] }) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (isOpen.value) box.current?.showModal();
  }, [isOpen.value]);
  if (!isOpen.value) return null;
  const places = pages.flatMap(({ key, title }) => key === undefined ? [] : [[`g ${key}`, title] as const]);
  return (
    <dialog class="dialog" ref={box} aria-labelledby="keys" onClose={() => (isOpen.value = false)}>
      {/* The heading takes the focus from the button at the end, so that a small screen shows the start of the list. */}
      <h2 id="keys" tabIndex={-1} autofocus>Keyboard shortcuts</h2>
      {!singleKeys.value && <p class="notice">Single keys are off. The palette switches them on.</p>}
      <dl class="keys">
        {[...KEYS, ...places].map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <footer>
        <button type="button" onClick={() => box.current?.close()}>Close</button>
      </footer>
    </dialog>
  );
}
