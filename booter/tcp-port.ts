// Opens TCP ports. The booter does not start when one of its ports is in use.
import type { AddressInfo, Server } from "node:net";

/** Resolves with the port when the server listens. Throws when the port cannot be opened. */
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
