// Shared by the user verbs: finding and printing a user.
import type { User } from "../../../src/contract/identity.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { blockText } from "../../internal/table.ts";
import { findRecord, isUuid, type RecordKind } from "../../internal/record-name.ts";

export const USERS_PATH = "/v1/system/users";
export const USER_ARGUMENT = ["<user>", "UUID, unique UUID prefix or username"] as const;
export const PASSWORD_STDIN_OPTION = [
  "--password-stdin",
  "read the password from standard input",
] as const;

const USER: RecordKind<User> = {
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
  return await findRecord(io, name, { path: USERS_PATH, kind: USER });
}

export function userPath(id: string): string {
  return `${USERS_PATH}/${id}`;
}

/** Returns `ada (019f...)`, safe to print. */
export function userTitle({ username, id }: User): string {
  return `${plainText(username)} (${plainText(id)})`;
}

export function userText(user: User): string {
  return blockText([
    ["id", user.id],
    ["username", user.username],
    ["is_root", user.is_root],
    ["capabilities", user.capabilities.join(",")],
    ["tenant_id", user.tenant_id],
    ["silo_id", user.silo_id],
    ["issuer", user.issuer],
    ["created_at", user.created_at],
  ]);
}
