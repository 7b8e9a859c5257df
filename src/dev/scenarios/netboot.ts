// A machine boots through the real booter: DHCP, TFTP, boot script, AMQP, setup, and its own image.
import { Buffer } from "node:buffer";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bareSysinfo } from "../bare-sysinfo.ts";
import { startDevBooter } from "../booter.ts";
import { netbootAgent } from "../../../nodeagent/netboot/bus.ts";
import { fetchFrom, hasAddress, type NetbootMachine, netbootMachine, postFrom } from "../netboot-machine.ts";
import { check, type Run, say } from "../stage.ts";

export async function netboot(opsctl: Run, endpoint: string, folder: string): Promise<void> {
  say("A real booter starts on loopback: ports above 1024, behind a relay, no root");
  if (!await hasAddress(RELAY)) {
    return console.log("  skipped: loopback has one address on this system, and each machine needs its own");
  }
  await applyPolicy(opsctl, folder, { auto_enroll: true });
  const made = await opsctl("api-key", "create", "--description", "demo netboot", "--scope", "booter", "--json");
  const key = JSON.parse(made).secret;
  const booter = await startDevBooter({
    folder: join(folder, "booter"),
    endpoint,
    key,
    stamp: STAMP,
    program: PROGRAM,
  });
  const machine = await netbootMachine({ mac: MAC, relay: RELAY, ports: booter.ports });
  const quiet = await netbootMachine({ mac: OTHER_MAC, relay: RELAY, ports: booter.ports });
  const url = (path: string) => `http://127.0.0.1:${booter.ports.http}${path}`;
  try {
    await booter.line(/ images\.staged /);

    say("A machine's firmware gets an address by DHCP, and loads iPXE by TFTP");
    const rom = await machine.lease("bios");
    check(`the machine has the lowest free address, ${rom.address}`, rom.address === FIRST_ADDRESS);
    const program = await machine.tftp(rom.file, rom.address);
    check(`${rom.file} arrived complete by TFTP`, Buffer.compare(program, PROGRAM) === 0);

    say("iPXE repeats the DHCP exchange, and gets its own script by HTTP");
    const first = await scriptOf(machine, "enrol");
    check("no other machine gets the script", (await fetchFrom(STRANGER, first.url)).status === 404);
    for (const line of first.text.trim().split("\n")) console.log(`  ${line.replace(/rabbitmq=\S+/, "rabbitmq=...")}`);
    const named = [...first.text.matchAll(/http:\S+/g)].map(([each]) => each);
    const got = await Promise.all(named.map((each) => fetchFrom(first.address, each)));
    check("all files in the script exist", named.length > 0 && got.every(({ status }) => status === 200));

    say("The platform's agent publishes the machine's inventory over AMQP; the operator approves its setup");
    const [, user = "", password = ""] = /rabbitmq=([^:]+):([^:]+):/.exec(first.text) ?? [];
    const identity = { server_uuid: SYSINFO.UUID, mac: MAC };
    const agent = await netbootAgent({
      login: { user, password },
      port: booter.ports.bus,
      from: first.address,
      ...identity,
    });
    try {
      check("the agent is asked for the inventory", (await agent.next()).key.startsWith("ur.broadcast.sysinfo."));
      const publish = () => agent.publish(`ur.sysinfo.${SYSINFO.UUID}.1`, SYSINFO);
      publish();
      await booter.line(/ announce\.accepted .*state=awaiting_setup/);
      check("the plan names the machine's disks", /c0t1d0/.test(await opsctl("cn", "setup", "plan", SYSINFO.Hostname)));
      const approved = opsctl("cn", "setup", "approve", SYSINFO.Hostname, "--layout", "mirror", "--yes", "--wait");
      // Publishes the inventory repeatedly, as an agent does every minute until its machine is set up. Each time, the
      // booter reads the node's state and can notice a change.
      const repeated = setInterval(publish, 200);
      const { key: request, content } = await agent.next().finally(() => clearInterval(repeated));
      check("the setup script arrived", request.startsWith(`ur.execute.${SYSINFO.UUID}.setup-`));
      const { SETUP_TOKEN: token = "" } = content["env"] as Record<string, string>;
      const headers = { "x-setup-token": token };
      const values = Buffer.from((await fetchFrom(first.address, url("/setup/values"), headers)).bytes).toString();
      check("the setup values name this machine", /^hostname\tnetbooted$/m.test(values));
      for (const report of REPORTS) {
        const { status } = await postFrom(first.address, url("/setup/report"), { headers, body: report });
        check(`the report is accepted: ${report.split("\t").slice(0, 2).join(" ")}`, status === 200);
      }
      check("the setup succeeded", /is set up \(state=approved\)/.test(await approved));
    } finally {
      agent.close();
    }

    say("The machine reboots into its assigned image");
    const second = await scriptOf(machine, "local");
    check("the previous script is void", (await fetchFrom(first.address, first.url)).status === 404);
    check("the new script names the assigned image", second.text.includes(`/os/${STAMP}/platform/`));
    check("the boot record of the machine is enrolled", /enrolled/.test(await opsctl("cn", "boot", "list")));

    say("Without auto-enrolment, another machine is recorded but gets no answer");
    await applyPolicy(opsctl, folder, { auto_enroll: false });
    quiet.discover("bios");
    await booter.line(new RegExp(` dhcp\\.silent mac=${OTHER_MAC} reason=discovered`));
    check(
      "the operator sees the other machine",
      new RegExp(`${OTHER_MAC}.*discovered`).test(await opsctl("cn", "boot", "list")),
    );
    check("the other machine got no packet", quiet.replies() === 0);
  } finally {
    machine.close();
    quiet.close();
    await booter.stop();
  }

  /** Boots iPXE until it gets a script of this kind. Returns the script and the machine's address. */
  async function scriptOf(of: NetbootMachine, kind: "enrol" | "local") {
    // Repeats the boot, because the booter reads the boot records only every few seconds, and this machine restarts
    // faster than a real one.
    for (let tries = 0; tries < STARTS_MAX; tries += 1) {
      const { address, file } = await of.lease("ipxe");
      const { status, bytes } = await fetchFrom(address, file);
      const served = booter.lines().findLast((line) => line.includes(` script.served mac=${of.mac} `)) ?? "";
      if (!served.includes(` kind=${kind} `)) {
        await new Promise((resolve) => setTimeout(resolve, START_MS));
        continue;
      }
      check(`the machine gets its script, of the kind ${kind}`, status === 200);
      return { address, url: file, text: Buffer.from(bytes).toString() };
    }
    throw new Error(`${of.mac} gets no script of the kind ${kind}`);
  }
}

