// A node agent registers, an operator approves its claim code, the node sends heartbeats, and the audit chain contains
// the approval.
import { type Agent, HEARTBEAT_MS } from "../node-agent.ts";
import { check, type Run, say, UUID } from "../stage.ts";

export async function nodeJoin(opsctl: Run, agent: Agent): Promise<void> {
  await opsctl("whoami");

  const driver = await agent.driver;
  say(driver === "qemu" ? "Machines of this demo are real: QEMU runs them" : `Machines of this demo are ${driver}`);

  say("A node agent registers and prints its claim code");
  const code = await agent.claimCode;
  console.log(`  nodeagent: Claim code: ${code}`);
  const listed = await opsctl("cn", "list");
  check("one node is listed, pending", /demo-node\s.*\spending\s/.test(listed));
  const server_uuid = UUID.exec(listed)?.[0] ?? "";

  say("The operator approves the code; only the agent gets the key");
  const approved = await opsctl("cn", "approve", "--yes", code);
  check("the node is approved", approved.startsWith(`Approved CN ${server_uuid}; bound api key id `));
  await agent.enrolled;
  check("the agent has its key", true);

  say("The node's heartbeats arrive");
  await new Promise((wake) => setTimeout(wake, 5 * HEARTBEAT_MS));
  const shown = await opsctl("cn", "show", server_uuid);
  check("state approved", /^state:?\s+approved$/m.test(shown));
  check("last_seen is set", /^last_seen:?\s+\d{4}-/m.test(shown));
  check("the claim code is gone", !/claim_code/.test(shown));

  say("The operator sets role and memory reservoir");
  check(
    "the node has the role both",
    (await opsctl("cn", "label", "set", server_uuid, "--role", "both")).includes(`${server_uuid} role to both`),
  );
  check(
    "the reservoir is set",
    /effective/.test(await opsctl("cn", "reservoir", "set", server_uuid, "--percent", "0.5")),
  );

  say("The operation and the audit chain show what happened");
  check("the operation is listed", /node-join\s+succeeded/.test(await opsctl("operation", "list")));
  check("the approval is in the audit log", /cn_approve/.test(await opsctl("audit", "list")));
  check("the audit chain is intact", /verified to seq \d+/.test(await opsctl("audit", "verify")));
}
