// The images that a project can use.
import type { Image } from "../../src/contract/image.ts";
import { tenantctl } from "../core/command.ts";
import { bytes } from "../core/text.ts";
import { When } from "../parts/basics.tsx";
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
  {
    name: "created",
    title: "Created",
    width: "110px",
    sorts: true,
    text: ({ created_at }) => created_at,
    cell: ({ created_at }) => <When at={created_at} />,
  },
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
      empty={<p>No image is offered to this project. Upload one with the command below, or ask an operator.</p>}
      cli={tenantctl("image list")}
    />
  );
}
