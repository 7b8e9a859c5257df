// The labels of an object in a row, with the button that sets them.
import { run } from "../core/action.ts";
import { labelAction, type Labeled, labelTexts } from "../core/labels.ts";

export function RowLabels(labeled: Labeled & { readonly name: string }) {
  const action = labelAction(labeled);
  return (
    <>
      {labelTexts(labeled.labels).map((text) => <span key={text} class="dim">{text}</span>)}
      <span class="actions">
        <button type="button" aria-label={action.title} onClick={() => run(action)}>{action.button}</button>
      </span>
    </>
  );
}
