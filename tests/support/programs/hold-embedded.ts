// Starts the embedded server in the folder argv[0], prints its pid and URL, and keeps it until it is killed.
import process from "node:process";
import { startEmbedded } from "../../../src/db/embedded.ts";

const { pid, ownerUrl } = await startEmbedded({ dataDir: process.argv[2]!, settings: { fsync: "off" } });
console.log(JSON.stringify({ pid, url: ownerUrl }));
setInterval(() => {}, 60_000);
