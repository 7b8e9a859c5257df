// Measures time and memory of a build of all recorded vendors; Ubuntu's feed is enlarged to 18 MB. `deno run -A
// tests/index-builder/bench.ts [PROGRAM...]`: PROGRAM defaults to dist/index-builder. GNU time measures memory.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { pathOf } from "../support/optional-programs.ts";
import { median } from "./median.ts";
import { webFolder } from "./recorded-vendor.ts";

const PROGRAM = process.argv.length > 2
  ? process.argv.slice(2)
  : [fileURLToPath(new URL("../../dist/index-builder", import.meta.url))];
const GNU_TIME = pathOf("GNU time");
const FEED_URL = "https://cloud-images.ubuntu.com/releases/streams/v1/com.ubuntu.cloud:released:download.json";
const FEED_BYTES = 18_000_000;
const RUNS = 7;
/** The target for a build of all vendors on two cores. */
const AIM = { ms: 2_000, megabytes: 200 };

if (GNU_TIME === null || !existsSync(PROGRAM[0]!)) {
  console.error(
    `GNU time and ${PROGRAM[0]} are required: install Debian's package "time", and run \`deno task compile\``,
  );
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "index-bench-"));
try {
  writeFileSync(join(folder, "feed.json"), grownFeed());
  writeFileSync(
    join(folder, "responses.json"),
    JSON.stringify({ [`GET ${FEED_URL}`]: { status: 200, body: "feed.json" } }),
  );
  const runs = Array.from({ length: RUNS }, (_, index) => oneBuild(join(folder, `site-${index}`)));
  const again = oneBuild(join(folder, "site-0"));
  const ms = median(runs.map((run) => run.ms));
  const megabytes = Math.max(...runs.map((run) => run.megabytes));
  console.log(
    `build: ${ms.toFixed(0)} ms (median of ${RUNS}), ${megabytes.toFixed(0)} MB at most; second run ${
      again.ms.toFixed(0)
    } ms`,
  );
  console.log(
    `aim: ${AIM.ms} ms, ${AIM.megabytes} MB: ${ms <= AIM.ms && megabytes <= AIM.megabytes ? "met" : "missed"}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the recorded feed, with old releases added until the feed has the size of the real feed. */
function grownFeed(): string {
  const recorded = JSON.parse(
    readFileSync(
      join(
        webFolder("t0"),
        "bodies/cloud-images.ubuntu.com_releases_streams_v1_com.ubuntu.cloud_released_download.json",
      ),
      "utf8",
    ),
  );
  const products = Object.entries(recorded.products) as [string, Record<string, unknown>][];
  const bytes_each = JSON.stringify(recorded).length;
  for (let copy = 0; copy * bytes_each < FEED_BYTES; copy++) {
    for (const [name, product] of products) {
      recorded.products[`${name}:old${copy}`] = { ...product, release: `old${copy}`, supported: false };
    }
  }
  return JSON.stringify(recorded);
}

function oneBuild(site: string): { ms: number; megabytes: number } {
  const argv = [
    "all",
    "--site",
    site,
    "--recorded",
    folder,
    "--recorded",
    webFolder("t0"),
    "--at",
    "2026-10-09T05:17:00Z",
  ];
  const started_at = performance.now();
  const ended = spawnSync(GNU_TIME!, ["-f", "%M", ...PROGRAM, ...argv], { encoding: "utf8" });
  const ms = performance.now() - started_at;
  if (ended.status !== 0) throw new Error(`the build ended with ${ended.status}: ${ended.stderr.slice(-500)}`);
  return { ms, megabytes: Number(ended.stderr.trim().split("\n").at(-1)) / 1_024 };
}
