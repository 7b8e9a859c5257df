// Fetches URLs with the connector for outbound requests: `fetch-by-name.ts ADDRESSES URL...`. For every host name, the
// resolver returns these addresses. Prints the status and body, or the error, of each fetch. Environment variables name
// the trusted certification authorities.
import process from "node:process";
import { fetchOutbound } from "../../../src/outbound/connector.ts";
import { readRanges } from "../../../src/lib/net/public-address.ts";

const [addresses = "", ...urls] = process.argv.slice(2);
const answers: string[] = [];
for (const url of urls) {
  const outbound = {
    reach: { allowed: readRanges(["127.0.0.0/8"]) },
    resolve: () => Promise.resolve(addresses.split(",")),
    signal: AbortSignal.timeout(10_000),
  };
  answers.push(
    await fetchOutbound(url, outbound).then(
      async (response) => `${response.status} ${await response.text()}`,
      (error) => `${error.name} ${error.message}`,
    ),
  );
}
console.log(JSON.stringify(answers));
