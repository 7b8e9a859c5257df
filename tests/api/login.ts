// Creates a local user with a login session, for tests.
import { randomUUID } from "node:crypto";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";

export type TestLogin = { readonly id: string; readonly username: string; readonly token: string };

/** Creates a user and logs in. `fields` are fields of the body that creates the user. */
export async function newLogin(t: Pick<TestControlPlane, "call">, fields: object = {}): Promise<TestLogin> {
  const login = { username: `user-${randomUUID().slice(0, 8)}`, password: "a long enough password" };
  const { id } = okOf(await t.call("POST", "/v1/system/users", { body: { ...login, ...fields } }));
  const { access_token } = okOf(await t.call("POST", "/v1/auth/login", { key: null, body: login }));
  return { id, username: login.username, token: access_token };
}
