// Shows the terminal on the page. Output is only shown: it cannot create links, use the clipboard or set the title of
// the window.
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { withSheets } from "./styles.ts";

export type Screen = {
  /** Shows bytes; `shown` runs when they are on the screen. */
  write(bytes: Uint8Array, shown: () => void): void;
  clear(): void;
  focus(): void;
  /** Returns the selected text or, without a selection, all lines. */
  text(): string;
  dispose(): void;
};

/** The number of lines that can be scrolled back to. The log that the node keeps can have more lines. */
const SCROLLBACK_LINES = 5_000;
const FONT_PX = 13;
/** The operating system command that makes text a link. */
const OSC_LINK = 8;

/**
 * Opens a terminal in an element.
 * @param typed gets what the user types
 * @param leave runs on Ctrl-F6, to move the focus out of the terminal. The terminal takes every other key
 */
export function openScreen(box: HTMLElement, typed: (text: string) => void, leave: () => void): Screen {
  const style = getComputedStyle(document.documentElement);
  const terminal = new Terminal({
    scrollback: SCROLLBACK_LINES,
    fontFamily: style.getPropertyValue("--mono"),
    fontSize: FONT_PX,
    screenReaderMode: true,
    minimumContrastRatio: 4.5,
    theme: { background: "#101418", foreground: "#e4e8ec" },
  });
  // Ignores OSC 8, because xterm would make a link of its text.
  terminal.parser.registerOscHandler(OSC_LINK, () => true);
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  withSheets(() => terminal.open(box));
  fit.fit();
  const watch = new ResizeObserver(() => fit.fit());
  watch.observe(box);
  terminal.onData(typed);
  terminal.attachCustomKeyEventHandler((event) => {
    if (!event.ctrlKey || event.key !== "F6") return true;
    if (event.type === "keydown") leave();
    return false;
  });
  return {
    write: (bytes, shown) => terminal.write(bytes, shown),
    clear: () => terminal.reset(),
    focus: () => terminal.focus(),
    text: () => terminal.getSelection() || linesOf(terminal),
    dispose: () => {
      watch.disconnect();
      terminal.dispose();
    },
  };
}

function linesOf({ buffer }: Terminal): string {
  const lines = Array.from({ length: buffer.active.length }, (_, n) => buffer.active.getLine(n));
  return lines.map((line) => line?.translateToString(true) ?? "").join("\n").trimEnd();
}
