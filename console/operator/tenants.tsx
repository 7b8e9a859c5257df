// Shows the tenants of all silos.
import type { Silo, Tenant } from "../../src/contract/tenancy.ts";
import type { Field } from "../core/action.ts";
import { getArray, send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import type { Query } from "../core/store.ts";
import { rootOnly } from "../core/session.ts";
import { Link } from "../parts/basics.tsx";
import { createdColumn } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { useQuery } from "../parts/use-query.ts";

export type TenantRow = Tenant & { readonly silo_name: string };

/** Returns the name of a tenant with its silo, which is unique. Every silo has a tenant called "default". */
export const tenantPath = ({ silo_name, name }: TenantRow): string => `${silo_name}/${name}`;

/** All tenants with the names of their silos. */
export const tenantsQuery: Query<TenantRow[]> = {
  key: "tenants",
  kinds: ["tenant", "silo"],
  read: async (signal) => {
    const silos = await getArray<Silo>("/v1/silos", signal);
    const lists = await Promise.all(
      silos.map(async ({ id, name }) =>
        (await getArray<Tenant>(`/v1/silos/${id}/tenants`, signal)).map((tenant) => ({ ...tenant, silo_name: name }))
      ),
    );
    return lists.flat();
  },
};

export const silosQuery: Query<Silo[]> = {
  key: "silos",
  kinds: ["silo"],
  read: (signal) => getArray<Silo>("/v1/silos", signal),
};

export const NAMED_FIELDS: readonly Field[] = [
  { name: "name", label: "Name", hint: "1 to 63 bytes, without / and \\" },
  { name: "description", label: "Description", isOptional: true },
];

const COLUMNS: readonly Column<TenantRow>[] = [
  {
    name: "name",
    title: "Tenant",
    sorts: true,
    text: ({ name }) => name,
    cell: ({ id, name }) => <Link to={`/tenants/${id}`} tabIndex={-1}>{name}</Link>,
  },
  { name: "silo", title: "Silo", sorts: true, text: ({ silo_name }) => silo_name, cell: ({ silo_name }) => silo_name },
  {
    name: "description",
    title: "Description",
    isWideOnly: true,
    text: ({ description }) => description,
    cell: ({ description }) => description,
  },
  { name: "id", title: "UUID", isWideOnly: true, text: ({ id }) => id, cell: ({ id }) => <code>{id}</code> },
  createdColumn(),
];

export function Tenants() {
  const { data: silos = [] } = useQuery(silosQuery);
  const refused = rootOnly();
  return (
    <ListPage<TenantRow>
      title="Tenants"
      noun="tenant"
      query={tenantsQuery}
      columns={COLUMNS}
      idOf={({ id }) => id}
      open={({ id }) => `/tenants/${id}`}
      actions={[
        {
          title: "Create a tenant",
          key: "c",
          button: "Create",
          fields: [
            {
              name: "silo",
              label: "Silo",
              type: "choice",
              choices: silos.map(({ id, name }) => ({ value: id, label: name })),
              initial: silos[0]?.id ?? "",
            },
            ...NAMED_FIELDS,
          ],
          refused: refused ?? (silos.length === 0 ? "Create a silo first" : null),
          cli: ({ silo, name = "", description }) =>
            opsctl("tenant create", [name || "NAME"], {
              "--silo": silos.find(({ id }) => id === silo)?.name,
              "--description": description,
            }),
          send: async ({ silo, name, description }, key) => {
            const made = await send<Tenant>("POST", `/v1/silos/${silo}/tenants`, { body: { name, description }, key });
            return { said: `Tenant ${name} is created`, to: `/tenants/${made.id}` };
          },
        },
        {
          title: "Create a silo",
          button: "Create",
          notice: "A silo separates tenants from other silos: their images, users and external networks.",
          fields: NAMED_FIELDS,
          refused,
          cli: ({ name = "", description }) =>
            opsctl("silo create", [name || "NAME"], { "--description": description }),
          send: async ({ name, description }, key) => {
            await send("POST", "/v1/silos", { body: { name, description }, key });
            return { said: `Silo ${name} is created` };
          },
        },
        {
          title: "Delete a silo",
          isDangerous: true,
          button: "Delete",
          notice: 'The silo must hold nothing but its tenant "default", which is deleted, too.',
          fields: [{
            name: "silo",
            label: "Silo",
            type: "choice",
            choices: silos.map(({ id, name }) => ({ value: id, label: name })),
          }],
          refused: refused ?? (silos.length === 0 ? "No silo exists" : null),
          cli: ({ silo }) => opsctl("silo delete", [silos.find(({ id }) => id === silo)?.name ?? "NAME"]),
          send: async ({ silo }, key) => {
            await send("DELETE", `/v1/silos/${silo}`, { key });
            return { said: "The silo is deleted" };
          },
        },
      ]}
      empty={<p>No tenant exists. Create a silo, then a tenant in it.</p>}
      cli={opsctl("tenant list")}
    />
  );
}
