// Shows the labels of an object as short texts in its row.
import { type Labels, labelTexts } from "../core/labels.ts";

export function LabelsText({ labels }: { readonly labels: Labels | undefined }) {
  return <>{labelTexts(labels).map((text) => <span key={text} class="dim">{text}</span>)}</>;
}
