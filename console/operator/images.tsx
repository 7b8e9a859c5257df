// Shows the images that every tenant may use.
import type { Image } from "../../src/contract/image.ts";
import { type Action, run } from "../core/action.ts";
import { getAll, send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { rootOnly } from "../core/session.ts";
import { bytes } from "../core/text.ts";
import { AsCommand } from "../parts/basics.tsx";
import { createdColumn } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";

export const IMAGE_COLUMNS: readonly Column<Image>[] = [
  {
    name: "name",
    title: "Image",
    sorts: true,
    text: ({ name }) => name,
    cell: (image) => <button type="button" class="quiet" onClick={() => run(remove(image))}>{image.name}</button>,
  },
  {
    name: "os",
    title: "System",
    sorts: true,
    text: ({ os, version }) => `${os} ${version}`,
    cell: ({ os, version }) => `${os} ${version}`,
  },
  {
    name: "size",
    title: "Size",
    width: "96px",
    isNumeric: true,
    sorts: true,
    text: ({ size_bytes }) => size_bytes,
    cell: ({ size_bytes }) => bytes(size_bytes),
  },
  {
    name: "disk",
    title: "Disk",
    width: "96px",
    isNumeric: true,
    isWideOnly: true,
    text: ({ content_bytes }) => content_bytes,
    cell: ({ content_bytes }) => bytes(content_bytes),
  },
  {
    name: "brand",
    title: "Brand",
    width: "100px",
    isWideOnly: true,
    text: ({ compatibility }) => compatibility?.brand ?? "",
    cell: ({ compatibility }) => compatibility?.brand ?? "any",
  },
  {
    name: "scope",
    title: "For",
    width: "90px",
    isWideOnly: true,
    text: ({ scope }) => scope.kind,
    cell: ({ scope }) => scope.kind,
  },
  {
    name: "sha256",
    title: "SHA-256",
    isWideOnly: true,
    text: ({ sha256 }) => sha256,
    cell: ({ sha256 }) => <code>{sha256}</code>,
  },
  createdColumn(),
];

function remove({ id, name }: Image): Action {
  return {
    title: `Delete the image ${name}`,
    button: "Delete",
    isDangerous: true,
    notice: "Existing instances keep their disks. New instances cannot use the image.",
    fields: [{ name: "confirm", label: `Type ${name} to delete it`, mustBe: name }],
    refused: rootOnly(),
    cli: () => opsctl("image delete", [name]),
    send: async (_, key) => {
      await send("DELETE", `/v1/images/${id}`, { key });
      return { said: `Image ${name} is deleted` };
    },
  };
}

export function Images() {
  return (
    <ListPage<Image>
      title="Images"
      noun="image"
      query={{
        key: "public images",
        kinds: ["image"],
        read: (signal) => getAll<Image>("/v1/images", { scope: "public" }, signal),
      }}
      columns={IMAGE_COLUMNS}
      idOf={({ id }) => id}
      actionsOf={(image) => [remove(image)]}
      actions={[{
        title: "Offer an image to all tenants",
        key: "c",
        button: "Offer",
        notice:
          "The nodes fetch the file from the URL and check its digest. To check a vendor's signature too, use opsctl image import.",
        fields: [
          { name: "name", label: "Name" },
          { name: "os", label: "System", hint: "Such as ubuntu" },
          { name: "version", label: "Version" },
          { name: "source_url", label: "URL of the file" },
          { name: "sha256", label: "SHA-256 of the file" },
          { name: "size_bytes", label: "Size of the file", type: "number", hint: "Bytes" },
        ],
        refused: rootOnly(),
        cli: ({ name, os, version }) =>
          opsctl("image import", [`${os || "DISTRO"}/${version || "RELEASE"}`], { "--name": name }),
        send: async ({ size_bytes, ...values }, key) => {
          await send("POST", "/v1/images", { body: { ...values, size_bytes: Number(size_bytes) }, key });
        },
      }]}
      empty={
        <>
          <p>Tenants need an image to create instances.</p>
          <AsCommand line={opsctl("image import", ["ubuntu/lts"], { "--name": "ubuntu" })} />
        </>
      }
      cli={opsctl("image list")}
    />
  );
}
