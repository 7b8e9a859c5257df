// Migrates the database in the first argument (a URL) with the files of the folder in the second argument (a URL), and
// prints the number of applied migrations.
import process from "node:process";
import { migrate } from "../../../src/db/migrate.ts";

const [url, folder] = process.argv.slice(2);
console.log((await migrate(url!, { folder: new URL(folder!) })).applied.length);