async function applyPolicy(opsctl: Run, folder: string, { auto_enroll }: { auto_enroll: boolean }): Promise<void> {
  const policy = join(folder, "netboot-policy.json");
  await writeFile(
    policy,
    JSON.stringify({
      auto_enroll,
      allowlist: [],
      enrollment_pi: STAMP,
      enrollment_kernel_args: [],
      admin_network: ADMIN_NETWORK,
    }),
  );
  await opsctl("cn", "boot", "policy", "apply", "-f", policy);
}

const START_MS = 500;
const STARTS_MAX = 60;
const [MAC, OTHER_MAC] = ["02:99:00:00:01:01", "02:99:00:00:01:02"];
const [RELAY, FIRST_ADDRESS, STRANGER] = ["127.77.0.3", "127.77.0.10", "127.77.0.4"];
const STAMP = "20261101T000000Z";
const PROGRAM = Uint8Array.from({ length: 70_000 }, (_, at) => (at * 31 + (at >> 8)) & 255);

const ADMIN_NETWORK = {
  ipv4_block: "127.77.0.0/24",
  provision_start_ipv4: FIRST_ADDRESS,
  provision_end_ipv4: "127.77.0.99",
  gateway: "127.77.0.1",
  resolvers: ["127.77.0.1"],
} as const;

const SYSINFO = bareSysinfo({
  server_uuid: "7c1f2a60-4f6e-4a52-9d0b-3a6d0a5b1c02",
  hostname: "netbooted",
  mac: MAC,
  serial_number: "LAB0002",
});

/** Reports that the setup script sends: kind, step, percent, message. */
const REPORTS = ["progress\tcreate_pool\t40\n", "progress\tagent\t90\n", "complete\tcomplete\t100\n"] as const;
