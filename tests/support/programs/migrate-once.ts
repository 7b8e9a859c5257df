// Migrates the database argv[0] with the files in argv[1], and prints the number of applied migrations.
import process from "node:process";
import { migrate } from "../../../src/db/migrate.ts";

const [url, folder] = process.argv.slice(2);
console.log((await migrate(url!, { folder: new URL(folder!) })).applied.length);
