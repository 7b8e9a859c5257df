// Shows the tenants of all silos.
import type { Silo, Tenant } from "../../src/contract/tenancy.ts";
import type { Field } from "../core/action.ts";
import { getArray, send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { query as urlQuery } from "../core/router.ts";
import { counted } from "../core/text.ts";
import type { Query } from "../core/store.ts";
import { rootOnly } from "../core/session.ts";
import { Link } from "../parts/basics.tsx";
import { createdColumn } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage, SearchAll } from "../parts/list-page.tsx";
import { useQuery } from "../parts/use-query.ts";

export type TenantRow = Tenant & { readonly silo_name: string };

/** Returns the name of a tenant with its silo, which is unique. Every silo has a tenant called "default". */
export const tenantPath = ({ silo_name, name }: TenantRow): string => `${silo_name}/${name}`;

/** The largest number of silos whose tenants are read, with one request for each silo. */
export const SILOS_MAX = 50;

async function tenantsOf({ id, name }: Silo, signal: AbortSignal): Promise<TenantRow[]> {
  const tenants = await getArray<Tenant>(`/v1/silos/${id}/tenants`, signal);
  return tenants.map((tenant) => ({ ...tenant, silo_name: name }));
}

/** The tenants of the first silos, with the names of the silos. */
export const tenantsQuery: Query<TenantRow[]> = {
  key: "tenants",
  kinds: ["tenant", "silo"],
  read: async (signal) => {
    const silos = await getArray<Silo>("/v1/silos", signal);
    return (await Promise.all(silos.slice(0, SILOS_MAX).map((silo) => tenantsOf(silo, signal)))).flat();
  },
};

/** One tenant with the name of its silo; null if it does not exist. The API finds a tenant only in its silo. */
export function tenantQuery(id: string): Query<TenantRow | null> {
  return {
    key: `tenant ${id}`,
    kinds: ["tenant", "silo"],
    read: async (signal) => {
      const silos = await getArray<Silo>("/v1/silos", signal);
      for (let first = 0; first < silos.length; first += SILOS_MAX) {
        const lists = await Promise.all(silos.slice(first, first + SILOS_MAX).map((silo) => tenantsOf(silo, signal)));
        const found = lists.flat().find((tenant) => tenant.id === id);
        if (found !== undefined) return found;
      }
      return null;
    },
  };
}

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
  const q = urlQuery.value.get("q") ?? "";
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
          notice:
            "A silo is one customer with its own tenants, users and images. An external network can be for some silos only.",
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
    >
      {silos.length > SILOS_MAX && (
        <p class="hint">
          Only the tenants of the first {SILOS_MAX} of {counted(silos.length, "silo")} are shown and searched.{" "}
          <SearchAll text={q} />
        </p>
      )}
    </ListPage>
  );
}
