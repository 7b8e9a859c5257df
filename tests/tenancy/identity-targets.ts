// Builds the requests of the rights matrix for users, sessions, tenant keys and identity providers. Each cell that
// changes an object has its own object.
import { randomUUID } from "node:crypto";
import { acceptedBodies } from "../api/bodies.ts";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";

type Objects = "existing" | "absent";
type Target = { readonly path: string; readonly body?: unknown };

const USERS = "/v1/system/users";
const KEYS = "/v1/tenants/{tenant_id}/api-keys";
const IDP = "/v1/tenants/{tenant_id}/idp";

export function identityTargets(plane: () => TestControlPlane): Record<string, (objects: Objects) => Promise<Target>> {
  const post = async (path: string, body: unknown, key?: null) => okOf(await plane().call("POST", path, { body, key }));
  let login: Promise<{ readonly username: string; readonly password: string }> | undefined;
  let tenant: Promise<string> | undefined;

  async function makeLogin() {
    const body = { username: `user-${randomUUID()}`, password: "a long enough password" };
    await post(USERS, body);
    return body;
  }

  async function makeTenant(): Promise<string> {
    const silo = await post("/v1/silos", { name: randomUUID() });
    return (await post(`/v1/silos/${silo.id}/tenants`, { name: randomUUID() })).id;
  }

  const userId = async (objects: Objects) =>
    objects === "absent" ? randomUUID() : (await post(USERS, acceptedBodies[`POST ${USERS}`]?.())).id;
  const ofUser = (suffix: string, body?: unknown) => async (objects: Objects) => ({
    path: `${USERS}/${await userId(objects)}${suffix}`,
    body,
  });
  const idpOf = async (objects: Objects) => {
    const path = `/v1/tenants/${objects === "absent" ? randomUUID() : await makeTenant()}/idp`;
    if (objects === "existing") await post(path, acceptedBodies[`POST ${IDP}`]?.());
    return { path };
  };

  return {
    "POST /v1/auth/login": async (objects) => ({
      path: "/v1/auth/login",
      body: objects === "existing" ? await (login ??= makeLogin()) : { username: "nobody", password: "wrong" },
    }),
    "POST /v1/console/session": async (objects) => ({
      path: "/v1/console/session",
      body: objects === "existing" ? await (login ??= makeLogin()) : { username: "nobody", password: "wrong" },
    }),
    "POST /v1/auth/refresh": async (objects) => ({
      path: "/v1/auth/refresh",
      body: {
        refresh_token: objects === "absent"
          ? "x"
          : (await post("/v1/auth/login", await (login ??= makeLogin()), null)).refresh_token,
      },
    }),
    [`GET ${USERS}/{user_id}`]: ofUser(""),
    [`DELETE ${USERS}/{user_id}`]: ofUser(""),
    [`PUT ${USERS}/{user_id}/password`]: ofUser("/password", { password: "another long password" }),
    [`PUT ${USERS}/{user_id}/capabilities/{capability}`]: ofUser("/capabilities/system-read"),
    [`DELETE ${USERS}/{user_id}/capabilities/{capability}`]: ofUser("/capabilities/system-read"),
    [`DELETE ${KEYS}/{id}`]: async (objects) => {
      const path = `/v1/tenants/${await (tenant ??= makeTenant())}/api-keys`;
      return { path: `${path}/${objects === "absent" ? randomUUID() : (await post(path, { description: "d" })).id}` };
    },
    [`GET ${IDP}`]: idpOf,
    [`DELETE ${IDP}`]: idpOf,
  };
}
