// Defines how commands list, find and print users.
import type { User } from "../../../src/contract/identity.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { AGE_COLUMN, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { findRecord, isUuid, type RecordKind } from "../../internal/record-name.ts";
import type { Kind } from "../record/kind.ts";
import { resolveTenant } from "../tenant/tenant.ts";

export const USERS_PATH = "/v1/system/users";
export const USER_ARGUMENT = ["<user>", "UUID, unique UUID prefix or username"] as const;
export const PASSWORD_STDIN_OPTION = [
  "--password-stdin",
  "read the password from standard input",
] as const;

const USER_NAME: RecordKind<User> = {
  one: "user",
  many: "users",
  list: "opsctl user list",
  id: ({ id }) => id,
  title: ({ username }) => username,
  isCalled: (user, name) => user.username === name,
};

/** Returns the UUID of a user. A complete UUID needs no request; any other name is looked up in the list of users. */
export async function resolveUser(io: Io, name: string): Promise<string> {
  return isUuid(name) ? name.toLowerCase() : (await findUser(io, name)).id;
}

export async function findUser(io: Io, name: string): Promise<User> {
  return await findRecord(io, name, { path: USERS_PATH, kind: USER_NAME });
}

export function userPath(id: string): string {
  return `${USERS_PATH}/${id}`;
}

/** Returns `ada (019f...)`, safe to print. */
export function userTitle({ username, id }: User): string {
  return `${plainText(username)} (${plainText(id)})`;
}

export const USER: Kind<User> = {
  one: "user",
  many: "users",
  argument: USER_ARGUMENT,
  sample: "alice",
  summaries: { list: "List users", delete: "Delete a user who has no API keys; the user's sessions end at once" },
  list_sample: "alice --tenant web",
  selectors: (made) =>
    made.argument("[text]", "only users with this text in the name or the UUID")
      .option("--tenant <tenant>", "only users of this tenant: name, SILO/NAME or UUID"),
  columns: [
    ["USERNAME", (user) => user.username],
    ["ID", (user) => user.id, ID_COLUMN],
    ["ROOT", (user) => user.is_root ? "yes" : "no"],
    ["CAPABILITIES", (user) => user.capabilities.join(",")],
    ["TENANT_ID", (user) => user.tenant_id, ID_COLUMN],
    ["ISSUER", (user) => user.issuer],
    ["AGE", (user) => user.created_at, AGE_COLUMN],
    ["CREATED_AT", (user) => user.created_at, WIDE_COLUMN],
  ],
  lines: (user) => [
    ["id", user.id],
    ["username", user.username],
    ["is_root", user.is_root],
    ["capabilities", user.capabilities.join(",")],
    ["tenant_id", user.tenant_id],
    ["silo_id", user.silo_id],
    ["issuer", user.issuer],
    ["created_at", user.created_at],
  ],
  all: async (io, _, { argument, options: { tenant } }) => {
    if (typeof tenant !== "string") return await io.all<User>(USERS_PATH, { q: argument });
    const tenant_id = await resolveTenant(io, tenant);
    const users = await io.all<User>(USERS_PATH, { q: argument, tenant: tenant_id });
    // A server of an earlier release ignores `tenant`, and returns the users of all tenants.
    return users.filter((user) => user.tenant_id === tenant_id);
  },
  find: findUser,
  record: (user) => user,
  path: ({ id }) => userPath(id),
  title: userTitle,
};
