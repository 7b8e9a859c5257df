// Builds the environment of the programs that run PostgreSQL. Of this process's variables it keeps only PATH: some
// others contain secrets, and PG* variables would change the programs' behavior.
import process from "node:process";

export function bareEnvironment(): Record<string, string> {
  return { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
}
