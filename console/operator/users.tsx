// Shows the users of all tenants and the operators.
import { CAPABILITIES } from "../../src/contract/enums.ts";
import type { User } from "../../src/contract/identity.ts";
import { type Action, run } from "../core/action.ts";
import { isCut, PAGE_ROWS, send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { needs } from "../core/session.ts";
import { createdColumn } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { useQuery } from "../parts/use-query.ts";
import { usersQuery } from "./directory.ts";
import { serverWord } from "../core/filter.ts";
import { query as urlQuery } from "../core/router.ts";
import { tenantField, tenantIdOf, tenantPath, tenantsQuery } from "./tenants.tsx";

/** The names of the columns below, which a search text can contain as fields: `tenant:acme`. */
const FIELDS = ["name", "tenant", "rights", "issuer", "created"];

export function Users() {
  const { data: first } = useQuery(usersQuery());
  const q = urlQuery.value.get("q") ?? "";
  // If the first answer does not have all users, the server searches their names and UUIDs for one word. The page
  // searches every column for the rest.
  const { word, rest } = isCut(first) ? serverWord(q, FIELDS) : { word: "", rest: q };
  const { data: tenants = [] } = useQuery(tenantsQuery());
  const byId = new Map(tenants.map((tenant) => [tenant.id, tenant]));
  const tenantName = (id: string | null) => {
    const tenant = id === null ? undefined : byId.get(id);
    return id === null ? "operators" : tenant === undefined ? id : tenantPath(tenant);
  };
  const columns: readonly Column<User>[] = [
    {
      name: "name",
      title: "User",
      sorts: true,
      text: ({ username }) => username,
      cell: (user) => <button type="button" class="quiet" onClick={() => run(grant(user))}>{user.username}</button>,
    },
    {
      name: "tenant",
      title: "Tenant",
      sorts: true,
      text: ({ tenant_id }) => tenantName(tenant_id),
      cell: ({ tenant_id }) => tenantName(tenant_id),
    },
    {
      name: "rights",
      title: "Capabilities",
      isWideOnly: true,
      text: ({ is_root, capabilities }) => is_root ? "root" : capabilities.join(" "),
      cell: ({ is_root, capabilities }) => is_root ? "root" : capabilities.join(", "),
    },
    {
      name: "issuer",
      title: "Signs in with",
      isWideOnly: true,
      text: ({ issuer }) => issuer ?? "password",
      cell: ({ issuer }) => issuer ?? "password",
    },
    createdColumn(),
  ];
  return (
    <ListPage<User>
      title="Users"
      noun="user"
      query={usersQuery(word)}
      limit={{
        rows: PAGE_ROWS,
        which: "oldest",
        others: "Enter one word, a part of a name or a UUID, to search all users.",
      }}
      rest={rest}
      columns={columns}
      idOf={({ id }) => id}
      actionsOf={(user) => [grant(user)]}
      actions={[{
        title: "Create a user",
        key: "c",
        button: "Create",
        fields: [
          { name: "username", label: "User name" },
          { name: "password", label: "Password", type: "secret", hint: "At least 8 characters" },
          tenantField(tenants, { hint: "SILO/TENANT or UUID. Without a tenant, the user is an operator" }),
          {
            name: "capability",
            label: "Capability",
            type: "choice",
            isOptional: true,
            choices: CAPABILITIES.map((value) => ({ value, label: value })),
          },
        ],
        refused: needs("system-operate"),
        cli: ({ username = "", tenant = "", capability }) =>
          opsctl("user create", [username || "NAME"], {
            "--tenant": tenant.trim(),
            "--capability": capability,
          }),
        send: async ({ username, password, tenant = "", capability = "" }, key) => {
          const body = {
            username,
            password,
            ...(tenant.trim() !== "" && { tenant_id: await tenantIdOf(tenant.trim()) }),
            ...(capability !== "" && { capabilities: [capability] }),
          };
          await send("POST", "/v1/system/users", { body, key });
          return { said: `User ${username} is created` };
        },
      }]}
      empty={<p>Only the root operator exists.</p>}
      cli={opsctl("user list", word === "" ? [] : [word])}
    />
  );
}

function grant(user: User): Action {
  return {
    title: `Grant a capability to ${user.username}`,
    button: "Grant",
    fields: [{
      name: "capability",
      label: "Capability",
      type: "choice",
      choices: CAPABILITIES.filter((each) => !user.capabilities.includes(each)).map((value) => ({
        value,
        label: value,
      })),
    }],
    refused: needs("system-operate") ??
      (user.is_root ? "The capabilities of the root operator cannot be changed" : null),
    cli: ({ capability = "" }) => opsctl("user grant", [user.username, capability || "CAPABILITY"]),
    send: async ({ capability }, key) => {
      await send("PUT", `/v1/system/users/${user.id}/capabilities/${capability}`, { key });
    },
  };
}
