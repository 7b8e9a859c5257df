// Renders the shell of the console: the navigation, the page that the address names, the palette and the dialogs.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { pageActions, run } from "./core/action.ts";
import { followChanges, link } from "./core/changes.ts";
import { setSingleKeys, singleKeys, useKeys } from "./core/keys.ts";
import { fill } from "./core/path.ts";
import { openPalette } from "./core/palette-state.ts";
import { go, path } from "./core/router.ts";
import { isOperator, me, session, signOut } from "./core/session.ts";
import { store } from "./core/store.ts";
import type { PageRow } from "./core/page-row.ts";
import { PAGES, viewAt } from "./pages.tsx";
import { ActionDialog } from "./parts/action-dialog.tsx";
import { Link, Toasts } from "./parts/basics.tsx";
import { KeyHelp, openKeyHelp } from "./parts/key-help.tsx";
import { Palette } from "./parts/palette.tsx";
import { preloadPages } from "./preload.ts";
import { place } from "./tenant/place.ts";
import { OtherUser, SignInAgain, SignInPage, Unreachable } from "./sign-in.tsx";

const THEME = "theme";
const theme = signal(localStorage.getItem(THEME) ?? "");

/** Switches between the light and the dark theme. */
function switchTheme(): void {
  const isDark = theme.value === "dark" || (theme.value === "" && matchMedia("(prefers-color-scheme: dark)").matches);
  theme.value = isDark ? "light" : "dark";
  localStorage.setItem(THEME, theme.value);
}

export function App() {
  document.documentElement.dataset["theme"] = theme.value;
  switch (session.value) {
    case "checking":
      return <main class="sign-in" aria-busy="true" />;
    case "unreachable":
      return <Unreachable />;
    case "out":
      return (
        <>
          <SignInPage />
          <Toasts />
        </>
      );
    case "other":
      return (
        <>
          <OtherUser />
          <Toasts />
        </>
      );
    case "in":
    case "ended":
      return <Shell />;
  }
}

function Shell() {
  useEffect(() => session.value === "in" ? followChanges(store) : undefined, [session.value]);
  useEffect(() => preloadPages(isOperator()), []);
  const shown = PAGES.filter(isShown);
  const pageKeys = shown.flatMap((row) =>
    row.key === undefined ? [] : [[`g ${row.key}`, () => go(addressOf(row))] as const]
  );
  useKeys({
    ...Object.fromEntries(pageKeys),
    "mod+k": () => openPalette(),
    ".": () => openPalette("actions"),
    "?": () => openKeyHelp(),
  });
  return (
    <div class="shell">
      <a class="skip" href="#main">Skip to the content</a>
      <Navigation rows={shown} />
      {link.value === "lost" && (
        <p class="lost" role="status">
          The server does not answer. The shown data may be old; the console tries again.
        </p>
      )}
      <main id="main" class={link.value === "lost" ? "stale" : undefined}>
        <div class="page" key={path.value}>{viewAt(path.value)}</div>
      </main>
      <Palette
        pages={[
          ...shown.map((row) => ({
            title: row.title,
            hint: row.key === undefined ? undefined : `g ${row.key}`,
            run: () => go(addressOf(row)),
          })),
          { title: "Switch between light and dark", run: switchTheme },
          {
            title: singleKeys.value ? "Switch single keys off" : "Switch single keys on",
            run: () => setSingleKeys(!singleKeys.value),
          },
          { title: "Keyboard shortcuts", hint: "?", run: openKeyHelp },
          { title: "Sign out", run: () => void signOut() },
        ]}
      />
      <ActionKeys />
      <KeyHelp pages={shown} />
      <ActionDialog />
      <SignInAgain />
      <Toasts />
    </div>
  );
}

/**
 * Handles the keys of the page's actions. It is a separate component, so that a change of the actions does not render
 * the whole shell again.
 */
function ActionKeys() {
  const keys = pageActions.value.flatMap((action) =>
    action.key === undefined ? [] : [[action.key, () => run(action)] as const]
  );
  useKeys(Object.fromEntries(keys));
  return null;
}

function Navigation({ rows }: { readonly rows: readonly PageRow[] }) {
  const rest = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const here = rest.current?.querySelector("[aria-current]");
    here?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [path.value]);
  const groups = Map.groupBy(rows.filter(({ group }) => group !== undefined), ({ group }) => group ?? "");
  return (
    <nav class="side" aria-label="Main">
      <header>
        <strong>Berth</strong>
        <span class={`link ${link.value}`} role="status" title={LINK_TITLES[link.value]}>{link.value}</span>
      </header>
      <button type="button" class="find" onClick={() => openPalette()}>
        Find or do <kbd>Ctrl K</kbd>
      </button>
      <div class="rest" ref={rest}>
        <div class="groups">
          {[...groups].map(([group, pages]) => (
            <div key={group} class="group">
              <h2>{group}</h2>
              {pages.map((row) => <Link key={row.path} to={addressOf(row)}>{row.title}</Link>)}
            </div>
          ))}
        </div>
        <footer>
          <Link to="/me">{me.value?.username ?? ""}</Link>
          <button type="button" class="quiet" onClick={switchTheme} aria-label="Switch between light and dark">
            ◐
          </button>
          <button type="button" class="quiet" onClick={() => void signOut()}>Sign out</button>
        </footer>
      </div>
    </nav>
  );
}

const LINK_TITLES = {
  live: "Changes appear at once",
  polling: "The page is read again every 5 seconds",
  lost: "The server does not answer",
  paused: "Changes are not followed",
} as const;

/**
 * Returns whether the navigation shows a page: the caller may open the page, and the values in the page's path are
 * known.
 */
function isShown(row: PageRow): boolean {
  if (row.audience === "operator" && !isOperator()) return false;
  return !row.path.includes(":") || (row.group !== undefined && row.audience === "tenant" && place.value !== null);
}

function addressOf(row: PageRow): string {
  return fill(row.path, { tenant: place.value?.tenant ?? "", project: place.value?.project ?? "" });
}
