// Prints the Debian packages that `.ci/run` installs so that no test is skipped.
import { missingPackages } from "./optional-programs.ts";

console.log(missingPackages().join(" "));
