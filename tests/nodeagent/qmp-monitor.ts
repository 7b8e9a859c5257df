// Opens a fake QEMU monitor: a Unix socket that greets its first client and answers commands as the test decides.
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Command = { readonly execute: string; readonly arguments?: unknown; readonly id: number };

export type FakeMonitor = {
  readonly path: string;
  /** Commands in the order of their arrival. */
  readonly commands: Command[];
  /** Sends text to the connected client. */
  send(message: object | string): void;
  /** Ends the connection, as QEMU does when it ends. */
  hangUp(): void;
  remove(): Promise<void>;
};

/** Starts a monitor. `answer` returns the message for a command; null leaves the command without an answer. */
export async function fakeMonitor(
  answer: (command: Command) => object | null = () => ({ return: {} }),
  { greets = true }: { greets?: boolean } = {},
): Promise<FakeMonitor> {
  const folder = await mkdtemp(join(tmpdir(), "berth-qmp-"));
  const path = join(folder, "qmp.sock");
  const commands: Command[] = [];
  let client: Socket | undefined;
  const write = (message: object | string) =>
    void client!.write(typeof message === "string" ? message : `${JSON.stringify(message)}\r\n`);
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    // As QEMU does: a second client waits, without a greeting, until the first client leaves.
    if (client === undefined) serve(socket);
    else client.once("close", () => serve(socket));
  });
  function serve(socket: Socket): void {
    client = socket;
    socket.once("close", () => client = undefined);
    if (greets) write({ QMP: { version: {}, capabilities: [] } });
    let text = "";
    socket.on("data", (chunk) => {
      const lines = (text + chunk.toString()).split("\n");
      text = lines.pop()!;
      for (const line of lines) {
        const command = JSON.parse(line) as Command;
        commands.push(command);
        const message = answer(command);
        if (message !== null) write({ ...message, id: command.id });
      }
    });
  }
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    commands,
    send: write,
    hangUp: () => void client?.destroy(),
    remove: async () => {
      client?.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
