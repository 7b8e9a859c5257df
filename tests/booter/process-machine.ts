// Starts a bare machine that a booter process boots. The machine's agent announces the machine over AMQP and receives
// the setup script.
import { ack, type AmqpClient, login, openClient } from "../../cli/internal/amqp/client.ts";
import { sysinfoOf } from "../setup/machine.ts";
import { actAsAgent } from "./amqp-agent.ts";
import type { BooterProcess } from "./booter-process.ts";
import { discover, dotted, httpAsk, loginIn, openRelay, scriptPath } from "./site.ts";

export type Bare = { readonly mac: string; readonly server_uuid: string };

/** The environment of the setup script, as the booter sends it. */
export type ScriptEnv = { readonly SETUP_TOKEN: string; readonly BOOTER_URL: string; readonly BOOTER_PEERS: string };

export type StartedMachine = Awaited<ReturnType<typeof startMachine>>;

/** Starts the machine from a booter. The machine's agent reports the start and the inventory. */
export async function startMachine({ mac, server_uuid }: Bare, booter: BooterProcess) {
  const relay = await openRelay({ booter });
  const reply = await relay.ask(discover(mac));
  relay.close();
  const address = dotted(reply.yiaddr);
  const { text } = await httpAsk(booter.ports.http, scriptPath(reply), { from: address });
  const credentials = loginIn(text);
  const sysinfo = JSON.stringify({ ...sysinfoOf([mac]), UUID: server_uuid, Hostname: "bare-7" });
  const connect = async (port: number): Promise<AmqpClient> => {
    const client = await openClient(port, address);
    await login(client, credentials);
    await actAsAgent(client, { server_uuid, mac });
    return client;
  };
  const client = await connect(booter.ports.bus);
  client.publish(1, `ur.startup.${server_uuid}`, sysinfo);
  return {
    client,
    address,
    /**
     * Connects the agent again, without a report of a start. Tries again until the booter knows the machine's address.
     * Sends the inventory.
     */
    async connectAgain({ ports }: BooterProcess): Promise<AmqpClient> {
      for (;;) {
        const again = await connect(ports.bus).catch(() => null);
        if (again === null) {
          await new Promise((resolve) => setTimeout(resolve, 200));
          continue;
        }
        again.publish(1, `ur.sysinfo.${server_uuid}.a1`, sysinfo);
        return again;
      }
    },
    /**
     * Answers requests for the inventory until the setup script arrives. Acknowledges the script unless `acknowledge`
     * is false. Returns the script's environment.
     */
    async script({ acknowledge = true } = {}): Promise<ScriptEnv> {
      for (;;) {
        const delivery = await client.delivery();
        const is_script = delivery.key.startsWith("ur.execute.");
        if (!is_script || acknowledge) ack(client, delivery);
        if (is_script) return JSON.parse(delivery.body).env;
        client.publish(1, `ur.sysinfo.${server_uuid}.a1`, sysinfo);
      }
    },
    report: (token: string, body: string) =>
      httpAsk(booter.ports.http, "/setup/report", {
        from: address,
        headers: { "x-setup-token": token },
        method: "POST",
        body,
      }),
  };
}
