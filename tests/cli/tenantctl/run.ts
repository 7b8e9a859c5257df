// Runs one tenantctl command line in a fake environment on a terminal.
import { Buffer } from "node:buffer";
import { runTenantctl } from "../../../cli/tenantctl/program.ts";
import {
  ENDPOINT,
  type FakeAnswer,
  type FakeEnvironment,
  fakeEnvironment,
  type FakeOptions,
  type Server,
} from "../fake-environment.ts";
import { TENANT } from "./records.ts";

export const KEY_ENV = { TENANTCTL_ENDPOINT: ENDPOINT, TENANTCTL_API_KEY: "opsk_env", NO_COLOR: "1" };
export const TOKEN_ENV = {
  TENANTCTL_ENDPOINT: ENDPOINT,
  TENANTCTL_ACCESS_TOKEN: jwt({ tenant_id: TENANT }),
  NO_COLOR: "1",
};

export type Ran = FakeEnvironment & { readonly code: number };

export async function tenantctl(argv: readonly string[], options: FakeOptions = {}): Promise<Ran> {
  const fake = fakeEnvironment({ env: KEY_ENV, isTTY: true, ...options });
  return { ...fake, code: await runTenantctl(argv, fake.environment) };
}

/** Returns a token with these claims and a dummy signature. */
export function jwt(claims: Readonly<Record<string, unknown>>): string {
  return ["e30", Buffer.from(JSON.stringify(claims)).toString("base64url"), "sig"].join(".");
}

/** Returns a server that has an answer for each `METHOD path`. Other requests get 404. */
export function serving(
  answers: Readonly<Record<string, FakeAnswer | unknown[] | Readonly<Record<string, unknown>>>>,
): Server {
  return ({ method, path }) => {
    const body = answers[`${method} ${path}`];
    if (body === undefined) return { status: 404, body: { message: `no ${method} ${path}`, error_code: "NotFound" } };
    return { status: method === "POST" ? 201 : method === "DELETE" ? 204 : 200, body };
  };
}

/** Returns the requests in their order, in the form `METHOD path?query` without the paging parameters. */
export function requestsOf({ asked }: Pick<FakeEnvironment, "asked">): string[] {
  return asked.map(({ method, path, query }) => {
    const { limit: _limit, ...selectors } = query;
    const text = new URLSearchParams(selectors).toString();
    return `${method} ${path}${text === "" ? "" : `?${text}`}`;
  });
}
