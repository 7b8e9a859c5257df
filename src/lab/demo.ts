// `task demo`: the main job from start to end, with the real parts. A node agent registers, an operator approves it by
// its claim code, its heartbeat is seen, and the audit chain tells the story. Every answer is checked.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { bareMachine } from "./bare-machine.ts";
import { buildExecutables, newRootKey, ROOT, startLaboratory } from "./laboratory.ts";

const HEARTBEAT_MS = 200;
const PATIENCE_MS = 30_000;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

async function demo(): Promise<void> {
  say("Building the executables (Bun) and starting the control plane with its own PostgreSQL");
  const folder = await mkdtemp(join(tmpdir(), "berth-demo-"));
  await buildExecutables();
  const laboratory = await startLaboratory({
    dataDir: join(folder, "data"),
    port: 0,
    rootKey: newRootKey(),
    nodes: 0,
  });
  const agent = startAgent(laboratory.url, join(folder, "agent"));
  try {
    const opsctl = operatorOf(laboratory);
    await story(opsctl, agent);
    await bareStory(opsctl, laboratory.url, folder);
    say("Done: nodes came and went, and the chain proves how.");
  } finally {
    await agent.stop();
    await laboratory.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs opsctl, prints the command and its answer, checks that it exits 0. */
type Opsctl = (...words: string[]) => Promise<string>;
type Agent = ReturnType<typeof startAgent>;

async function story(opsctl: Opsctl, agent: Agent): Promise<void> {
  await opsctl("whoami");

  say("A node agent registers and prints its claim code");
  const code = await agent.claimCode;
  console.log(`  nodeagent: Claim code: ${code}`);
  const listed = await opsctl("cn", "list");
  check("one node is listed, pending", /demo-node\s+pending\s+tenant/.test(listed));
  const server_uuid = UUID.exec(listed)?.[0] ?? "";

  say("The operator approves it by that code; the key goes to the agent alone");
  const approved = await opsctl("cn", "approve", code);
  check("approved", approved.startsWith(`Approved CN ${server_uuid}; bound api key id `));
  await agent.enrolled;
  check("the agent has its key", true);

  say("Its heartbeat is seen");
  await new Promise((wake) => setTimeout(wake, 5 * HEARTBEAT_MS));
  const shown = await opsctl("cn", "show", server_uuid);
  check("state approved", /^state:?\s+approved$/m.test(shown));
  check("last_seen is set", /^last_seen:?\s+\d{4}-/m.test(shown));
  check("the claim code is gone", !/claim_code/.test(shown));

  say("What the operator can set");
  check(
    "role",
    (await opsctl("cn", "label", "set", server_uuid, "--role", "both")).includes(`${server_uuid} role to both`),
  );
  check("reservoir", /effective/.test(await opsctl("cn", "reservoir", "set", server_uuid, "--percent", "0.5")));

  say("What happened, and that nobody changed the record of it");
  check("the operation is listed", /node-join\s+succeeded/.test(await opsctl("operation", "list")));
  check("the approval is in the audit", /cn_approve/.test(await opsctl("audit", "list")));
  check("the chain is whole", /verified to seq \d+/.test(await opsctl("audit", "verify")));
}

/** A bare machine: seen, announced, planned, approved, set up, reset and removed. */
async function bareStory(opsctl: Opsctl, endpoint: string, folder: string): Promise<void> {
  say("A bare machine asks to boot; the policy gives it an address and lets it enrol");
  const policy = join(folder, "boot-policy.json");
  await writeFile(policy, JSON.stringify(BOOT_POLICY));
  await opsctl("cn", "boot", "policy", "apply", "-f", policy);
  const made = await opsctl("api-key", "create", "--description", "demo booter", "--scope", "booter", "--json");
  const machine = bareMachine({ endpoint, booterKey: JSON.parse(made).secret, ...MACHINE });
  const record = await machine.seen();
  check("it enrols with the lowest free address", record.state === "enrolling" && record.address === "10.99.0.10");

  say("It announces its hardware; the operator looks at the plan and approves a layout");
  await machine.announce();
  check("the plan says what is destroyed", /c0t1d0/.test(await opsctl("cn", "setup", "plan", MACHINE.hostname)));
  const approved = opsctl("cn", "setup", "approve", MACHINE.hostname, "--layout", "mirror", "--yes", "--wait");
  await machine.installWhenApproved();
  check("the setup has ended well", /is set up \(state=approved\)/.test(await approved));
  check("its boot record is enrolled", /enrolled/.test(await opsctl("cn", "boot", "list")));

  say("It is taken back to bare, and then removed");
  await opsctl("cn", "factory-reset", MACHINE.hostname, "--yes");
  check("it awaits setup", /awaiting_setup/.test(await opsctl("cn", "list")));
  await opsctl("cn", "remove", MACHINE.hostname, "--yes");
  check("its boot record is out of service", /decommissioned/.test(await opsctl("cn", "boot", "list")));
  check("the chain is whole", /verified to seq \d+/.test(await opsctl("audit", "verify")));
}

const MACHINE = {
  server_uuid: "7c1f2a60-4f6e-4a52-9d0b-3a6d0a5b1c01",
  hostname: "bare-node",
  mac: "02:99:00:00:00:01",
} as const;

const BOOT_POLICY = {
  enrollment_pi: "20261001T000000Z",
  admin_network: {
    ipv4_block: "10.99.0.0/24",
    provision_start_ipv4: "10.99.0.10",
    provision_end_ipv4: "10.99.0.99",
    gateway: "10.99.0.1",
    resolvers: ["10.99.0.1"],
  },
} as const;

function operatorOf(laboratory: { readonly url: string; readonly rootKey: string }): Opsctl {
  return async (...words) => {
    console.log(`\n$ opsctl ${words.join(" ")}`);
    const child = spawn(join(ROOT, "dist/opsctl"), words, {
      env: { ...process.env, OPSCTL_ENDPOINT: laboratory.url, OPSCTL_API_KEY: laboratory.rootKey },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (chunk) => text += chunk);
    const [status] = await once(child, "close");
    // A key is shown once, to whoever asked for it; a recording of this demo is somebody else.
    process.stdout.write(text.replace(/opsk_[\w-]{45}/g, "opsk_...").replace(/^/gm, "  ").trimEnd() + "\n");
    check(`opsctl ${words.slice(0, 2).join(" ")} exits 0`, status === 0);
    return text;
  };
}

function startAgent(endpoint: string, stateDir: string) {
  const words = ["run", "--endpoint", endpoint, "--state-dir", stateDir, "--hostname", "demo-node"];
  const child = spawn(join(ROOT, "dist/nodeagent"), [...words, "--heartbeat-ms", String(HEARTBEAT_MS)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said: string[] = [];
  const heard = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const limit = setTimeout(
        () => reject(new Error(`the agent never said ${pattern}:\n${said.join("\n")}`)),
        PATIENCE_MS,
      );
      listeners.add((line) => {
        const found = pattern.exec(line);
        if (found === null) return;
        clearTimeout(limit);
        resolve(found[1] ?? line);
      });
      child.once("exit", () => {
        clearTimeout(limit);
        reject(new Error(`the agent ended:\n${said.join("\n")}`));
      });
    });
  const listeners = new Set<(line: string) => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      said.push(line);
      for (const listener of listeners) listener(line);
    });
  }
  const claimCode = heard(/Claim code: ([0-9A-Z]{3}-[0-9A-Z]{3})/);
  const enrolled = heard(/(?:approved|enrolled)/i);
  claimCode.catch(() => {});
  enrolled.catch(() => {}); // The story waits for them one after the other.
  return {
    claimCode,
    enrolled,
    stop: async () => {
      if (child.exitCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

function say(text: string): void {
  console.log(`\n== ${text}`);
}

let checks = 0;
function check(what: string, holds: boolean): void {
  if (!holds) throw new Error(`the demo failed: ${what}`);
  checks += 1;
  console.log(`  ok: ${what}`);
}

try {
  const started = performance.now();
  await demo();
  console.log(`\n${checks} checks passed in ${((performance.now() - started) / 1_000).toFixed(1)} s.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
