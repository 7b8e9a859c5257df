// Tests the tasks that a newcomer uses first. .ci/run runs setup, test and demo, and other tests use compile. Long
// tasks are not run here.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { buildExecutables } from "../processes/executables.ts";
import { guidePort } from "./ports.ts";
import { berth, ROOT, runBlocks, SESSION } from "./run.ts";

let folder: TemporaryFolder;
beforeEach(async () => {
  await buildExecutables();
  folder = await temporaryFolder("tasks");
}, 300_000);
afterEach(() => folder.remove());

/** Runs a script in one session. The variable BERTH names the folder of the project. */
async function session(script: string): Promise<void> {
  const step = { line: 1, place: "the session", shown: null, script };
  const env = { BERTH: berth(), BERTH_DATA_DIR: join(folder.path, "data"), PORT: String(await guidePort()) };
  await runBlocks([step], { folder: folder.path, env });
}

const READY = "curl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:$PORT/readyz";

test(
  "`task start` serves with an embedded PostgreSQL, prints a root key once, and exits with 0 after SIGTERM",
  async (context) => {
    needs(context, ...SESSION, "curl");
    await session(`
here="$PWD"
cd "$BERTH"
deno task start > "$here/start.log" 2>&1 &
server=$!
${READY}
key="$(sed -n 's/^Root operator key .*: //p' "$here/start.log")"
OPSCTL_ENDPOINT=http://127.0.0.1:$PORT OPSCTL_API_KEY="$key" dist/opsctl whoami
kill "$server"
wait "$server"
`);
  },
  300_000,
);

test("the exports and commands that `task dev` prints work", async (context) => {
  needs(context, ...SESSION, "curl");
  await session(`
here="$PWD"
cd "$BERTH"
deno task dev > "$here/dev.log" 2>&1 &
environment=$!
until grep '^Ctrl-C' "$here/dev.log" && [ "$(grep -c '^lab-node-[123]: Claim code: ' "$here/dev.log")" = 3 ]; do kill -0 "$environment"; sleep 0.2; done
eval "$(grep '^  export OPSCTL_' "$here/dev.log")"
code="$(cat "$BERTH_DATA_DIR/nodes/lab-node-1/claim-code")"
grep "^lab-node-1: Claim code: $code" "$here/dev.log"
grep -E '^  (dist/|curl |export TENANTCTL_)' "$here/dev.log" | sed -e "s/XXX-XXX/$code/" -e 's/  *# .*//' \
  -e 's/.*cn doctor.*/until &; do sleep 0.2; done/' > "$here/printed.sh"
grep "cn approve $code" "$here/printed.sh"
. "$here/printed.sh" > "$here/printed.log"
grep '"web1"' "$here/printed.log"
if grep '"@timestamp"' "$here/dev.log"; then exit 1; fi
kill "$environment"
wait "$environment" || true
if curl -s http://127.0.0.1:$PORT/readyz; then exit 1; fi
`);
}, 300_000);

test("the error of `task release` without a key names the option --key", async (context) => {
  needs(context, ...SESSION);
  await session(`
cd "$BERTH"
deno task release 2> "$OLDPWD/release.txt" && exit 1
grep -- '--key FILE is required' "$OLDPWD/release.txt"
`);
}, 300_000);

test("the README names every task except setup, which other tasks run first", () => {
  const names = Object.keys(JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8")).tasks);
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  expect(names.filter((name) => name !== "setup" && !readme.includes(`task ${name}`))).toEqual([]);
});
