// Shows the images that a project can use.
import type { Image } from "../../src/contract/image.ts";
import type { Action } from "../core/action.ts";
import { tenantctl } from "../core/command.ts";
import { labelAction } from "../core/labels.ts";
import { bytes } from "../core/text.ts";
import { createdColumn, LABELS_COLUMN } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";
import type { Place } from "./place.ts";
import { useKept } from "./projects.tsx";
import { imagesQuery } from "./queries.ts";

const COLUMNS: readonly Column<Image>[] = [
  { name: "name", title: "Image", sorts: true, text: ({ name }) => name, cell: ({ name }) => name },
  {
    name: "os",
    title: "System",
    sorts: true,
    text: ({ os, version }) => `${os} ${version}`,
    cell: ({ os, version }) => `${os} ${version}`,
  },
  {
    name: "disk",
    title: "Disk",
    width: "100px",
    isNumeric: true,
    sorts: true,
    text: ({ content_bytes }) => content_bytes,
    cell: ({ content_bytes }) => bytes(content_bytes),
  },
  {
    name: "scope",
    title: "Offered by",
    width: "110px",
    isWideOnly: true,
    text: ({ scope }) => scope.kind,
    cell: ({ scope }) => scope.kind === "public" ? "everyone" : scope.kind,
  },
  LABELS_COLUMN,
  createdColumn(),
];

export function Images({ place }: { readonly place: Place }) {
  useKept(place);
  return (
    <ListPage<Image>
      title="Images"
      noun="image"
      query={imagesQuery(place)}
      columns={COLUMNS}
      idOf={({ id }) => id}
      actionsOf={(image) => [labelImage(image)]}
      empty={
        <p>
          No image is offered to this project. Upload one with <code>tenantctl image upload</code>, or ask an operator.
        </p>
      }
      cli={tenantctl("image list")}
    />
  );
}

function labelImage({ id, name, labels, scope }: Image): Action {
  const refused = ["tenant", "project"].includes(scope.kind) ? null : "The image belongs to an operator";
  return labelAction({ path: `/v1/images/${id}`, argv: ["tenantctl", "image", "update", name], labels, name, refused });
}
