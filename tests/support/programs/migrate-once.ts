// Run as its own process: migrates argv[0] with the files of argv[1], prints how many it applied.
import process from "node:process";
import { migrate } from "../../../src/db/migrate.ts";

const [url, folder] = process.argv.slice(2);
console.log((await migrate(url!, { folder: new URL(folder!) })).applied.length);
