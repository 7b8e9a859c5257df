// Creates the external network of the nodes, and its router. The tests use the router's web server as a host on the
// internet.
import { type NodeNamespace, openNodeNamespace } from "./node-namespace.ts";

export const ROUTER = { ipv4: "203.0.113.1", ipv6: "2001:db8::1" } as const;
/** The bridge of the NIC tag `external` on each node. */
export const BRIDGE = "br-ext";

export type ExternalNetwork = { readonly router: NodeNamespace; close(): Promise<void> };

export async function openExternalNetwork(nodes: readonly NodeNamespace[]): Promise<ExternalNetwork> {
  const router = await openNodeNamespace({ own_network: true });
  await router.run("ip", "link", "add", BRIDGE, "type", "bridge");
  await router.run("ip", "addr", "add", `${ROUTER.ipv4}/24`, "dev", BRIDGE);
  await router.run("ip", "addr", "add", `${ROUTER.ipv6}/48`, "dev", BRIDGE, "nodad");
  await router.run("ip", "link", "set", BRIDGE, "up");
  for (const [index, node] of nodes.entries()) {
    const port = `node${index}`;
    await router.run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth1", "netns", String(node.pid));
    await router.run("ip", "link", "set", port, "master", BRIDGE, "up");
    await node.run("ip", "link", "add", BRIDGE, "type", "bridge");
    await node.run("ip", "link", "set", BRIDGE, "up");
    await node.run("ip", "link", "set", "eth1", "master", BRIDGE, "up");
  }
  const internet = await router.serve("python3", "-u", "-c", INTERNET);
  return {
    router,
    close: async () => {
      internet.kill("SIGKILL");
      await router.close();
    },
  };
}

/** A Python program: a web server that answers with the address of the caller. */
const INTERNET = `
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer
class Server(HTTPServer):
    address_family = socket.AF_INET6
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write((self.client_address[0].removeprefix("::ffff:") + "\\n").encode())
    def log_message(self, *words):
        pass
server = Server(("::", 80), Handler)
print("ready")
server.serve_forever()
`;
