// Holds the state of the command palette. The handler of the shortcut opens the palette at once, so that the next
// letters reach the palette's input.
import { signal } from "@preact/signals";

/** "all" has every page and action; "actions" only the actions of the page. */
export type PaletteMode = "all" | "actions";

export const paletteMode = signal<PaletteMode>("all");
export const paletteText = signal("");
export const paletteAt = signal(0);

/** The dialog, once it is rendered. */
export const paletteBox = { current: null as HTMLDialogElement | null };

export function openPalette(mode: PaletteMode = "all"): void {
  paletteMode.value = mode;
  paletteText.value = "";
  paletteAt.value = 0;
  if (paletteBox.current?.open === false) paletteBox.current.showModal();
}
