// Simulates DNS rebinding. The test starts the program in new namespaces, where /etc/resolv.conf names 127.0.0.1 and lo
// has a public address. The resolver answers the name rebinding.example with the public address first and with
// 127.0.0.1 afterwards; other names have no address. Starts the program in the arguments, and counts the connections to
// each of the two addresses. Prints the result as JSON.
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import process from "node:process";

const PUBLIC = "93.184.216.34";
const DNS_PORT = 53;
const WEB_PORT = 443;
const A_RECORD = 1;

const counts = { questions: 0, public_connections: 0, loopback_connections: 0 };

/** Returns the reply: header, question, and an A record if the A record of rebinding.example was requested. */
function answerTo(question: Uint8Array): Uint8Array {
  const bytes = Buffer.from(question);
  const end = bytes.indexOf(0, 12) + 5;
  const isName = bytes.subarray(12, end - 5).toString("latin1").toLowerCase().endsWith("rebinding\x07example");
  const isA = isName && bytes.readUInt16BE(end - 4) === A_RECORD;
  const address = isA && counts.questions++ === 0 ? PUBLIC : "127.0.0.1";
  const header = Buffer.from([bytes[0]!, bytes[1]!, 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]);
  return Buffer.concat([header, bytes.subarray(12, end), ...(isA ? [record] : [])]);
}

const resolver = createSocket("udp4");
resolver.on("message", (question, { port, address }) => resolver.send(answerTo(question), port, address));
resolver.bind(DNS_PORT, "127.0.0.1");
await once(resolver, "listening");
for (const [host, name] of [[PUBLIC, "public_connections"], ["127.0.0.1", "loopback_connections"]] as const) {
  const server = createServer((socket) => {
    counts[name] += 1;
    socket.on("error", () => {});
    socket.destroy();
  });
  server.listen(WEB_PORT, host);
  await once(server, "listening");
}

const [program, ...argv] = process.argv.slice(2);
const child = spawn(program!, argv, { stdio: ["ignore", "pipe", "pipe"] });
let said = "";
for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => said += text);
await once(child, "close");
console.log(JSON.stringify({ ...counts, said }));
process.exit(0);
