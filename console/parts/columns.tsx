// Defines columns that many lists share.
import { type Labels, labelTexts } from "../core/labels.ts";
import { When } from "./basics.tsx";
import type { Column } from "./list.tsx";

type Created = { readonly created_at: string };

/** The time at which an object was created. */
export function createdColumn(isWideOnly = false): Column<Created> {
  return {
    name: "created",
    title: "Created",
    width: "110px",
    isWideOnly,
    sorts: true,
    text: ({ created_at }) => created_at,
    cell: ({ created_at }) => <When at={created_at} />,
  };
}

/** The UUID of an object. At a width of 1,280 pixels the column is wide enough for all 36 characters. */
export const UUID_COLUMN: Column<{ readonly id: string }> = {
  name: "id",
  title: "UUID",
  width: "min(25vw, 320px)",
  isWideOnly: true,
  text: ({ id }) => id,
  cell: ({ id }) => <code>{id}</code>,
};

/** The labels of an object. The search text `labels:env=test` finds them. */
export const LABELS_COLUMN: Column<{ readonly labels?: Labels | undefined }> = {
  name: "labels",
  title: "Labels",
  isWideOnly: true,
  text: ({ labels }) => labelTexts(labels).join(", "),
  cell: ({ labels }) => <span class="dim">{labelTexts(labels).join(", ")}</span>,
};
