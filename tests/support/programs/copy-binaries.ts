// Copies PostgreSQL's programs to the folder in the first argument, and prints the path of the copied program
// `postgres`.
import process from "node:process";
import { copyBinaries } from "../../../src/db/cluster-init.ts";
import { binariesIn, binariesRoot } from "../../../src/db/postgres-binaries.ts";

console.log((await copyBinaries(binariesIn(binariesRoot(), "0"), process.argv[2]!)).postgres);
