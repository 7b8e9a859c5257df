// The command `api` sends one request to a route. The error about a mistyped name offers similar names.
import { expect, test } from "vitest";
import { opsctl } from "./opsctl.ts";
import { KEY_ENV, tenantctl } from "./tenantctl/run.ts";

const echo = { server: ({ method, path }: { method: string; path: string }) => ({ body: { method, path } }) };

test("`api` sends fields as the body of a POST; a field is sent as JSON if it is valid JSON, and otherwise as text", async () => {
  const words = ["api", "post", "/v1/silos", "-f", "name=acme", "-f", "count=3", "-f", 'tags=["a"]', "-f", "text=a=b"];
  const ran = await opsctl(words, echo);
  expect([ran.code, ran.err()]).toEqual([0, ""]);
  expect(ran.asked).toMatchObject([{
    method: "POST",
    path: "/v1/silos",
    body: { name: "acme", count: 3, tags: ["a"], text: "a=b" },
  }]);
  expect(JSON.parse(ran.out())).toEqual({ method: "POST", path: "/v1/silos" });
});

test("`api` sends fields as the query of a GET, in addition to the query in the path", async () => {
  const ran = await tenantctl(["api", "GET", "/v1/vpcs?limit=2", "-f", "project=p", "-o", "jsonpath=.path"], {
    ...echo,
    env: KEY_ENV,
  });
  expect(ran.asked).toMatchObject([{ path: "/v1/vpcs", query: { limit: "2", project: "p" }, body: undefined }]);
  expect(ran.out()).toBe("/v1/vpcs\n");
});

test.each([
  [["FETCH", "/v1/silos"], "FETCH is not a method"],
  [["GET", "v1/silos"], "the path must start with /"],
  [["GET", "https://example.com/v1"], "the path must start with /"],
  [["POST", "/v1/silos", "-f", "name"], "--field must be NAME=VALUE"],
])("`api` %j is a usage error before any request", async (words, message) => {
  const ran = await opsctl(["api", ...words], echo);
  expect([ran.code, ran.asked]).toEqual([2, []]);
  expect(ran.err()).toContain(message);
});

test.each([
  ["acem", "did you mean acme?"],
  ["prod-wst", "did you mean prod-west or prod-east?"],
  ["zzz", "to list them, run: opsctl silo list"],
])(
  "the error about the mistyped name %s offers similar names or the list command",
  async (name, message) => {
    const body = ["acme", "prod-west", "prod-east"].map((each) => ({ id: `${each}-id`, name: each }));
    const ran = await opsctl(["silo", "show", name], { server: () => ({ body }) });
    expect(ran.code).toBe(3);
    expect(ran.err()).toContain(message);
  },
);
