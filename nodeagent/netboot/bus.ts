// Connects a netbooted machine to the booter. The agent logs in to the booter's AMQP broker with the login that
// the booter sent, publishes the inventory, and receives commands.
import {
  ack,
  bind,
  consume,
  declare,
  login as logIn,
  openChannel,
  openClient,
} from "../../cli/internal/amqp/client.ts";

export type NetbootAgent = {
  publish(topic: string, content: unknown): void;
  /** Waits for the next message, with its routing key. */
  next(): Promise<{ readonly key: string; readonly content: Record<string, unknown> }>;
  close(): void;
};

export type NetbootAgentOptions = {
  readonly login: { readonly user: string; readonly password: string };
  readonly port: number;
  /** The broker's IP address; the default is this machine. */
  readonly host?: string;
  /**
   * The local IP address from which to connect. The booter accepts a machine's login only from the address in its boot
   * record.
   */
  readonly from?: string;
  readonly server_uuid: string;
  readonly mac: string;
};

const CHANNEL = 1;

export async function netbootAgent(
  { login, port, host, from, server_uuid, mac }: NetbootAgentOptions,
): Promise<NetbootAgent> {
  const client = await openClient(port, from, host);
  await logIn(client, { ...login, mechanism: "PLAIN" });
  await openChannel(client, CHANNEL);
  const queue = await declare(client, CHANNEL, `ur.request.${server_uuid}.${mac}`);
  for (const key of [`ur.execute.${server_uuid}.*`, "ur.broadcast.*.*"]) await bind(client, CHANNEL, queue, key);
  await consume(client, CHANNEL, queue);

  return {
    publish: (topic, content) => client.publish(CHANNEL, topic, JSON.stringify(content)),
    async next() {
      const delivery = await client.delivery();
      ack(client, delivery);
      return { key: delivery.key, content: JSON.parse(delivery.body) };
    },
    close: client.close,
  };
}
