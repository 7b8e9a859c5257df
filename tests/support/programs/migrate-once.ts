// Migrates a database, and prints the number of applied migrations. Arguments: the URL of the database, and the URL of
// the folder of migrations.
import process from "node:process";
import { migrate } from "../../../src/db/migrate.ts";

const [url, folder] = process.argv.slice(2);
console.log((await migrate(url!, { folder: new URL(folder!) })).applied.length);
