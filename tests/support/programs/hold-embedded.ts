// Starts the embedded PostgreSQL in the folder in the first argument, and prints its pid and URL. PostgreSQL runs until
// this program is killed.
import process from "node:process";
import { startEmbedded } from "../../../src/db/embedded.ts";

const { pid, ownerUrl } = await startEmbedded({ dataDir: process.argv[2]!, settings: { fsync: "off" } });
console.log(JSON.stringify({ pid, url: ownerUrl }));
setInterval(() => {}, 60_000);
