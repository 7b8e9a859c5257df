// Shows the buttons of a page's actions. The first actions are visible as buttons, and the menu has all actions.
import { type Action, type Opening, pageActions, rowActions, run } from "../core/action.ts";
import { openPalette } from "../core/palette-state.ts";

/** The number of actions that are visible as buttons. */
const VISIBLE = 3;

export function Actions({ visible = VISIBLE }: { readonly visible?: number }) {
  const all = pageActions.value;
  // The menu also has the actions of the row on which the cursor of the list is.
  const hasMenu = all.length > visible || rowActions.value.length > 0;
  if (all.length === 0 && !hasMenu) return null;
  return (
    <div class="actions">
      {all.slice(0, visible).map((action) => <ActionButton key={action.title} action={action} />)}
      {hasMenu && (
        <button type="button" onClick={() => openPalette("actions")} aria-keyshortcuts=".">
          More <kbd>.</kbd>
        </button>
      )}
    </div>
  );
}

export function ActionButton({ action }: { readonly action: Action | Opening }) {
  return (
    <button
      type="button"
      aria-disabled={action.refused ? true : undefined}
      title={action.refused ?? undefined}
      aria-description={action.refused ?? undefined}
      aria-keyshortcuts={action.key}
      onClick={() => run(action)}
    >
      {action.title} {action.key !== undefined && <kbd>{action.key}</kbd>}
    </button>
  );
}
