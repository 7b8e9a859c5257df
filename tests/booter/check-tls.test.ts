// Tests the results of `booter check` for the certificate of HTTPS boot.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tlsFindings } from "../../booter/check-tls.ts";
import { expired, newAuthority } from "../security/certificate.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const authority = newAuthority();
const SEGMENTS = [{ address: "10.0.0.1", prefix_len: 24 }, { address: "10.9.0.1", prefix_len: 24 }];

let folder: TemporaryFolder;
beforeAll(async () => void (folder = await temporaryFolder("check-tls")));
afterAll(() => folder.remove());

async function findings({ cert, key }: { readonly cert: string; readonly key: string }): Promise<string[]> {
  const [certificate_file, key_file] = ["cert", "key"].map((name) => join(folder.path, name)) as [string, string];
  await writeFile(certificate_file, cert);
  await writeFile(key_file, key, { mode: 0o600 });
  const found = await tlsFindings({ port: 443, certificate_file, key_file }, SEGMENTS);
  return found.map(({ level, text }) => `${level} ${text.replaceAll(`${folder.path}/`, "")}`);
}

test("a valid certificate is ok for the addresses that it names and fails for other addresses", async () => {
  expect(await findings(authority.issue("10.0.0.1"))).toEqual([
    expect.stringMatching(/^ok https: cert is valid for 10\.0\.0\.1 until \d{4}-/),
    "fail https: cert does not name the address 10.9.0.1; add it as an IP subjectAltName",
  ]);
});

test("an expired certificate, a key of another certificate, and a file that cannot be parsed each get their own error", async () => {
  const good = authority.issue("10.0.0.1");
  expect(await findings(authority.issue("10.0.0.1", expired()))).toEqual([
    expect.stringMatching(/^fail https: cert expired at .*; renew it$/),
  ]);
  const { key } = authority.issue("10.0.0.1");
  expect(await findings({ ...good, key })).toEqual(["fail https: key is not the key of cert"]);
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  expect(await findings({ ...good, cert: broken })).toEqual(["fail https: cert does not contain a certificate"]);
  expect(await findings({ ...good, key: broken })).toEqual(["fail https: key does not contain a private key"]);
});
