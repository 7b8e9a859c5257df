// The program of `deno task rack`. It runs a small datacentre on one Linux machine, from the packages as released
// (docs/guides/rack.md).
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import process from "node:process";
import { parseArgs } from "node:util";
import { builtImage, builtRelease } from "./build.ts";
import { prepareBooter, startBooter } from "./booter.ts";
import { rootKey, startControlPlane, startInternet, startPostgres, startProxy } from "./control-plane.ts";
import { installBerth, installDebian } from "./debian.ts";
import { publishIndex } from "./index-site.ts";
import { kvm, startBmcs } from "./machines.ts";
import { whatIsMissing } from "./missing.ts";
import { API_URL, at, CONSOLE_URL, EXTERNAL, FOLDER, MACHINES } from "./plan.ts";
import { check, checksPassed, say } from "./report.ts";
import { closeSpaces, openSpaces, presentSpaces } from "./spaces.ts";
import { isStory, STORIES } from "./stories/stories.ts";

const USAGE = `usage: task rack [--story NAME]... [--keep | --once] [--release FOLDER] [--image FOLDER]
       task rack --down

Starts a control plane, a booter, and two bare machines in QEMU, and runs these stories:
${STORIES.join(", ")}.
Then it prints the addresses, and waits for Ctrl-C, which removes the rack.

--story NAME      run this story only (repeatable); on a running rack, run it there
--keep            leave the rack running at the end, also after a failure; --down removes it
--once            remove the rack after the last story
--release FOLDER  use this release of task release instead of building one
--image FOLDER    use this image of task node-image, which the release's key must have signed`;

const options = parsed();

function parsed() {
  try {
    return parseArgs({
      options: {
        story: { type: "string", multiple: true, default: [] },
        keep: { type: "boolean", default: false },
        once: { type: "boolean", default: false },
        down: { type: "boolean", default: false },
        release: { type: "string" },
        image: { type: "string" },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    console.error(`rack: ${error instanceof Error ? error.message.split(".", 1)[0] : String(error)}\n${USAGE}`);
    process.exit(2);
  }
}

/** Removes the rack, and keeps the release and the images that were built for it. */
async function down(): Promise<void> {
  await closeSpaces();
  await rm(FOLDER, { recursive: true, force: true });
}

/** Builds the rack and starts it. Returns the stamp of the node image. */
async function up(): Promise<string> {
  await mkdir(FOLDER, { recursive: true, mode: 0o755 });
  say(`the nodes' processors are ${await kvm() ? "virtualized by KVM" : "emulated, which is slow"}`);
  await openSpaces();
  const debian = installDebian().then(() => say("Debian is installed in the rack's folder"));
  const release = await builtRelease(options.release);
  const image = await builtImage(options.image);
  say("the release and the node image are built");
  await debian;
  await installBerth(release);
  say("the packages are installed");
  await publishIndex();
  await startPostgres();
  await startControlPlane();
  await startProxy();
  await startInternet();
  check("three processes of the control plane are ready, and the proxy answers", true);
  const stamp = await prepareBooter(image);
  await startBooter();
  check("the booter finds everything that it needs, and serves", true);
  await startBmcs();
  await writeFile(at("stamp"), stamp);
  return stamp;
}

async function rack(): Promise<void> {
  const wanted = options.story.length === 0 ? STORIES : options.story;
  for (const name of wanted) {
    if (!isStory(name)) throw new Error(`--story ${name}: must be one of ${STORIES.join(", ")}`);
  }
  const { runStory } = await import("./stories/run.ts");
  const running = (await presentSpaces()).length > 0;
  if (running && options.story.length === 0) throw new Error("a rack is running; `task rack --down` removes it");
  const stamp = running ? await readFile(at("stamp"), "utf8") : await up();
  for (const name of wanted.filter(isStory)) await runStory(name, stamp);
  await addresses();
  console.log(`\n${checksPassed()} checks passed.`);
  if (options.once) await down();
  else if (!options.keep && !running) await forever();
}

async function addresses(): Promise<void> {
  await writeFile(at("operator.key"), `${await rootKey()}\n`, { mode: 0o600 });
  console.log(`
The web console, with the key in ${at("operator.key")}:

  xdg-open ${CONSOLE_URL}/console/

The control plane: ${API_URL}
${
    MACHINES.map(({ hostname, bmc }) => `${hostname}: BMC https://${bmc}, console in ${at(`${hostname}.console`)}`)
      .join("\n")
  }
The internet: ${EXTERNAL.router}, in the namespace of \`ip netns exec berth-rack-net\`
The logs: ${at("log")}

  export OPSCTL_ENDPOINT=${CONSOLE_URL} NODE_EXTRA_CA_CERTS=${at("proxy.pem")}
  export OPSCTL_API_KEY="$(cat ${at("operator.key")})"
  ${at("debian/usr/bin/opsctl")} cn list
`);
}

async function forever(): Promise<void> {
  console.log("Ctrl-C removes the rack.");
  await new Promise(() => setInterval(() => {}, 2 ** 30));
}

let stopping = false;

/** Makes Ctrl-C remove the rack that this command started. */
function stopOnSignals(): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (stopping) return;
      stopping = true;
      console.error("\nremoving the rack ...");
      void down().finally(() => process.exit(130));
    });
  }
}

if (options.help) {
  console.log(USAGE);
  process.exit(0);
}
const missing = whatIsMissing();
if (missing !== null) {
  console.error(`rack: ${missing}`);
  process.exit(1);
}
if (options.down) {
  await down();
  process.exit(0);
}
const was_running = (await presentSpaces()).length > 0;
if (!was_running) stopOnSignals();
try {
  await rack();
  process.exit(0);
} catch (error) {
  // If the signal handler is removing the rack, the removal caused the failure. The handler then ends the process.
  if (stopping) await new Promise(() => {});
  console.error(`rack: ${error instanceof Error ? error.message : String(error)}`);
  if (options.keep || was_running) console.error("The rack is still running. `task rack --down` removes it.");
  else await down();
  process.exit(1);
}
