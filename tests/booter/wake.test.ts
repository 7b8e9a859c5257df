// Tests wake-on-LAN: the packet, its destination, and the output of the command.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { runBooter } from "../../booter/program.ts";
import { broadcastOf } from "../../booter/ipv4.ts";
import { wake, wakePacket } from "../../booter/wake.ts";
import { fakeEnvironment } from "../cli/fake-environment.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MAC = "02:00:5e:00:53:01";
/** The loopback network has a broadcast address, so the tests need no other network. */
const LOOPBACK = { address: "127.0.0.1", prefix_len: 8 };

test("the packet is 6 bytes of 255 and 16 times the MAC address", () => {
  const packet = wakePacket(MAC);
  expect(packet).toHaveLength(102);
  expect([...packet.slice(0, 6)]).toEqual([255, 255, 255, 255, 255, 255]);
  for (let at = 6; at < packet.length; at += 6) expect([...packet.slice(at, at + 6)]).toEqual([2, 0, 0x5e, 0, 0x53, 1]);
});

test.each([
  ["10.77.0.1", 24, "10.77.0.255"],
  ["10.77.3.9", 22, "10.77.3.255"],
  ["192.168.1.1", 30, "192.168.1.3"],
  ["127.0.0.1", 8, "127.255.255.255"],
])("the packet from the network %s/%i goes to %s", (address, prefix_len, to) => {
  expect(broadcastOf({ address, prefix_len })).toBe(to);
});

test("a machine on the network gets the packet", async () => {
  const machine = createSocket("udp4");
  await new Promise<void>((resolve) => machine.bind({ port: 0 }, resolve));
  const arrived = once(machine, "message");
  await wake([MAC], [LOOPBACK], (machine.address() as AddressInfo).port);
  const [bytes] = await arrived;
  expect(new Uint8Array(bytes)).toEqual(wakePacket(MAC));
  machine.close();
});

test("the error about an address that this machine does not have names the address", async () => {
  await expect(wake([MAC], [{ address: "192.0.2.1", prefix_len: 24 }])).rejects.toThrow(
    /^cannot send from 192\.0\.2\.1 to 192\.0\.2\.255: /,
  );
});

test("the command sends a packet to each network of the configuration; it sends none if a MAC address is malformed", async () => {
  const folder = await temporaryFolder("wake");
  const config = join(folder.path, "booter.toml");
  const segment = `[[segment]]\naddress = "${LOOPBACK.address}"\nprefix_len = ${LOOPBACK.prefix_len}\n`;
  const plane = '[control_plane]\nurl = "https://berth.example"\nkey_file = "/etc/berth/booter.key"\n';
  await writeFile(config, `state_dir = "/var/lib/booter"\nfiles_dir = "/srv/boot"\n${plane}${segment}`);
  const run = async (...macs: readonly string[]) => {
    const { environment, out, err } = fakeEnvironment();
    return { code: await runBooter(["wake", ...macs, "--config", config], environment), out: out(), err: err() };
  };
  expect(await run(MAC, "02-00-5E-00-53-02")).toEqual({
    code: 0,
    out: "Sent to 127.255.255.255. No machine answers such a packet; watch: opsctl cn boot list\n",
    err: "",
  });
  const wrong = await run(MAC, "02:00");
  expect([wrong.code, wrong.err]).toEqual([2, "error: 02:00: a MAC address has 12 hex digits\n"]);
  await folder.remove();
});
