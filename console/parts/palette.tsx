// The palette (Ctrl-K) goes to the pages of the navigation, runs the actions of this page, and finds objects. The
// palette is a combobox with a list, as the ARIA practices describe.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { pageActions, rowActions, run } from "../core/action.ts";
import { paletteAt, paletteBox, paletteMode, paletteText } from "../core/palette-state.ts";
import { go } from "../core/router.ts";
import { search } from "../core/search.ts";

/** One line of the palette. */
export type Command = {
  readonly title: string;
  readonly hint?: string | undefined;
  readonly refused?: string | null;
  readonly run: () => void;
};

/** The server searches when the user has typed nothing for this time, in milliseconds. */
const REST_MS = 120;
/** The number of objects that the palette asks for. */
const HITS_MAX = 8;
/** The smallest number of characters for which the palette searches objects. */
const SEARCH_CHARS_MIN = 2;

export function Palette({ pages }: { readonly pages: readonly Command[] }) {
  const found = useSignal<readonly Command[]>([]);
  const text = paletteText.value;
  const mode = paletteMode.value;
  useEffect(() => {
    const wanted = text.trim();
    found.value = [];
    if (wanted.length < SEARCH_CHARS_MIN || mode === "actions") return;
    const stop = new AbortController();
    const wait = setTimeout(() => {
      search(wanted, HITS_MAX, stop.signal).then((hits) => {
        if (stop.signal.aborted) return;
        found.value = hits.flatMap(({ title, hint, to }) => to === null ? [] : [{ title, hint, run: () => go(to) }]);
      }, () => {});
    }, REST_MS);
    return () => {
      clearTimeout(wait);
      stop.abort();
    };
  }, [text, mode]);

  const actions = [...rowActions.value, ...pageActions.value].map((action): Command => ({
    title: action.title,
    hint: action.refused ?? action.key,
    refused: action.refused ?? null,
    run: () => run(action),
  }));
  const fixed = (mode === "actions" ? actions : [...actions, ...pages]).filter(({ title }) => hasWords(title, text));
  const commands = [...fixed, ...found.value];
  const at = Math.min(paletteAt.value, Math.max(0, commands.length - 1));
  const choose = (command: Command | undefined) => {
    if (command?.refused) return;
    paletteBox.current?.close();
    command?.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0) paletteAt.value = (at + by + commands.length) % Math.max(1, commands.length);
    else if (event.key === "Enter") choose(commands[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      class="palette"
      ref={paletteBox}
      aria-label="Commands"
      onClick={(event) => event.target === paletteBox.current && paletteBox.current?.close()}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="commands"
        aria-autocomplete="list"
        aria-label={mode === "actions" ? "Action" : "Command or search"}
        aria-activedescendant={commands.length > 0 ? `command-${at}` : undefined}
        autofocus
        autocomplete="off"
        spellcheck={false}
        placeholder={mode === "actions" ? "Actions of this page" : "A page, an action, a hostname, an address"}
        value={text}
        onInput={(event) => {
          paletteText.value = event.currentTarget.value;
          paletteAt.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <ul role="listbox" id="commands" aria-label="Commands">
        {commands.map((command, index) => (
          <li
            key={`${command.title} ${command.hint ?? ""}`}
            id={`command-${index}`}
            role="option"
            aria-selected={index === at}
            aria-disabled={command.refused ? true : undefined}
            ref={(row) => {
              if (index === at) row?.scrollIntoView({ block: "nearest" });
            }}
            onClick={() => choose(command)}
          >
            <span>{command.title}</span>
            {command.hint !== undefined && <span class="dim">{command.hint}</span>}
          </li>
        ))}
      </ul>
      {commands.length === 0 && <p class="empty">Nothing matches “{text}”</p>}
    </dialog>
  );
}

function hasWords(title: string, text: string): boolean {
  const lower = title.toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => lower.includes(word));
}
