// Tests the peers in the configuration, which are the other booters of the site: which peers a machine gets, and what
// `booter check` reports about peers.
import { expect, test } from "vitest";
import { peersFor } from "../../booter/boot-file.ts";
import { peerFindings } from "../../booter/check-peers.ts";
import { ConfigFault, readBooterConfig } from "../../booter/config.ts";

const BASE = `state_dir = "/s"\nfiles_dir = "/f"\n[control_plane]\nurl = "https://berth.example"\nkey_file = "/k"\n` +
  `[[segment]]\naddress = "10.20.0.1"\nprefix_len = 24\n`;
const FILE = `${BASE}[ur]\npeers = ["http://10.20.0.2", "http://10.20.0.3:8080"]\n`;
const config = readBooterConfig(FILE, "booter.toml");

const checked = (answer: (url: string) => Promise<Response>) =>
  peerFindings(config, ((url: string) => answer(url)) as typeof fetch);

test("`booter check` asks each peer for the time", async () => {
  const asked: string[] = [];
  const findings = await checked((url) => {
    asked.push(url);
    return Promise.resolve(new Response("2026-11-21T12:45:14.123Z\n"));
  });
  expect(asked).toEqual(["http://10.20.0.2/time", "http://10.20.0.3:8080/time"]);
  expect(findings).toEqual([
    { level: "ok", text: "ur.peers: http://10.20.0.2 answers" },
    { level: "ok", text: "ur.peers: http://10.20.0.3:8080 answers" },
  ]);
});

test("a peer that does not answer, or is not a booter, causes a warning", async () => {
  const findings = await checked((url) =>
    url.includes(":8080")
      ? Promise.resolve(new Response("<html>", { status: 404 }))
      : Promise.reject(new Error("refused"))
  );
  expect(findings).toEqual([
    {
      level: "warn",
      text: "ur.peers: http://10.20.0.2 does not answer (refused); no setup can be handed over to it",
    },
    {
      level: "warn",
      text: "ur.peers: http://10.20.0.3:8080 answers with 404, but not as a booter does; check its address and port",
    },
  ]);
});

test("without peers there are no findings", async () => {
  expect(await peerFindings({ ur: undefined })).toEqual([]);
});

test.each([
  ["an https peer", '"https://10.20.0.2"', "0: must be http://ADDRESS or http://ADDRESS:PORT, with an IPv4 address"],
  ["a host name", '"http://booter2"', "0: must be http"],
  ["a path", '"http://10.20.0.2/setup"', "0: must be http"],
  ["port 0", '"http://10.20.0.2:0"', "0: must be http"],
  ["a duplicate", '"http://10.20.0.2", "http://10.20.0.2:80/"', "http://10.20.0.2 is listed twice"],
  ["the booter itself", '"http://10.20.0.1"', "http://10.20.0.1 is this booter; list only the other booters"],
  ["9 peers", Array.from({ length: 9 }, (_, n) => `"http://10.20.1.${n}"`).join(","), ""],
])("a list of peers with %s is refused", (_name, peers, reason) => {
  const file = FILE.replace(/peers = .*/, `peers = [${peers}]`);
  expect(() => readBooterConfig(file, "booter.toml")).toThrow(ConfigFault);
  const text = `booter.toml: ur.peers${reason.startsWith("0") ? "." : ": "}${reason}`;
  expect(() => readBooterConfig(file, "booter.toml")).toThrow(text);
});

test("a machine gets the peers of its own network, and the peers outside of the booter's networks", () => {
  const segments = '[[segment]]\naddress = "10.30.0.1"\nprefix_len = 24\n';
  const peers = '[ur]\npeers = ["http://10.20.0.2", "http://10.30.0.2:8080/", "http://10.99.0.2:80"]\n';
  const config = readBooterConfig(`${BASE}${segments}${peers}`, "booter.toml");
  expect(peersFor(config, "10.20.0.77")).toEqual(["http://10.20.0.2", "http://10.99.0.2"]);
  expect(peersFor(config, "10.30.0.77")).toEqual(["http://10.30.0.2:8080", "http://10.99.0.2"]);
  expect(peersFor({ ...config, ur: undefined }, "10.30.0.77")).toEqual([]);
});
