// Shows the tenants of the first silos. A search also finds the tenants of other silos.
import type { Silo, Tenant } from "../../src/contract/tenancy.ts";
import type { Field } from "../core/action.ts";
import type { SearchHit } from "../../src/contract/search.ts";
import { SEARCH_HITS_MAX } from "../../src/contract/limits.ts";
import { get, getArray, Refusal, send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { serverWord } from "../core/filter.ts";
import { query as urlQuery } from "../core/router.ts";
import { counted } from "../core/text.ts";
import type { Query } from "../core/store.ts";
import { rootOnly } from "../core/session.ts";
import { Link } from "../parts/basics.tsx";
import { createdColumn, UUID_COLUMN } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { useQuery } from "../parts/use-query.ts";

export type TenantRow = Tenant & { readonly silo_name: string };

/**
 * Returns the name of a tenant with the name of its silo. Only both names together are unique, because each new silo
 * gets a tenant called "default".
 */
export const tenantPath = ({ silo_name, name }: TenantRow): string => `${silo_name}/${name}`;

/** The largest number of silos whose tenants are read, with one request for each silo. */
export const SILOS_MAX = 50;

async function tenantsOf({ id, name }: Silo, signal: AbortSignal): Promise<TenantRow[]> {
  const tenants = await getArray<Tenant>(`/v1/silos/${id}/tenants`, signal);
  return tenants.map((tenant) => ({ ...tenant, silo_name: name }));
}

/** The search begins this long after the last key press, in milliseconds. */
const REST_MS = 200;

/**
 * The tenants of the first silos, with the names of the silos. If the site has more silos, `word` selects them: by the
 * name, by the start of the id, or by a tenant that the server finds.
 */
export function tenantsQuery(word = ""): Query<TenantRow[]> {
  return {
    key: `tenants ${word}`,
    kinds: ["tenant", "silo"],
    rest_ms: word === "" ? 0 : REST_MS,
    read: async (signal) => {
      const silos = await getArray<Silo>("/v1/silos", signal);
      const wanted = word === "" || silos.length <= SILOS_MAX ? silos : await silosWith(word, silos, signal);
      return (await Promise.all(wanted.slice(0, SILOS_MAX).map((silo) => tenantsOf(silo, signal)))).flat();
    },
  };
}

async function silosWith(word: string, silos: readonly Silo[], signal: AbortSignal): Promise<readonly Silo[]> {
  const names = new Set((await foundTenants(word, SEARCH_HITS_MAX, signal)).map(({ hint }) => hint));
  const text = word.toLowerCase();
  return silos.filter(({ id, name }) => name.toLowerCase().includes(text) || id.startsWith(text) || names.has(name));
}

/**
 * The tenants that the server finds. In each hit, `hint` is the name of the tenant's silo. During an upgrade, a server
 * of an earlier release may answer. Such a server does not know the parameter `kind`, and returns hits of all kinds.
 */
async function foundTenants(q: string, limit: number, signal?: AbortSignal): Promise<readonly SearchHit[]> {
  const { items } = await get<{ items: SearchHit[] }>("/v1/search", { q, kind: "tenant", limit }, signal);
  return items.filter(({ kind }) => kind === "tenant");
}

/**
 * The silo ids of the tenants that were shown, by tenant id. An entry stays valid, because a tenant never changes its
 * silo.
 */
const siloIds = new Map<string, string>();

/** Finds the id of a tenant's silo. A request for a tenant must name the silo, too. */
async function siloIdOf(tenant: string, signal: AbortSignal): Promise<string | undefined> {
  const known = siloIds.get(tenant);
  if (known !== undefined) return known;
  const hit = (await foundTenants(tenant, 1, signal)).find(({ id }) => id === tenant);
  if (hit === undefined) return undefined;
  const silo = (await getArray<Silo>("/v1/silos", signal)).find(({ name }) => name === hit.hint);
  if (silo !== undefined) siloIds.set(tenant, silo.id);
  return silo?.id;
}

/** One tenant with the name of its silo; null if the server finds no such tenant. */
export function tenantQuery(id: string): Query<TenantRow | null> {
  return {
    key: `tenant ${id}`,
    kinds: ["tenant", "silo"],
    read: async (signal) => {
      const silo_id = await siloIdOf(id, signal);
      if (silo_id === undefined) return null;
      const [silo, tenant] = await Promise.all([
        get<Silo>(`/v1/silos/${silo_id}`, undefined, signal),
        get<Tenant>(`/v1/silos/${silo_id}/tenants/${id}`, undefined, signal),
      ]);
      return { ...tenant, silo_name: silo.name };
    },
  };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A field for a tenant of any silo, as SILO/TENANT or UUID. It suggests `tenants`. `tenantIdOf` returns the id of the
 * tenant that the user entered.
 */
export function tenantField(tenants: readonly TenantRow[], more: Partial<Field>): Field {
  return {
    name: "tenant",
    label: "Tenant",
    isOptional: true,
    suggestions: tenants.map((each) => ({ value: tenantPath(each), label: "" })),
    ...more,
  };
}

/**
 * Returns the id of the tenant in a tenant field. If no tenant has the entered name, throws a Refusal that names the
 * field.
 */
export async function tenantIdOf(text: string): Promise<string> {
  if (UUID.test(text)) return text;
  const [silo_name, name, ...rest] = text.split("/");
  const silo = (await getArray<Silo>("/v1/silos")).find((each) => each.name === silo_name);
  const tenants = silo === undefined || rest.length > 0 ? [] : await getArray<Tenant>(`/v1/silos/${silo.id}/tenants`);
  const found = tenants.find((each) => each.name === name);
  if (found === undefined) {
    throw new Refusal(404, `tenant: No tenant is called ${text}. Write SILO/TENANT or the tenant's UUID.`);
  }
  return found.id;
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
  {
    name: "silo",
    title: "Silo",
    sorts: true,
    // The search of the console links a silo to this list, with the silo's id as the filter.
    text: ({ silo_name, silo_id }) => `${silo_name} ${silo_id}`,
    cell: ({ silo_name }) => silo_name,
  },
  {
    name: "description",
    title: "Description",
    isWideOnly: true,
    text: ({ description }) => description,
    cell: ({ description }) => description,
  },
  UUID_COLUMN,
  createdColumn(),
];

const FIELDS = COLUMNS.map(({ name }) => name);

export function Tenants() {
  const { data: read } = useQuery(silosQuery);
  const silos = read ?? [];
  const hasMore = silos.length > SILOS_MAX;
  const word = hasMore || read === undefined ? serverWord(urlQuery.value.get("q") ?? "", FIELDS).word : "";
  const refused = rootOnly();
  return (
    <ListPage<TenantRow>
      title="Tenants"
      noun="tenant"
      query={tenantsQuery(word)}
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
      {hasMore && (
        <p class="hint">
          {word === ""
            ? `The list shows the tenants of the first ${SILOS_MAX} of ${counted(silos.length, "silo")}. ` +
              "Enter one word, a part of the name of a tenant or of a silo, to search all silos."
            : `The server searched all ${counted(silos.length, "silo")}. ` +
              `The list shows the tenants of at most ${SILOS_MAX} silos.`}
        </p>
      )}
    </ListPage>
  );
}
