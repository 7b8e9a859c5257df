// A node agent registers, an operator approves it by its claim code, its heartbeat is seen, and the audit chain tells of it.
import { type Agent, HEARTBEAT_MS } from "../node-agent.ts";
import { check, type Run, say, UUID } from "../stage.ts";

export async function nodeJoin(opsctl: Run, agent: Agent): Promise<void> {
  await opsctl("whoami");

  say("A node agent registers and prints its claim code");
  const code = await agent.claimCode;
  console.log(`  nodeagent: Claim code: ${code}`);
  const listed = await opsctl("cn", "list");
  check("one node is listed, pending", /demo-node\s+pending\s+tenant/.test(listed));
  const server_uuid = UUID.exec(listed)?.[0] ?? "";

  say("The operator approves it by that code; the key goes to the agent alone");
  const approved = await opsctl("cn", "approve", "--yes", code);
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
