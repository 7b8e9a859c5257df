// Tests that an error states in words why a request got no answer, without the error code of the runtime.
import { expect, test } from "vitest";
import { networkReason } from "../../cli/internal/network-reason.ts";
import { runTenantctl } from "../../cli/tenantctl/program.ts";
import { fakeEnvironment } from "./fake-environment.ts";

test("an unknown host name has the same reason in each runtime, and other reasons have no error code of the runtime", () => {
  const bun = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
  const deno = new Error("fetch failed", { cause: new Error("dns error: failed to lookup address information") });
  for (const error of [bun, deno]) expect(networkReason(error)).toBe("the host name is not known");
  const tls = new Error("fetch failed", { cause: new Error("EPROTO: the TLS handshake failed") });
  expect(networkReason(tls)).toBe("the TLS handshake failed");
  expect(networkReason(new Error("no data for 30 s"))).toBe("no data for 30 s");
});

test("the error about a mistyped index address states the reason in words", async () => {
  const fake = fakeEnvironment({ env: {} });
  const outbound = () => Promise.reject(new Error("getaddrinfo ENOTFOUND"));
  const argv = ["image", "search", "--index", "https://images.invalid"];
  expect(await runTenantctl(argv, { ...fake.environment, outbound })).toBe(1);
  expect(fake.err()).toMatch(/^error: cannot get https:\/\/images\.invalid\/\S+: the host name is not known\n$/);
});
