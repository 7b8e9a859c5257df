// Shows the labels of an object in a row, with the button that sets them.
import { labelAction, type Labeled } from "../core/labels.ts";
import { LabelsText } from "./labels-text.tsx";
import { RowActions } from "./row-actions.tsx";

export function RowLabels(labeled: Labeled & { readonly name: string }) {
  return (
    <>
      <LabelsText labels={labeled.labels} />
      <RowActions actions={[labelAction(labeled)]} />
    </>
  );
}
