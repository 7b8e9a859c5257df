// Starts a rack, boots two bare machines until they are nodes, and kills each process of the site in turn
// (src/dev/rack/stories/kills.ts). On a machine that cannot run a rack, or runs a rack already, the program prints the
// reason and ends with 0.
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { whatIsMissing } from "../../src/dev/rack/missing.ts";
import { presentSpaces } from "../../src/dev/rack/spaces.ts";

const missing = whatIsMissing() ?? ((await presentSpaces()).length > 0 ? "a rack is running" : null);
if (missing === null) {
  const argv = ["run", "-A", "src/dev/rack/main.ts", "--once", "--story", "nodes", "--story", "kills"];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "inherit", "inherit"] });
  // Passes the signal on, because the rack ends its own processes.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => child.kill(name));
  const [code] = await once(child, "close");
  process.exitCode = code ?? 1;
} else console.log(`the rack was not tested: ${missing}`);
