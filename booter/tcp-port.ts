// Opens TCP ports. The booter does not start when one of its ports is in use.
import type { AddressInfo, Server } from "node:net";

/** Starts to listen and returns the port. Throws if the port cannot be opened. */
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
