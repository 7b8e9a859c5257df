// Taking a TCP port: the booter's servers either have theirs or do not start.
import type { AddressInfo, Server } from "node:net";

/** The port that the server has, once it listens. Throws when it cannot be had. */
export async function listenOn(
  server: Server,
  at: { readonly port: number; readonly address: string },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(at.port, at.address, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}
