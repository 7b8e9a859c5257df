// The environment of the programs that we start around PostgreSQL. None of ours: it holds secrets, and PG* variables
// would change what they do.
import process from "node:process";

export function bareEnvironment(): Record<string, string> {
  return { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
}
