// Acts as the platform's agent on the AMQP broker.
import { u16, u32, u8 } from "../../cli/internal/amqp/wire.ts";
import { type AmqpClient, bind, consume, declare, openChannel } from "../../cli/internal/amqp/client.ts";

export type AgentIdentity = { readonly server_uuid: string; readonly mac: string };

/**
 * Sends the commands that the platform's agent sends after its login, in the same order. The commands open three
 * channels and declare the request queue and the ping queue.
 */
export async function actAsAgent(client: AmqpClient, { server_uuid, mac }: AgentIdentity): Promise<void> {
  for (const channel of [1, 2, 3]) await openChannel(client, channel);
  const request = `ur.request.${server_uuid}.${mac}`;
  await declare(client, 2, request);
  const keys = [
    `ur.execute.${server_uuid}-${mac.replaceAll(":", "-")}.*`,
    `ur.execute.${server_uuid}.*`,
    "ur.broadcast.*.*",
  ];
  // Binds each key twice, because the agent does so after a broken connection.
  for (const key of [...keys, ...keys]) await bind(client, 2, request, key);
  client.send(2, 60, 10, u32(0), u16(1), u8(0));
  await client.expect("60.11");
  await consume(client, 2, request);
  await declare(client, 3, `ur.ping.${server_uuid}`);
  await bind(client, 3, `ur.ping.${server_uuid}`, `ur.ping.${server_uuid}`);
  await consume(client, 3, `ur.ping.${server_uuid}`);
}
