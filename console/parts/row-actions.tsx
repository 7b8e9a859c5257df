// Shows the buttons of the actions of one row.
import { type Action, run } from "../core/action.ts";

export function RowActions({ actions }: { readonly actions: readonly Action[] }) {
  return (
    <span class="actions">
      {actions.map((action) => (
        <button
          key={action.title}
          type="button"
          aria-label={action.title}
          aria-disabled={action.refused ? true : undefined}
          title={action.refused ?? undefined}
          onClick={() => run(action)}
        >
          {action.button ?? action.title}
        </button>
      ))}
    </span>
  );
}
